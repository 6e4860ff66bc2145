"""The driver's side of a write: moves staged rows into the table and records the commit, in one transaction.

Most databases commit whenever a table is made or dropped. So such statements run on a connection of their own: before
the move, or after the transaction. Spark's JDBC writer puts the staged files into a table of the same types as the
target. It may put rows twice if a task is repeated, which their numbers tell.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from py4j.protocol import Py4JError

from gluepot.connectors.jdbc.drivers import driver_of
from gluepot.connectors.jdbc.java import statements
from gluepot.connectors.jdbc.java.dialects import BIGINT, TEXT, has_fractions
from gluepot.connectors.jdbc.java.errors import cause_of
from gluepot.connectors.jdbc.java.session import (
    Column,
    Found,
    Session,
    properties_of,
    session,
    spark_session,
)
from gluepot.connectors.jdbc.java.staging import JavaSink, StagedRows, file_of, files_by_shape, staging_folder
from gluepot.connectors.jdbc.java.statements import (
    LOCKS,
    OWN_TABLES,
    NamePart,
    name_parts,
    record_id,
    require_one_machine,
    require_rows_only,
    write_id,
)
from gluepot.connectors.jdbc.publishing import COMMITS, KEPT_BATCHES, REJECTS, Published, TableName, opened_when_needed
from gluepot.connectors.jdbc.staging import (
    ERROR_COLUMNS,
    ORDINAL,
    match_column,
    merged_types,
    staging_prefix,
    written_columns,
)
from gluepot.connectors.jdbc.target import JdbcWriteSettings, Mode
from gluepot.connectors.values import CommitKey, StagedFile
from gluepot.core.errors import ConfigError, EtlError, PermanentError, TransientError
from gluepot.core.logging import get_logger
from gluepot.core.storage import open_storage

log = get_logger(__name__)


@dataclass(slots=True)
class JavaPublication:
    """A `Publication` through a Java driver.

    Args:
        session: session of the transaction.
        beside: opens the connection for statements that would end the transaction.
        settings: settings from the script.
        key: commit key of the write.
        name: name of the table.
        doomed: tables that nobody needs once the transaction is committed, without their schema.
        files: staged files that nobody needs then.
    """

    session: Session
    beside: Callable[[], Session]
    settings: JdbcWriteSettings
    key: CommitKey
    name: TableName
    doomed: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    _appended: list[dict[str, Any]] = field(default_factory=list)

    def published(self) -> Published | None:
        """See `Publication`."""
        rows = self.session.rows(
            f"SELECT {self._names('record')} FROM {self._own(COMMITS)} WHERE {self._names('id')} = ?", [self._id]
        )
        return Published(str(rows[0][0])) if rows else None

    def record(self, record: str) -> None:
        """See `Publication`."""
        self._write(record, json.dumps(self._appended) if self._appended else None)
        before = f"{self._names('write_id')} = ? AND {self._names('batch_id')} < ?"
        of_write = write_id(self.key, self.name.qualified)
        self.session.run(
            f"DELETE FROM {self._own(COMMITS)} WHERE {before}", [of_write, self.key.batch_id - KEPT_BATCHES]
        )
        # The query has come to this batch, so no earlier one will be taken back any more.
        self._forget_kept(before, [of_write, self.key.batch_id])

    def renew(self, record: str, before: Published) -> None:  # noqa: ARG002  the rows are named beside the record
        """See `Publication`."""
        self.session.run(
            f"UPDATE {self._own(COMMITS)} SET {self._names('record')} = ? WHERE {self._names('id')} = ?",
            [record, self._id],
        )

    def take_back(self, before: Published, rows: int) -> None:  # noqa: ARG002  the rows are named beside the record
        """See `Publication`.

        A row does not tell which transaction wrote it. So the staged rows of the newest append are kept, and the rows
        that are equal to them are deleted. If others are equal, too, nobody can tell them apart.
        """
        kept = self._kept_of(f"{self._names('id')} = ?", [self._id])
        gone = 0
        found = _found(self.session, self.name.qualified)
        if found.kind:
            columns = self.session.columns(found)
            for one in kept:
                written = {self._quoted(name): columns[name].jdbc_type for name in one["columns"] if name in columns}
                stage = self._place(one["table"])
                gone += self.session.run(
                    statements.delete_equal(self.session.dialect, self.name.qualified, stage, written)
                )
        if gone != rows:
            what = (
                f"{gone} rows are equal to them now, so some were changed, deleted or written by others as well"
                if kept
                else "a later batch ended their record"
            )
            raise PermanentError(
                f"an earlier try of this write put {rows} rows into {self.name.qualified}, and {what}, so it cannot be"
                f" replaced; remove its rows by hand, and then its row in {self._own(COMMITS)}"
                f" (query_id {self.key.query_id!r}, batch_id {self.key.batch_id})"
            )
        self._forget_kept(f"{self._names('id')} = ?", [self._id])

    def left_over(self, before: Published) -> None:
        """See `Publication`."""

    def forget_rejects(self) -> None:
        """See `Publication`."""
        self.session.run(f"DELETE FROM {self._own(REJECTS)} WHERE {self._names('id')} = ?", [self._id])

    def move(self, staged: Sequence[StagedFile], *, may_repeat: bool) -> Mapping[str, int]:
        """See `Publication`.

        Making the table is a transaction of its own: if the write fails afterwards, an empty table is left.
        """
        data = [one for one in staged if not one.rejects]
        self._require_there(staged)
        found = _found(self.session, self.name.qualified)
        if self.settings.mode is Mode.OVERWRITE and found.kind:
            # The tables are made first, as the rows are locked from here on.
            moved = self._loaded(found, data) if data else None
            self.session.run(f"DELETE FROM {self.name.qualified}")
        else:
            if not found.kind and data:
                self._create(merged_types(data, TEXT))
                found = _found(self.session, self.name.qualified)
            moved = self._loaded(found, data) if data else None
        if moved is not None:
            self._insert(found, moved)
            if may_repeat and self.settings.mode is Mode.APPEND:
                self._appended.append({"table": moved.table, "columns": list(moved.columns)})
        self._keep_rejects([one for one in staged if one.rejects])
        if not may_repeat:
            self.session.run(f"DELETE FROM {self._own(LOCKS)} WHERE {self._names('query_id')} = ?", [self.key.query_id])
        return {}

    def act(self, statements: str) -> None:
        """See `Publication`.

        Raises:
            ConfigError: a statement may end the transaction.
        """
        option = "preactions" if statements == self.settings.preactions else "postactions"
        for statement in require_rows_only(statements, option):
            self.session.run(statement)

    def drop(self, staged: Sequence[StagedFile]) -> None:
        """See `Publication`. Rows that may have to be taken back are kept in their table until the next batch."""
        self.files += [file_of(self.key, one.staged) for one in staged]

    @property
    def _id(self) -> str:
        return record_id(self.key, self.name.qualified)

    def _quoted(self, name: str) -> str:
        return self.session.dialect.quoted(name)

    def _names(self, *columns: str) -> str:
        """Return columns of our own tables as they are quoted."""
        return ", ".join(self._quoted(self.session.folded(one)) for one in columns)

    def _place(self, table: str) -> str:
        return f"{self.name.schema}.{self._quoted(table)}"

    def _own(self, table: str) -> str:
        return self._place(self.session.folded(table))

    def _write(self, record: str, kept: str | None) -> None:
        self.session.run(f"DELETE FROM {self._own(COMMITS)} WHERE {self._names('id')} = ?", [self._id])
        columns = statements.own_columns(COMMITS)
        values: list[str | int | None] = [
            self._id, write_id(self.key, self.name.qualified), self.key.query_id, self.key.batch_id, self.key.ctx,
            self.name.qualified, record, kept,
        ]  # fmt: skip
        self.session.run(
            f"INSERT INTO {self._own(COMMITS)} ({self._names(*columns)}) VALUES ({', '.join('?' * len(columns))})",
            values,
        )

    def _kept_of(self, condition: str, values: Sequence[str | int]) -> list[dict[str, Any]]:
        kept = self._names("kept")
        rows = self.session.rows(
            f"SELECT {kept} FROM {self._own(COMMITS)} WHERE {condition} AND {kept} IS NOT NULL", values
        )
        return [one for (text,) in rows for one in json.loads(str(text))]

    def _forget_kept(self, condition: str, values: Sequence[str | int]) -> None:
        if kept := self._kept_of(condition, values):
            self.session.run(f"UPDATE {self._own(COMMITS)} SET {self._names('kept')} = NULL WHERE {condition}", values)
            self.doomed += [one["table"] for one in kept]

    def _require_there(self, staged: Sequence[StagedFile]) -> None:
        """Check that no other driver has removed staged rows."""
        if staged:
            there = set(open_storage(temp_dir_of(self.settings)).list(staging_folder(self.key)))
            if lost := [one.staged for one in staged if file_of(self.key, one.staged) not in there]:
                raise TransientError(
                    f"{len(lost)} staged files for {self.name.qualified} are gone from {temp_dir_of(self.settings)}:"
                    " another driver has removed them; try again"
                )

    def _create(self, kinds: Mapping[str, str]) -> None:
        keys = self.settings.keys if self.settings.mode is Mode.UPSERT else ()
        self.beside().run(statements.create_table(self.session.dialect, self.name.qualified, kinds, keys))

    def _loaded(self, found: Found, data: Sequence[StagedFile]) -> _Moved:
        """Put staged rows into a table of their own."""
        columns = self.session.columns(found)
        filled = [column.name for column in columns.values() if column.generated or column.counts]
        matched = written_columns(data, TEXT, columns, self.name.qualified, filled)
        if computed := [name for name in matched.values() if columns[name].generated]:
            raise ConfigError(f"{self.name.qualified} computes its column {computed[0]!r} itself; leave the field out.")
        moved = self._staged_in_table(columns, matched, self.name.qualified, data, self._rounded_keys(data, matched))
        for key, copy in moved.copies.items():
            ((changed,),) = self.session.rows(f"SELECT COUNT(*) FROM {self._place(moved.table)} WHERE {key} <> {copy}")
            if int(changed or 0):
                raise ConfigError(
                    f"{changed} rows for {self.name.qualified} have a value in {key} that the table would round, and"
                    " two keys could become one; cast the field, or change the column."
                )
        return moved

    def _rounded_keys(self, data: Sequence[StagedFile], matched: Mapping[str, str]) -> dict[str, str]:
        """Return the frame's columns of an upsert's key whose values the table may round, with their kinds."""
        given = self.settings.keys or self.name.primary_key
        if self.settings.mode is not Mode.UPSERT:
            return {}
        keys = {match_column(key, matched, "the frame") for key in given if key.lower() in {*map(str.lower, matched)}}
        return {name: kind for name, kind in merged_types(data, TEXT).items() if name in keys and has_fractions(kind)}

    def _staged_in_table(
        self,
        columns: Mapping[str, Column],
        matched: Mapping[str, str],
        like: str,
        data: Sequence[StagedFile],
        copied: Mapping[str, str] = MappingProxyType({}),
    ) -> _Moved:
        dialect, folded = self.session.dialect, self.session.folded
        table, ordinal = folded(f"{staging_prefix(self.key)}{uuid4().hex[:16]}"), folded(ORDINAL)
        self.doomed.append(table)
        names = [self._quoted(name) for name in matched.values()]
        copies = {name: folded(f"gluepot_copy_{nth}") for nth, name in enumerate(copied)}
        kinds = {dialect.quoted(copy): copied[name] for name, copy in copies.items()}
        self.beside().run(
            statements.create_stage(dialect, self._place(table), like, names, dialect.quoted(ordinal), kinds)
        )
        for shape, files in files_by_shape(data).items():
            renamed = {name: ordinal if name == ORDINAL else matched[name] for name in dict(shape)}
            loaded = [(name, renamed[name], kind) for name, kind in shape]
            loaded += [(name, copies[name], kind) for name, kind in shape if name in copies]
            self._load(self._place(table), loaded, [file_of(self.key, one.staged) for one in files])
        expected = sum(one.rows for one in data)
        quoted = dialect.quoted(ordinal)
        ((rows, different),) = self.session.rows(f"SELECT COUNT(*), COUNT(DISTINCT {quoted}) FROM {self._place(table)}")
        if not int(rows or 0) == int(different or 0) == expected:
            raise TransientError(
                f"{rows} rows were put into a staging table for {self.name.qualified} instead of {expected}, because a"
                " task of Spark was repeated; try again"
            )
        by_key = {self._quoted(matched[name]): self._quoted(copy) for name, copy in copies.items()}
        return _Moved(table, {name: columns[name].jdbc_type for name in matched.values()}, expected, by_key)

    def _load(self, table: str, columns: Sequence[tuple[str, str, str]], files: Sequence[str]) -> None:
        """Put the rows of files into a table; each column has a name in the files, one in the table, and a kind."""
        from pyspark.errors import PySparkException  # noqa: PLC0415  it loads slowly
        from pyspark.sql.types import StructField, StructType, _parse_datatype_string  # noqa: PLC0415  as above

        spark, endpoint = spark_session(), self.settings.endpoint
        names, renamed = [name for name, _, _ in columns], [name for _, name, _ in columns]
        numbered = "" if ORDINAL in names else self.session.folded(ORDINAL)
        rows = StagedRows(temp_dir_of(self.settings), files, names, renamed, numbered)
        fields = [(name, _SPARK_TYPES.get(kind, kind)) for _, name, kind in columns]
        if numbered:
            fields.append((numbered, BIGINT))
        schema = StructType([StructField(name, _parse_datatype_string(kind)) for name, kind in fields])
        given = spark.range(0, len(files), 1, min(len(files), _MOST_TASKS))
        options = {
            **properties_of(endpoint), "url": endpoint.jdbc_url, "driver": driver_of(spark, endpoint).name,
            "dbtable": table, "batchsize": str(self.settings.batch_rows), "isolationLevel": "READ_COMMITTED",
        }  # fmt: skip
        try:
            given.mapInArrow(rows, schema).write.format("jdbc").options(**options).mode("append").save()
        except (Py4JError, PySparkException) as error:
            with session(endpoint):  # raises, if it is the server that is away
                pass
            raise ConfigError(
                f"Rows for {self.name.qualified} at {endpoint.shown} were refused, and none is written:"
                f" {cause_of(str(error))}; correct the value, or the column."
            ) from error

    def _insert(self, found: Found, moved: _Moved) -> None:
        dialect, ordinal = self.session.dialect, self._names(ORDINAL)
        columns, stage = list(map(self._quoted, moved.columns)), self._place(moved.table)
        if self.settings.mode is not Mode.UPSERT:
            added = self.session.run(statements.insert(self.name.qualified, stage, columns, ordinal))
            if added != moved.rows:
                raise PermanentError(
                    f"{added} of {moved.rows} rows arrived in {self.name.qualified}; look at its triggers"
                )
            return
        given = self.settings.keys or self.session.primary_key(found)
        if not given:
            raise ConfigError(
                f"An upsert into {self.name.qualified} needs upsertKeys: the table has no primary key; name the columns"
                " that tell rows apart."
            )
        keys = [self._quoted(match_column(key, moved.columns, "the frame")) for key in given]
        ((lacking,),) = self.session.rows(
            f"SELECT COUNT(*) FROM {stage} WHERE {' OR '.join(f'{key} IS NULL' for key in keys)}"
        )
        if int(lacking or 0):
            raise ConfigError(
                f"{lacking} rows for {self.name.qualified} have a null in {', '.join(keys)}, by which an upsert finds"
                " rows; fill it, or filter these rows out."
            )
        self.session.run(statements.merge(dialect, self.name.qualified, stage, columns, keys, ordinal))

    def _keep_rejects(self, rejects: Sequence[StagedFile]) -> None:
        if not rejects:
            return
        own = self._own(REJECTS)
        columns = self.session.columns(_found(self.session, own))
        matched = {name: self.session.folded(name) for name in ERROR_COLUMNS}
        numbered = self._staged_in_table(columns, matched, own, rejects)
        identity = ("id", "query_id", "batch_id", "ctx", "target")
        given = [f"CAST(? AS {statements.own_type(self.session.dialect, REJECTS, one)})" for one in identity]
        self.session.run(
            f"INSERT INTO {own} ({self._names(*identity, *ERROR_COLUMNS)})"
            f" SELECT {', '.join(given)}, {self._names(*ERROR_COLUMNS)}"
            f" FROM {self._place(numbered.table)}",
            [self._id, self.key.query_id, self.key.batch_id, self.key.ctx, self.name.qualified],
        )


_MOST_TASKS = 8
"""How many connections a load uses at most."""

_SPARK_TYPES = {"real": "float", TEXT: "string", "timestamp": "timestamp_ntz", BIGINT: "bigint"}


@dataclass(frozen=True, slots=True)
class _Moved:
    """A staging table in the database.

    Args:
        table: its name, without the schema.
        columns: its columns, with the number of the type in `java.sql.Types`.
        rows: number of its rows.
        copies: for columns of a key that the table may round, the column of the values as they were in the frame.
    """

    table: str
    columns: Mapping[str, int]
    rows: int
    copies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JavaTables:
    """A `TableDatabase` behind a Java driver.

    Args:
        settings: the database, the table and the mode.
    """

    settings: JdbcWriteSettings

    def find(self) -> TableName:
        """See `TableDatabase`.

        Raises:
            ConfigError: also if the script's own statements may end a transaction, or no folder is there for the rows.
        """
        require_rows_only(self.settings.preactions, "preactions")
        require_rows_only(self.settings.postactions, "postactions")
        temp_dir_of(self.settings)
        with session(self.settings.endpoint) as begun:
            found = _found(begun, self.settings.table)
            if found.kind and ("VIEW" in found.kind.upper() or "SYNONYM" in found.kind.upper()):
                raise ConfigError(f"{found.name} is a {found.kind.lower()}; write to the table behind it.")
            named = (found.catalog if name_parts(self.settings.table)[0] else None, found.schema)
            schema = ".".join(begun.dialect.quoted(part) for part in named if part)
            for table in OWN_TABLES:
                _make_own(begun, found, table, schema)
            name = begun.dialect.quoted(found.name)
            by_primary_key = self.settings.mode is Mode.UPSERT and not self.settings.keys and found.kind
            keys = tuple(begun.primary_key(found)) if by_primary_key else ()
        return TableName(schema, name, exists=bool(found.kind), primary_key=keys)

    def sink(self, key: CommitKey, name: TableName) -> JavaSink:
        """See `TableDatabase`."""
        return JavaSink(temp_dir_of(self.settings), key, name.qualified)

    @contextmanager
    def publication(self, key: CommitKey, name: TableName) -> Iterator[JavaPublication]:
        """See `TableDatabase`."""
        with (
            opened_when_needed(lambda: session(self.settings.endpoint)) as beside,
            self._locked(key, name) as begun,
        ):
            publication = JavaPublication(begun, beside, self.settings, key, name)
            yield publication
        self._clear(name, publication)

    def drop_staged(self, key: CommitKey, name: TableName) -> None:
        """See `TableDatabase`."""
        # No publication of the query is under way while we hold its lock, so none of these tables is kept from now on.
        with self._locked(key, name) as begun:
            kept = JavaPublication(begun, lambda: begun, self.settings, key, name)._kept_of("1 = 1", [])  # noqa: SLF001
            of_write = staging_prefix(key)
            target = _found(begun, name.qualified)
            there = begun.tables(target.catalog, target.schema, begun.folded(of_write), begins=True)
            left = sorted({one.name for one in there} - {one["table"] for one in kept})
            open_storage(temp_dir_of(self.settings)).delete_folder(staging_folder(key), within="gluepot")
            self._drop(name, left)

    @contextmanager
    def _locked(self, key: CommitKey, name: TableName) -> Iterator[Session]:
        """Open a transaction that is the only one of its query: it changes a row that all of them change.

        The lock is given back exactly when the transaction ends, also when the connection dies.
        """
        with session(self.settings.endpoint) as begun:
            dialect = begun.dialect
            locks = f"{name.schema}.{dialect.quoted(begun.folded(LOCKS))}"
            query_id, taken = (dialect.quoted(begun.folded(one)) for one in ("query_id", "taken"))
            if not begun.rows(f"SELECT {query_id} FROM {locks} WHERE {query_id} = ?", [key.query_id]):
                with suppress(EtlError):  # another driver may have been faster; the update below tells
                    begun.run(f"INSERT INTO {locks} ({query_id}, {taken}) VALUES (?, 0)", [key.query_id])
            begun.begin()
            if not begun.run(f"UPDATE {locks} SET {taken} = {taken} + 1 WHERE {query_id} = ?", [key.query_id]):
                raise TransientError(f"the lock of query {key.query_id!r} in {locks} is gone; try again")
            yield begun
            begun.commit()

    def _clear(self, name: TableName, publication: JavaPublication) -> None:
        kept = {one["table"] for one in publication._appended}  # noqa: SLF001  its own database
        try:
            self._drop(name, [table for table in publication.doomed if table not in kept])
            open_storage(temp_dir_of(self.settings)).delete(publication.files)
        except EtlError as error:  # the write is published; the next one drops what is left
            log.warning("staged_rows_left", table=name.qualified, error=str(error))

    def _drop(self, name: TableName, tables: Sequence[str]) -> None:
        if tables:
            with session(self.settings.endpoint) as begun:
                for table in tables:
                    try:
                        begun.run(f"DROP TABLE {name.schema}.{begun.dialect.quoted(table)}")
                    except EtlError:  # another driver of the query may have dropped it since it was listed
                        target = _found(begun, name.qualified)
                        if begun.tables(target.catalog, target.schema, table):
                            raise


def temp_dir_of(settings: JdbcWriteSettings) -> str:
    """Return the folder for staged rows: the job's, or one of this machine if all tasks run here.

    Raises:
        ConfigError: tasks run on other machines, and the job has no folder.
    """
    if settings.temp_dir:
        return settings.temp_dir
    require_one_machine(spark_session().sparkContext.master or "", settings.endpoint.shown)
    return str(Path(tempfile.gettempdir()) / f"gluepot-jdbc-{os.getuid()}")


def _found(begun: Session, table: str) -> Found:
    catalog, schema, named = name_parts(table)
    return begun.find(*begun.place(catalog, schema), named)


def _make_own(begun: Session, beside: Found, table: str, schema: str) -> None:
    def is_there() -> bool:
        return bool(begun.find(beside.catalog, beside.schema, NamePart(table, quoted=False)).kind)

    if is_there():
        return
    names = {one: begun.dialect.quoted(begun.folded(one)) for one in statements.own_columns(table)}
    qualified = f"{schema}.{begun.dialect.quoted(begun.folded(table))}"
    try:
        begun.run(statements.create_own(begun.dialect, table, qualified, names))
    except EtlError:
        if not is_there():  # another driver may have created it at the same moment
            raise
