"""Keeps definitions that the service returns as they were given, and does not act on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from gluepot.service.store.tables import definitions


class Kind(StrEnum):
    """What a definition is of."""

    CLASSIFIER = "classifier"
    SECURITY = "security configuration"
    POLICY = "resource policy"
    ENCRYPTION = "encryption settings"
    STATISTICS = "column statistics"
    REGISTRY = "registry"
    SCHEMA = "schema"
    LOG_GROUP = "log group"


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition.

    Args:
        kind: what it is of.
        name: unique among its kind.
        body: what describes it.
        created_ms: milliseconds since 1970.
        modified_ms: milliseconds since 1970.
    """

    kind: Kind
    name: str
    body: Mapping[str, Any]
    created_ms: int
    modified_ms: int

    def changed(self, body: Mapping[str, Any], now_ms: int) -> Definition:
        """Return the definition with another body."""
        return replace(self, body=body, modified_ms=now_ms)


class DefinitionRows:
    """Definitions, in one transaction.

    Args:
        connection: of the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, kind: Kind, name: str) -> Definition | None:
        """Return a definition; None if there is none of this kind and name."""
        # The lock keeps what others change meanwhile from being lost on PostgreSQL; SQLite has one writer anyway.
        query = select(definitions).where(definitions.c.kind == kind.value, definitions.c.name == name)
        row = self._connection.execute(query.with_for_update()).mappings().first()
        return None if row is None else _definition(row)

    def all(self, kind: Kind, prefix: str = "") -> list[Definition]:
        """Return the definitions of a kind whose names begin with a prefix, in the order of their names."""
        query = select(definitions).where(definitions.c.kind == kind.value)
        if prefix:
            query = query.where(definitions.c.name.startswith(prefix, autoescape=True))
        # Databases order texts in different ways, and SQLite's LIKE ignores case.
        found = [_definition(row) for row in self._connection.execute(query).mappings()]
        return sorted((one for one in found if one.name.startswith(prefix)), key=lambda one: one.name)

    def add(self, one: Definition) -> bool:
        """Add a definition. If there is one of its kind and name, change nothing and return False."""
        try:
            with self._connection.begin_nested():
                self._connection.execute(insert(definitions).values(kind=one.kind.value, name=one.name, **_row(one)))
        except IntegrityError:
            return False
        return True

    def save(self, one: Definition) -> None:
        """Replace a definition that exists."""
        query = update(definitions).where(definitions.c.kind == one.kind.value, definitions.c.name == one.name)
        self._connection.execute(query.values(_row(one)))

    def put(self, one: Definition) -> None:
        """Save a definition, in the place of one of its kind and name."""
        if not self.add(one):
            self.save(one)

    def delete(self, kind: Kind, name: str) -> bool:
        """Delete a definition; return whether it existed."""
        query = delete(definitions).where(definitions.c.kind == kind.value, definitions.c.name == name)
        return self._connection.execute(query).rowcount > 0


def _definition(row: RowMapping) -> Definition:
    body = json.loads(row["definition"])
    return Definition(Kind(row["kind"]), row["name"], body, row["created_ms"], row["modified_ms"])


def _row(one: Definition) -> dict[str, Any]:
    return {"definition": json.dumps(one.body), "created_ms": one.created_ms, "modified_ms": one.modified_ms}
