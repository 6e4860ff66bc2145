"""Our own tables in Redshift: which writes were published, and the records that were rejected.

`gluepot_commits` is also the table that a publication locks, so publications in one schema run one after the other.
Redshift does not enforce keys; the lock does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.connectors.jdbc.publishing import COMMITS, KEPT_BATCHES, REJECTS, Published, TableName
from gluepot.connectors.jdbc.redshift.names import quoted
from gluepot.connectors.jdbc.redshift.session import Session
from gluepot.connectors.jdbc.redshift.staging import REJECT_KINDS
from gluepot.connectors.jdbc.redshift.statements import Stage
from gluepot.connectors.values import CommitKey, StagedFile
from gluepot.core.errors import ConfigError

_COMMITS_COLUMNS = """
query_id varchar(2048) NOT NULL, batch_id bigint NOT NULL, ctx varchar(2048) NOT NULL, target varchar(1024) NOT NULL,
part integer NOT NULL, record varchar(65535) NOT NULL, receipt varchar(1024) NOT NULL, at timestamp DEFAULT GETDATE()"""
_REJECTS_COLUMNS = f"""
query_id varchar(2048) NOT NULL, batch_id bigint NOT NULL, ctx varchar(2048) NOT NULL, target varchar(1024) NOT NULL,
{", ".join(f"{quoted(name)} {kind}" for name, kind in REJECT_KINDS.items())}"""
_OF_WRITE = "query_id = %s AND batch_id = %s AND ctx = %s AND target = %s"
_PART_BYTES = 60_000


def create_tables(begun: Session, schema: str) -> None:
    """Create our tables where they are missing.

    Raises:
        ConfigError: the schema does not exist, or the user may not create tables in it.
    """
    for table, columns in ((COMMITS, _COMMITS_COLUMNS), (REJECTS, _REJECTS_COLUMNS)):
        if not _exists(begun, schema, table):
            try:
                begun.run(f"CREATE TABLE IF NOT EXISTS {schema}.{table} ({columns})")
            except ConfigError:
                if not _exists(begun, schema, table):  # another driver may have created it at the same moment
                    raise


def _exists(begun: Session, schema: str, table: str) -> bool:
    asked = (
        "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE quote_ident(n.nspname) = %s AND c.relname = %s"
    )
    return bool(begun.rows(asked, [schema, table]))


def in_parts(record: str) -> list[str]:
    """Return a text in parts that fit a column, in order."""
    parts, current, length = [], "", 0
    for character in record:
        size = len(character.encode())
        if length + size > _PART_BYTES:
            parts.append(current)
            current, length = "", 0
        current += character
        length += size
    return [*parts, current]


@dataclass(frozen=True, slots=True)
class Records:
    """The record of one write, within a transaction that has locked the table of records.

    Args:
        session: the transaction.
        key: commit key of the write.
        name: the table that is written.
    """

    session: Session
    key: CommitKey
    name: TableName

    @property
    def _commits(self) -> str:
        return f"{self.name.schema}.{COMMITS}"

    @property
    def _identity(self) -> list[object]:
        return [self.key.query_id, self.key.batch_id, self.key.ctx, self.name.qualified]

    def published(self) -> Published | None:
        """Return what was recorded under the key."""
        rows = self.session.rows(f"SELECT record FROM {self._commits} WHERE {_OF_WRITE} ORDER BY part", self._identity)
        return Published("".join(str(part) for (part,) in rows)) if rows else None

    def receipt(self) -> str:
        """Return the receipt that was recorded under the key; empty if there is none."""
        rows = self.session.rows(f"SELECT receipt FROM {self._commits} WHERE {_OF_WRITE} AND part = 0", self._identity)
        return str(rows[0][0]) if rows else ""

    def record(self, record: str, receipt: str) -> None:
        """Record a write in place of an earlier record under the key.

        The receipts of the write's earlier batches are given up: these are not replaced any more.
        """
        self.session.run(f"DELETE FROM {self._commits} WHERE {_OF_WRITE}", self._identity)
        for number, part in enumerate(in_parts(record)):
            self.session.run(
                f"INSERT INTO {self._commits} (query_id, batch_id, ctx, target, part, record, receipt)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s)",
                [*self._identity, number, part, receipt],
            )
        others = [self.key.query_id, self.key.ctx, self.name.qualified]
        of_others = "query_id = %s AND ctx = %s AND target = %s"
        self.session.run(
            f"UPDATE {self._commits} SET receipt = '' WHERE {of_others} AND batch_id <> %s AND receipt <> ''",
            [*others, self.key.batch_id],
        )
        self.session.run(
            f"DELETE FROM {self._commits} WHERE {of_others} AND batch_id < %s",
            [*others, self.key.batch_id - KEPT_BATCHES],
        )

    def forget_rejects(self) -> None:
        """Remove the rejects under the key."""
        self.session.run(f"DELETE FROM {self.name.schema}.{REJECTS} WHERE {_OF_WRITE}", self._identity)

    def keep_rejects(self, stage: Stage) -> None:
        """Append the rejects of a temporary table."""
        names = ", ".join(map(quoted, REJECT_KINDS))  # RAW is a word of Redshift
        self.session.run(
            f"INSERT INTO {self.name.schema}.{REJECTS} (query_id, batch_id, ctx, target, {names})"
            f" SELECT %s::varchar(2048), %s::bigint, %s::varchar(2048), %s::varchar(1024), {names} FROM {stage.table}",
            self._identity,
        )


def receipts(begun: Session, key: CommitKey, name: TableName) -> set[str]:
    """Return the receipts of all batches of a write."""
    rows = begun.rows(
        f"SELECT DISTINCT receipt FROM {name.schema}.{COMMITS}"
        " WHERE query_id = %s AND ctx = %s AND target = %s AND receipt <> ''",
        [key.query_id, key.ctx, name.qualified],
    )
    return {str(receipt) for (receipt,) in rows}


def dump_receipt(staged: Iterable[StagedFile]) -> bytes:
    """Return the receipt of a published append: the files that hold its rows."""
    files = [
        {"staged": one.staged, "bytes": one.size_bytes, "rows": one.rows, "encoding": dict(one.encoding)}
        for one in staged
    ]
    return json.dumps({"files": files}).encode()


def load_receipt(content: bytes, table: str) -> list[StagedFile]:
    """Return the files that a receipt names."""
    files: list[Mapping[str, Any]] = json.loads(content)["files"]
    return [StagedFile(one["staged"], table, one["bytes"], one["rows"], 0, encoding=one["encoding"]) for one in files]
