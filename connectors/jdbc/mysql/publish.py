"""The driver's side of a write: moves staged rows into the table and records the commit, in one transaction.

In MySQL a statement that makes, changes or drops a table ends the transaction. So such statements run on a connection
of their own: before the transaction, or after it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from gluepot.connectors.jdbc.mysql.address import address_of
from gluepot.connectors.jdbc.mysql.columns import (
    TableColumn,
    created_columns,
    has_index,
    hidden_conflict,
    quoted,
    table_name,
    unquoted,
)
from gluepot.connectors.jdbc.mysql.errors import RowRefused
from gluepot.connectors.jdbc.mysql.session import IDLE_SECS, Session, session
from gluepot.connectors.jdbc.mysql.staging import StagingSink
from gluepot.connectors.jdbc.mysql.statements import created_table, split
from gluepot.connectors.jdbc.mysql.stored import TEXT
from gluepot.connectors.jdbc.mysql.tables import (
    KEPT,
    LOCKS,
    columns_of,
    find_table,
    make_own_tables,
    unique_indexes,
)
from gluepot.connectors.jdbc.mysql.undo import Undo
from gluepot.connectors.jdbc.publishing import (
    COMMITS,
    KEPT_BATCHES,
    REFUSED,
    REJECTS,
    Published,
    TableName,
    opened_when_needed,
)
from gluepot.connectors.jdbc.staging import (
    ERROR_COLUMNS,
    ORDINAL,
    match_column,
    merged_types,
    staging_prefix,
    written_columns,
)
from gluepot.connectors.jdbc.target import JdbcWriteSettings, Mode
from gluepot.connectors.json_values import json_document
from gluepot.connectors.values import CommitKey, StagedFile
from gluepot.core.errors import ConfigError, EtlError, PermanentError, TransientError
from gluepot.core.logging import get_logger

# Collations in which two texts are equal only if they are the same characters, spaces at the end included.
_EXACT_COLLATION = {"mariadb": "utf8mb4_nopad_bin", "mysql": "utf8mb4_0900_bin"}

MOST_REFUSED = 1000
"""How many rows of one write the server may refuse. With more of them the table does not fit, and the write fails."""

log = get_logger(__name__)


def record_id(key: CommitKey, target: str) -> bytes:
    """Return the primary key of a write's record: 32 bytes, equal for equal keys and tables."""
    return hashlib.sha256(json.dumps([key.query_id, key.batch_id, key.ctx, target]).encode()).digest()


def sorted_out(first: int, last: int, put: Callable[[int, int], None], most: int) -> list[tuple[int, str]]:
    """Put rows in order, in halves of halves where some are refused; return those refused, each with its reason.

    Args:
        first: number of the first row.
        last: number of the last row.
        put: puts the rows from one number to another one, or changes nothing and raises `RowRefused`.
        most: how many rows may be refused.

    Raises:
        RowRefused: more rows are refused than that.
    """
    refused: list[tuple[int, str]] = []
    waiting = [(first, last)]
    while waiting:
        low, high = waiting.pop()
        try:
            put(low, high)
        except RowRefused as error:
            if low < high:
                middle = (low + high) // 2
                waiting += [(middle + 1, high), (low, middle)]
                continue
            if len(refused) == most:
                raise
            refused.append((low, error.said))
    return refused


