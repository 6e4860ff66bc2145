"""Keeps the versions of schemas in the service's database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, insert, select, update

from gluepot.service.schemas.versions import SchemaVersion
from gluepot.service.store.tables import schema_versions


class SchemaVersionRows:
    """Versions of schemas, in one transaction.

    Args:
        connection: of the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, version_id: str) -> SchemaVersion | None:
        """Return a version; None if there is none of this id."""
        query = select(schema_versions).where(schema_versions.c.id == version_id).with_for_update()
        row = self._connection.execute(query).mappings().first()
        return None if row is None else _version(row)

    def of(self, schema: str) -> list[SchemaVersion]:
        """Return the versions of a schema, the oldest first."""
        query = select(schema_versions).where(schema_versions.c.schema == schema).order_by(schema_versions.c.number)
        return [_version(row) for row in self._connection.execute(query).mappings()]

    def of_digest(self, schema: str, digest: str) -> SchemaVersion | None:
        """Return the newest version of a schema with this definition; None if there is none."""
        query = (
            select(schema_versions)
            .where(schema_versions.c.schema == schema, schema_versions.c.digest == digest)
            .order_by(schema_versions.c.number.desc())
            .limit(1)
        )
        row = self._connection.execute(query).mappings().first()
        return None if row is None else _version(row)

    def add(self, version: SchemaVersion) -> None:
        """Add a version."""
        self._connection.execute(
            insert(schema_versions).values(
                id=version.id,
                schema=version.schema,
                number=version.number,
                status=version.status,
                definition=version.definition,
                digest=version.digest,
                details=json.dumps(version.metadata),
                created_ms=version.created_ms,
            )
        )

    def save_metadata(self, version_id: str, metadata: Sequence[Mapping[str, Any]]) -> None:
        """Replace the metadata of a version."""
        query = update(schema_versions).where(schema_versions.c.id == version_id)
        self._connection.execute(query.values(details=json.dumps(list(metadata))))

    def delete(self, version_id: str) -> None:
        """Delete a version."""
        self._connection.execute(delete(schema_versions).where(schema_versions.c.id == version_id))

    def delete_all(self, schema: str) -> None:
        """Delete the versions of a schema."""
        self._connection.execute(delete(schema_versions).where(schema_versions.c.schema == schema))


def _version(row: RowMapping) -> SchemaVersion:
    return SchemaVersion(
        row["id"],
        row["schema"],
        row["number"],
        row["status"],
        row["definition"],
        row["digest"],
        json.loads(row["details"]),
        row["created_ms"],
    )
