"""The driver's side of a write: moves staged rows into the table and records the commit, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from gluepot.connectors.jdbc.postgresql.columns import quoted
from gluepot.connectors.jdbc.postgresql.moving import Moved, naming_values, require_unchanged_keys
from gluepot.connectors.jdbc.postgresql.session import Session, session
from gluepot.connectors.jdbc.postgresql.staging import StagingSink
from gluepot.connectors.jdbc.postgresql.stored import JSON, TEXT
from gluepot.connectors.jdbc.postgresql.target import target_columns
from gluepot.connectors.jdbc.publishing import COMMITS, KEPT_BATCHES, REJECTS, Published, TableName
from gluepot.connectors.jdbc.staging import (
    ERROR_COLUMNS,
    UNTYPED_LIST,
    match_column,
    merged_types,
    staging_prefix,
    written_columns,
)
from gluepot.connectors.jdbc.target import JdbcWriteSettings, Mode
from gluepot.connectors.values import CommitKey, StagedFile
from gluepot.core.errors import ConfigError, PermanentError, TransientError
from gluepot.core.logging import get_logger

log = get_logger(__name__)

_TABLES_LOCK = 7_305_002  # any number, as long as every Gluepot asks for the same one
_COMMITS_COLUMNS = """
query_id text NOT NULL, batch_id int8 NOT NULL, ctx text NOT NULL, record text NOT NULL, xact int8 NOT NULL,
at timestamptz NOT NULL DEFAULT now(), target text NOT NULL DEFAULT '', PRIMARY KEY (query_id, batch_id, ctx, target)"""
_REJECTS_COLUMNS = """
query_id text NOT NULL, batch_id int8 NOT NULL, ctx text NOT NULL, target text NOT NULL, raw bytea, stream text,
shard text, position text, reason text, message text"""


@dataclass(frozen=True, slots=True)
class PostgresqlPublication:
    """A `Publication` in PostgreSQL.

    Args:
        session: session of the transaction.
        settings: settings from the script.
        key: commit key of the write.
        name: name of the table.
    """

    session: Session
    settings: JdbcWriteSettings
    key: CommitKey
    name: TableName

    def published(self) -> Published | None:
        """See `Publication`."""
        rows = self.session.rows_bound(
            f"SELECT record, xact FROM {self._own(COMMITS)}"
            " WHERE query_id = $1 AND batch_id = $2 AND ctx = $3 AND target = $4",
            self._identity,
        )
        return Published(str(rows[0][0]), cast("int", rows[0][1])) if rows else self._unnamed()

    @property
    def _identity(self) -> list[object]:
        return [self.key.query_id, self.key.batch_id, self.key.ctx, self.name.qualified]

    def _unnamed(self) -> Published | None:
        """Find a record by an older Gluepot, which does not name its table; if it belongs to this table, add the name.

        The transaction numbers in the table's rows tell whether a record belongs to this table.

        Raises:
            PermanentError: there is such a record, and no row of the table tells whether it belongs to it.
        """
        unsure = False
        for ctx, record, xact in self.session.rows_bound(
            f"SELECT ctx, record, xact FROM {self._own(COMMITS)}"
            " WHERE query_id = $1 AND batch_id = $2 AND target = '' ORDER BY ctx",
            [self.key.query_id, self.key.batch_id],
        ):
            is_ours = self.name.exists and self.session.rows_bound(
                f"SELECT 1 AS found FROM {self.name.qualified} WHERE xmin::text = $1 LIMIT 1",
                [str(cast("int", xact) & 0xFFFFFFFF)],
            )
            if is_ours:
                self.session.rows_bound(
                    f"UPDATE {self._own(COMMITS)} SET ctx = $3, target = $4"
                    " WHERE query_id = $1 AND batch_id = $2 AND ctx = $5 AND target = '' RETURNING batch_id",
                    [*self._identity, ctx],
                )
                return Published(str(record), cast("int", xact))
            unsure |= ctx == self.key.ctx and json.loads(str(record)).get("rows_out", 0) > 0
        if unsure and self.name.exists:
            raise PermanentError(
                f"{self._own(COMMITS)} has a record of an older Gluepot for query {self.key.query_id!r}, batch"
                f" {self.key.batch_id} and {self.key.ctx!r}, which does not say to which table it belongs, and no row"
                f" of {self.name.qualified} tells; set its column target to {self.name.qualified!r} if the batch is in"
                " this table"
            )
        return None

    def record(self, record: str) -> None:
        """See `Publication`."""
        self.session.rows_bound(
            f"INSERT INTO {self._own(COMMITS)} (query_id, batch_id, ctx, target, record, xact)"
            " VALUES ($1, $2, $3, $4, $5, txid_current()) ON CONFLICT (query_id, batch_id, ctx, target)"
            " DO UPDATE SET record = excluded.record, xact = excluded.xact, at = now() RETURNING batch_id",
            [*self._identity, record],
        )
        self.session.rows_bound(
            f"DELETE FROM {self._own(COMMITS)}"
            " WHERE query_id = $1 AND ctx = $2 AND target = $3 AND batch_id < $4 RETURNING batch_id",
            [self.key.query_id, self.key.ctx, self.name.qualified, self.key.batch_id - KEPT_BATCHES],
        )

    def renew(self, record: str, before: Published) -> None:
        """See `Publication`."""
        self.session.rows_bound(
            f"UPDATE {self._own(COMMITS)} SET record = $5, xact = $6"
            " WHERE query_id = $1 AND batch_id = $2 AND ctx = $3 AND target = $4 RETURNING batch_id",
            [*self._identity, record, before.xact],
        )

    def take_back(self, before: Published, rows: int) -> None:
        """See `Publication`.

        PostgreSQL stores in every row the number of the transaction that wrote it. So this finds exactly the rows that
        have not been changed since.
        """
        # The stored number has 32 bits, so it is unique only until 2^31 more transactions have run.
        gone = self.session.rows_bound(
            f"WITH gone AS (DELETE FROM {self.name.qualified} WHERE xmin::text = $1"
            " AND txid_current() - $2 < 2147483648 RETURNING 1) SELECT count(*) AS rows FROM gone",
            [str(before.xact & 0xFFFFFFFF), before.xact],
        )[0][0]
        if gone != rows:
            raise PermanentError(
                f"an earlier try of this write put {rows} rows into {self.name.qualified}, and of these only {gone} are"
                f" as it wrote them, so it cannot be replaced; remove the others by hand, and then its row in"
                f" {self._own(COMMITS)} (query_id {self.key.query_id!r}, batch_id {self.key.batch_id})"
            )

    def left_over(self, before: Published) -> int:
        """See `Publication`. Each row tells which transaction wrote it last."""
        ((rows,),) = self.session.rows_bound(
            f"SELECT count(*) AS rows FROM {self.name.qualified} WHERE xmin::text = $1"
            " AND txid_current() - $2 < 2147483648",
            [str(before.xact & 0xFFFFFFFF), before.xact],
        )
        return cast("int", rows)

    def forget_rejects(self) -> None:
        """See `Publication`."""
        self.session.rows_bound(
            f"DELETE FROM {self._own(REJECTS)}"
            " WHERE query_id = $1 AND batch_id = $2 AND ctx = $3 AND target = $4 RETURNING reason",
            self._identity,
        )

    def move(self, staged: Sequence[StagedFile], *, may_repeat: bool) -> Mapping[str, int]:  # noqa: ARG002  each row tells its write
        """See `Publication`."""
        data = [one for one in staged if not one.rejects]
        made = not self._exists()  # looked up again, because the script's own statements may have created it
        if made and data:
            self._create(merged_types(data, TEXT))
        if self.settings.mode is Mode.OVERWRITE and not made:
            self.session.run(f"TRUNCATE {self.name.qualified}")
        self._require_whole(staged)
        if data:
            self._insert(data)
        for one in staged:
            if one.rejects:
                self._keep_rejects(one)
        return {}

    def _exists(self) -> bool:
        found = self.session.rows_bound("SELECT 1 AS found WHERE to_regclass($1) IS NOT NULL", [self.name.qualified])
        return bool(found)

    def act(self, statements: str) -> None:
        """See `Publication`."""
        if statements.strip():
            self.session.script(statements)

    def drop(self, staged: Sequence[StagedFile]) -> None:
        """See `Publication`."""
        for one in staged:
            self.session.run(f"DROP TABLE {self.name.schema}.{one.staged}")

    def _own(self, table: str) -> str:
        return f"{self.name.schema}.{table}"

    def _require_whole(self, staged: Sequence[StagedFile]) -> None:
        """Check that the server has not crashed since, because that empties unlogged tables."""
        for one in staged:
            (rows_left,) = self.session.rows(f"SELECT count(*) FROM {self.name.schema}.{one.staged}")[0]
            if rows_left != one.rows:
                raise TransientError(
                    f"only {rows_left} of {one.rows} staged rows for {self.name.qualified} are left: the server was"
                    " restarted; try again"
                )

    def _create(self, types: Mapping[str, str]) -> None:
        columns = [f"{quoted(name)} {JSON if kind == UNTYPED_LIST else kind}" for name, kind in types.items()]
        if self.settings.mode is Mode.UPSERT and self.settings.keys:
            columns.append(f"PRIMARY KEY ({', '.join(map(quoted, self.settings.keys))})")
        self.session.run(f"CREATE TABLE {self.name.qualified} ({', '.join(columns)})")

    def _insert(self, staged: Sequence[StagedFile]) -> None:
        columns = target_columns(self.session, self.name.qualified)
        filled = [name for name, column in columns.items() if column.fills_itself]
        matched = written_columns(staged, TEXT, columns, self.name.qualified, filled)
        fields = {field: columns[name] for field, name in matched.items()}
        moved = Moved(self.name.qualified, self.name.schema, fields, staged)
        keys: list[str] = []
        if self.settings.mode is Mode.UPSERT:
            keys = [match_column(key, matched, "the frame") for key in self._upsert_keys()]
        with naming_values(self.session, moved):
            if keys:
                require_unchanged_keys(self.session, moved, keys)
            stored = self.session.changed(moved.upsert(keys) if keys else moved.insert())
        arrived = sum(one.rows for one in staged)
        if not keys and stored != arrived:
            hint = "a trigger or a rule of the table has left the others out, or has put them elsewhere"
            log.warning("rows_not_stored", table=self.name.qualified, arrived=arrived, stored=stored, hint=hint)

    def _upsert_keys(self) -> Sequence[str]:
        if self.settings.keys:
            return self.settings.keys
        rows = self.session.rows_bound(
            "SELECT a.attname::text AS name FROM pg_index i JOIN pg_attribute a"
            " ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)"
            " WHERE i.indrelid = to_regclass($1) AND i.indisprimary",
            [self.name.qualified],
        )
        if not rows:
            raise ConfigError(
                f"An upsert into {self.name.qualified} needs upsertKeys: the table has no primary key;"
                " name the columns of a unique index."
            )
        return [str(row[0]) for row in rows]

    def _keep_rejects(self, staged: StagedFile) -> None:
        names = ", ".join(ERROR_COLUMNS)
        self.session.rows_bound(
            f"INSERT INTO {self._own(REJECTS)} (query_id, batch_id, ctx, target, {names})"
            f" SELECT $1::text, $2::int8, $3::text, $4::text, {names.replace('raw', 'raw::bytea')}"
            f" FROM {self.name.schema}.{staged.staged} RETURNING reason",
            [self.key.query_id, self.key.batch_id, self.key.ctx, self.name.qualified],
        )


@dataclass(frozen=True, slots=True)
class PostgresqlTables:
    """A `TableDatabase` of PostgreSQL.

    Args:
        settings: the database, the table and the mode.
    """

    settings: JdbcWriteSettings

    def find(self) -> TableName:
        """See `TableDatabase`."""
        with session(self.settings.endpoint, reading=False) as begun:
            name = _found(begun, self.settings.table)
            schema = name.schema
            for table, columns in ((COMMITS, _COMMITS_COLUMNS), (REJECTS, _REJECTS_COLUMNS)):
                if not begun.rows_bound("SELECT 1 AS found WHERE to_regclass($1) IS NOT NULL", [f"{schema}.{table}"]):
                    begun.rows(f"SELECT pg_advisory_xact_lock({_TABLES_LOCK})::text")
                    begun.run(f"CREATE TABLE IF NOT EXISTS {schema}.{table} ({columns})")
            if not begun.rows_bound(
                "SELECT 1 AS found FROM pg_attribute"
                " WHERE attrelid = to_regclass($1) AND attname = 'target' AND NOT attisdropped",
                [f"{schema}.{COMMITS}"],
            ):
                _name_targets(begun, f"{schema}.{COMMITS}")
        return name

    def sink(self, key: CommitKey, name: TableName) -> StagingSink:
        """See `TableDatabase`."""
        return StagingSink(self.settings.endpoint, key, name.schema, name.qualified)

    @contextmanager
    def publication(self, key: CommitKey, name: TableName) -> Iterator[PostgresqlPublication]:
        """See `TableDatabase`."""
        with session(self.settings.endpoint, reading=False) as begun:
            begun.rows_bound(
                "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text AS lock",
                # An older record may be claimed by another write of the batch.
                [json.dumps([key.query_id, key.batch_id])],
            )
            yield PostgresqlPublication(begun, self.settings, key, name)

    def drop_staged(self, key: CommitKey, name: TableName) -> None:
        """See `TableDatabase`."""
        with session(self.settings.endpoint, reading=False) as begun:
            rows = begun.rows_bound(
                "SELECT c.relname::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE quote_ident(n.nspname) = $1 AND starts_with(c.relname::text, $2)",
                [name.schema, staging_prefix(key)],
            )
            for (table,) in rows:
                begun.run(f"DROP TABLE IF EXISTS {name.schema}.{table}")


def _name_targets(begun: Session, commits: str) -> None:
    """Add the column `target` to a commits table of an older Gluepot, whose records do not name their table."""
    begun.rows(f"SELECT pg_advisory_xact_lock({_TABLES_LOCK})::text")
    begun.run(f"ALTER TABLE {commits} ADD COLUMN IF NOT EXISTS target text NOT NULL DEFAULT ''")
    begun.run(f"ALTER TABLE {commits} DROP CONSTRAINT IF EXISTS {COMMITS}_pkey")
    begun.run(f"ALTER TABLE {commits} ADD PRIMARY KEY (query_id, batch_id, ctx, target)")


def _found(begun: Session, table: str) -> TableName:
    rows = begun.rows_bound(
        "SELECT quote_ident(n.nspname) AS schema, quote_ident(c.relname) AS name"
        " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1)",
        [table],
    )
    if rows:
        return TableName(str(rows[0][0]), str(rows[0][1]), exists=True)
    # The table is new, so parse the name as the server would parse it in a statement.
    parts = [str(row[0]) for row in begun.rows_bound("SELECT quote_ident(unnest(parse_ident($1))) AS part", [table])]
    if len(parts) == 1:
        parts = [str(begun.rows("SELECT quote_ident(current_schema())")[0][0]), *parts]
    return TableName(parts[-2], parts[-1], exists=False)