@dataclass(slots=True)
class MysqlPublication:
    """A `Publication` in MySQL or MariaDB.

    Args:
        session: session of the transaction.
        beside: opens the connection for statements that would end the transaction.
        settings: settings from the script.
        key: commit key of the write.
        name: name of the table.
        doomed: tables that nobody needs once the transaction is committed.
    """

    session: Session
    beside: Callable[[], Session]
    settings: JdbcWriteSettings
    key: CommitKey
    name: TableName
    doomed: list[str] = field(default_factory=list)
    _kept: set[str] = field(default_factory=set)
    _first_number: int = 0
    _written: list[str] = field(default_factory=list)

    def published(self) -> Published | None:
        """See `Publication`."""
        rows = self.session.rows(f"SELECT record, first_number FROM {self._own(COMMITS)} WHERE id = %s", [self._id])
        return Published(str(rows[0][0]), int(rows[0][1])) if rows else None

    def record(self, record: str) -> None:
        """See `Publication`."""
        self._write(record, self._first_number)
        self.session.run(
            f"DELETE FROM {self._own(COMMITS)} WHERE query_id = %s AND batch_id < %s AND ctx = %s AND target = %s",
            [self.key.query_id, self.key.batch_id - KEPT_BATCHES, self.key.ctx, self.name.qualified],
        )
        # The query has come to this batch, so no earlier one will be taken back any more.
        self._forget_kept("query_id = %s AND batch_id < %s", [self.key.query_id, self.key.batch_id])

    def renew(self, record: str, before: Published) -> None:
        """See `Publication`."""
        self._write(record, before.xact)

    def take_back(self, before: Published, rows: int) -> None:
        """See `Publication`."""
        kept = self.session.rows(f"SELECT name, types FROM {self._own(KEPT)} WHERE id = %s ORDER BY name", [self._id])
        gone = 0
        if kept and find_table(self.session, unquoted(self.name.schema), unquoted(self.name.table)).exists:
            staged = [(name, json.loads(types)) for name, types in kept]
            gone = Undo(self.session, self.name, staged, before.xact).run()
        if gone != rows:
            lacking = f"of these only {gone} are as it wrote them" if kept else "a later batch ended their record"
            raise PermanentError(
                f"an earlier try of this write put {rows} rows into {self.name.qualified}, and {lacking}, so it cannot"
                f" be replaced; remove the {'others' if gone else 'rows'} by hand, and then its row in"
                f" {self._own(COMMITS)} (query_id {self.key.query_id!r}, batch_id {self.key.batch_id})"
            )
        self._forget_kept("id = %s", [self._id])

    def left_over(self, before: Published) -> None:
        """See `Publication`."""

    def forget_rejects(self) -> None:
        """See `Publication`."""
        self.session.run(f"DELETE FROM {self._own(REJECTS)} WHERE id = %s", [self._id])

    def move(self, staged: Sequence[StagedFile], *, may_repeat: bool) -> Mapping[str, int]:
        """See `Publication`.

        Making the table is a transaction of its own: if the write fails afterwards, an empty table is left. Rows that
        the server refuses go to the rejects, unless there are more than `MOST_REFUSED`.
        """
        data = [one for one in staged if not one.rejects]
        self._require_there(staged)
        # Looked up again, because the script's own statements may have created it.
        found = find_table(self.session, unquoted(self.name.schema), unquoted(self.name.table))
        if not found.exists and data:
            self._create(merged_types(data, TEXT))
        if self.settings.mode is Mode.OVERWRITE and found.exists:
            self.session.run(f"DELETE FROM {self.name.qualified}")
        refused = self._insert(data) if data else {}
        for one in staged:
            if one.rejects:
                self._keep_rejects(one)
        if not may_repeat:
            self.session.run(f"DELETE FROM {self._own(LOCKS)} WHERE query_id = %s", [self.key.query_id])
        elif self.settings.mode is Mode.APPEND:
            self._keep(data)
        return refused

    def act(self, statements: str) -> None:
        """See `Publication`.

        Raises:
            ConfigError: a statement would end the transaction.
        """
        for statement in split(statements):
            table = created_table(statement)
            if table is None:
                self.session.run(statement)
            elif not find_table(self.session, *_named(self.settings, table)).exists:
                self.beside().run(statement)

    def drop(self, staged: Sequence[StagedFile]) -> None:
        """See `Publication`. Rows that may have to be taken back are kept until the next batch."""
        self.doomed += [one.staged for one in staged if one.staged not in self._kept]

    @property
    def _id(self) -> bytes:
        return record_id(self.key, self.name.qualified)

    def _own(self, table: str) -> str:
        return f"{self.name.schema}.{table}"

    def _write(self, record: str, first_number: int) -> None:
        self.session.run(
            f"INSERT INTO {self._own(COMMITS)} (id, query_id, batch_id, ctx, target, record, first_number)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s) ON DUPLICATE KEY UPDATE record = VALUES(record),"
            " first_number = VALUES(first_number), at = CURRENT_TIMESTAMP",
            [self._id, self.key.query_id, self.key.batch_id, self.key.ctx, self.name.qualified, record, first_number],
        )

    def _keep(self, data: Sequence[StagedFile]) -> None:
        for one in data:
            # A column that was written with nulls alone has no type.
            types = {**dict.fromkeys(self._written, ""), **one.encoding["types"]}
            self.session.run(
                f"INSERT INTO {self._own(KEPT)} (name, id, query_id, batch_id, types) VALUES (%s, %s, %s, %s, %s)",
                [one.staged, self._id, self.key.query_id, self.key.batch_id, json.dumps(types)],
            )
            self._kept.add(one.staged)

    def _forget_kept(self, condition: str, values: Sequence[object]) -> None:
        names = [name for (name,) in self.session.rows(f"SELECT name FROM {self._own(KEPT)} WHERE {condition}", values)]
        if names:
            self.session.run(f"DELETE FROM {self._own(KEPT)} WHERE name IN %s", [names])
            self.doomed += names

    def _require_there(self, staged: Sequence[StagedFile]) -> None:
        """Check that no other driver has removed staged rows, and that no crash of the server has taken any."""
        for one in staged:
            there = self.session.rows(
                "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s",
                [unquoted(self.name.schema), one.staged],
            )
            rows = self.session.rows(f"SELECT COUNT(*) FROM {self._own(one.staged)}")[0][0] if there else 0
            if rows != one.rows:
                raise TransientError(
                    f"only {rows} of {one.rows} staged rows for {self.name.qualified} are left: the server was"
                    " restarted, or another driver has removed them; try again"
                )

    def _create(self, types: dict[str, str]) -> None:
        (version,) = self.session.rows("SELECT VERSION()")[0]
        collation = _EXACT_COLLATION["mariadb" if "mariadb" in version.lower() else "mysql"]
        keys = self.settings.keys if self.settings.mode is Mode.UPSERT else ()
        self.beside().run(
            f"CREATE TABLE IF NOT EXISTS {self.name.qualified} ({created_columns(types, keys)}) ENGINE = InnoDB"
            f" DEFAULT CHARACTER SET utf8mb4 COLLATE {collation}"
        )

    def _insert(self, staged: Sequence[StagedFile]) -> dict[str, int]:
        columns = {column.name: column for column in columns_of(self.session, self.name)}
        filled = [column.name for column in columns.values() if column.counts or column.generated]
        of_frame = written_columns(staged, TEXT, columns, self.name.qualified, filled)
        names, matched = list(of_frame), list(of_frame.values())
        self._written = names
        is_upsert = self.settings.mode is Mode.UPSERT
        keys = self._upsert_keys(of_frame, matched) if is_upsert else {}
        into = f"INSERT INTO {self.name.qualified} ({', '.join(map(quoted, matched))})"
        refused: dict[str, int] = {}
        for one in staged:
            has = one.encoding["types"]
            values = ", ".join(
                f"{quoted(name) if name in has else 'NULL'} AS {quoted(column)}"
                for name, column in zip(names, matched, strict=True)
            )
            room = MOST_REFUSED - sum(refused.values())
            without_key = 0
            if is_upsert:
                without_key = self._refuse_by_key(one, keys, columns, room)
                if without_key == one.rows:
                    refused[one.staged] = without_key
                    continue
                query = _newest(self._own(one.staged), values, matched, [*keys.values()])
            else:
                query = f"SELECT {values} FROM {self._own(one.staged)}", f" ORDER BY {ORDINAL}"
            added, bad = self._insert_staged(one, into, query, room - without_key)
            bad += without_key
            if not is_upsert and added != one.rows - bad:
                raise PermanentError(
                    f"{added} of {one.rows - bad} rows arrived in {self.name.qualified}; look at its triggers"
                )
            if bad:
                refused[one.staged] = bad
        return refused

    def _insert_staged(self, staged: StagedFile, into: str, query: tuple[str, str], most: int) -> tuple[int, int]:
        """Insert the rows of a staging table; return how many rows were changed, and how many were refused.

        A statement that fails changes nothing. So if the server refuses a row, the statement is run for halves of the
        rows, until each row that it refuses is alone. That row moves from the staging table to the rejects.

        Args:
            staged: the staging table.
            into: the statement up to its query.
            query: the query of the rows, before and after the place for a condition.
            most: how many rows may be refused.
        """
        changed = 0

        def put(part: str) -> None:
            nonlocal changed
            added, first = self.session.insert(f"{into} {query[0]}{part}{query[1]}")
            changed += added
            self._first_number = self._first_number or first

        try:
            put("")
        except RowRefused:
            table = self._own(staged.staged)
            ((first, last),) = self.session.rows(f"SELECT MIN({ORDINAL}), MAX({ORDINAL}) FROM {table}")
            refused = sorted_out(first, last, lambda low, high: put(f" WHERE {ORDINAL} BETWEEN {low} AND {high}"), most)
            for ordinal, said in refused:
                self._refuse(staged, ordinal, f"The server refuses it: {said}")
            return changed, len(refused)
        return changed, 0

    def _refuse(self, staged: StagedFile, ordinal: int, said: str) -> None:
        names, where = [name for name in staged.encoding["types"] if name != ORDINAL], f"WHERE {ORDINAL} = {ordinal}"
        listed = ", ".join(map(quoted, names))
        (values,) = self.session.rows(f"SELECT {listed} FROM {self._own(staged.staged)} {where}")
        self.session.run(
            f"INSERT INTO {self._own(REJECTS)} (id, query_id, batch_id, ctx, target, raw, reason, message)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
            [
                self._id, self.key.query_id, self.key.batch_id, self.key.ctx, self.name.qualified,
                json_document(dict(zip(names, values, strict=True))), REFUSED, f"{said}.",
            ],
        )  # fmt: skip
        self.session.run(f"DELETE FROM {self._own(staged.staged)} {where}")

    def _upsert_keys(self, of_frame: Mapping[str, str], matched: Sequence[str]) -> dict[str, str]:
        """Return the columns of the key: name in the frame to name in the table.

        Args:
            of_frame: the table's column for each one of the frame.
            matched: the columns that the write has values for.

        Raises:
            ConfigError: an upsert by these columns cannot work.
        """
        indexes = unique_indexes(self.session, self.name)
        given = self.settings.keys or indexes.get("PRIMARY", ())
        if not given:
            raise ConfigError(
                f"An upsert into {self.name.qualified} needs upsertKeys: the table has no primary key;"
                " name the columns of a unique index."
            )
        named = [match_column(key, of_frame, "the frame") for key in given]
        keys = [of_frame[name] for name in named]
        if not has_index(indexes, keys):
            raise ConfigError(
                f"An upsert into {self.name.qualified} by {', '.join(keys)} needs a unique index of exactly these"
                " columns; create it, or name the columns of another one in upsertKeys."
            )
        counting = [column.name for column in columns_of(self.session, self.name) if column.counts]
        if other := hidden_conflict(indexes, keys, matched, counting):
            raise ConfigError(
                f"An upsert into {self.name.qualified} by {', '.join(keys)} could replace rows with another key, by the"
                f" unique index {other}; drop that index, or leave its columns out of the frame."
            )
        return dict(zip(named, keys, strict=True))

    def _refuse_by_key(
        self, staged: StagedFile, keys: Mapping[str, str], columns: Mapping[str, TableColumn], most: int
    ) -> int:
        """Move rows from a staging table to the rejects if their key is null, or if the table would change it.

        Args:
            staged: the staging table.
            keys: the columns of the key: name in the frame to name in the table.
            columns: the columns of the table.
            most: how many rows may be refused.

        Returns:
            How many rows were refused.

        Raises:
            ConfigError: more rows were refused.
        """
        has, refused = staged.encoding["types"], 0
        for name, column in keys.items():
            where = f"{quoted(name)} IS NULL" if name in has else "TRUE"
            lacking = f"has no value in {column!r}, the key of the upsert"
            refused += self._refuse_where(staged, where, lacking, most - refused)
            if name in has and (changed := columns[column].changes(name, has[name])):
                said = f"has a value that {column!r}, the key of the upsert, would round or cut"
                refused += self._refuse_where(staged, changed, said, most - refused)
        return refused

    def _refuse_where(self, staged: StagedFile, where: str, said: str, most: int) -> int:
        found = self.session.rows(
            f"SELECT {ORDINAL} FROM {self._own(staged.staged)} WHERE {where} ORDER BY {ORDINAL} LIMIT {most + 1}"
        )
        if len(found) > most:
            raise ConfigError(
                f"More than {MOST_REFUSED} rows of one upsert into {self.name.qualified} were refused; the last one"
                f" {said}. Leave such rows out, or name another key."
            )
        for (ordinal,) in found:
            self._refuse(staged, ordinal, f"The row {said}")
        return len(found)

    def _keep_rejects(self, staged: StagedFile) -> None:
        names = ", ".join(ERROR_COLUMNS)
        self.session.run(
            f"INSERT INTO {self._own(REJECTS)} (id, query_id, batch_id, ctx, target, {names})"
            f" SELECT %s, %s, %s, %s, %s, {names} FROM {self._own(staged.staged)}",
            [self._id, self.key.query_id, self.key.batch_id, self.key.ctx, self.name.qualified],
        )


def _newest(table: str, values: str, columns: Sequence[str], keys: Sequence[str]) -> tuple[str, str]:
    """Return the query of an upsert, before and after the place for a condition, with what happens to a known key.

    Rows arrive in their order, each replacing the one before, so the newest one of a key counts.
    """
    change = ", ".join(f"{quoted(one)} = staged.{quoted(one)}" for one in columns if one not in keys)
    same = f"{quoted(keys[0])} = staged.{quoted(keys[0])}"
    return (
        f"SELECT * FROM (SELECT {values} FROM {table}",
        f" ORDER BY {ORDINAL} LIMIT 18446744073709551615) AS staged ON DUPLICATE KEY UPDATE {change or same}",
    )


def _named(settings: JdbcWriteSettings, table: str) -> tuple[str, str]:
    return table_name(table, address_of(settings.endpoint).database)


@dataclass(frozen=True, slots=True)
class MysqlTables:
    """A `TableDatabase` of MySQL or MariaDB.

    Args:
        settings: the database, the table and the mode.
    """

    settings: JdbcWriteSettings

    def find(self) -> TableName:
        """See `TableDatabase`."""
        with session(self.settings.endpoint) as begun:
            name = find_table(begun, *_named(self.settings, self.settings.table))
            make_own_tables(begun, name.schema)
            if self.settings.mode is Mode.UPSERT and not self.settings.keys:
                name = replace(name, primary_key=tuple(unique_indexes(begun, name).get("PRIMARY", ())))
        return name

    def sink(self, key: CommitKey, name: TableName) -> StagingSink:
        """See `TableDatabase`."""
        return StagingSink(self.settings.endpoint, key, name.schema, name.qualified)

    @contextmanager
    def publication(self, key: CommitKey, name: TableName) -> Iterator[MysqlPublication]:
        """See `TableDatabase`."""
        acts = bool(self.settings.preactions.strip() or self.settings.postactions.strip())
        with (
            opened_when_needed(lambda: session(self.settings.endpoint)) as beside,
            self._locked(key, name, guarded=acts) as begun,
        ):
            publication = MysqlPublication(begun, beside, self.settings, key, name)
            yield publication
        try:
            self._drop(name, publication.doomed)
        except EtlError as error:  # the write is published; the next one drops what is left
            log.warning("staged_rows_left", table=name.qualified, error=str(error))

    def drop_staged(self, key: CommitKey, name: TableName) -> None:
        """See `TableDatabase`."""
        # No publication of the query is under way while we hold its lock, so none of these tables is kept from now on.
        with self._locked(key, name, guarded=False) as begun:
            prefix = staging_prefix(key)
            found = begun.rows(
                "SELECT TABLE_NAME FROM information_schema.TABLES"
                " WHERE TABLE_SCHEMA = %s AND LEFT(TABLE_NAME, %s) = %s",
                [unquoted(name.schema), len(prefix), prefix],
            )
            kept = begun.rows(f"SELECT name FROM {name.schema}.{KEPT} WHERE query_id = %s", [key.query_id])
            self._drop(name, sorted({table for (table,) in found} - {table for (table,) in kept}))

    @contextmanager
    def _locked(self, key: CommitKey, name: TableName, *, guarded: bool) -> Iterator[Session]:
        """Open a transaction that is the only one of its query.

        The lock is a row, not a name of GET_LOCK: it is given back exactly when the transaction ends, also when the
        connection dies.
        """
        locks = f"{name.schema}.{LOCKS}"
        with session(self.settings.endpoint, idle_secs=IDLE_SECS) as begun:
            if not begun.rows(f"SELECT 1 FROM {locks} WHERE query_id = %s", [key.query_id]):
                begun.run(f"INSERT IGNORE INTO {locks} (query_id) VALUES (%s)", [key.query_id])
            with begun.transaction(guarded=guarded):
                begun.rows(f"SELECT query_id FROM {locks} WHERE query_id = %s FOR UPDATE", [key.query_id])
                yield begun

    def _drop(self, name: TableName, tables: Sequence[str]) -> None:
        if tables:
            with session(self.settings.endpoint) as begun:
                for table in tables:
                    begun.run(f"DROP TABLE IF EXISTS {name.schema}.{table}")
