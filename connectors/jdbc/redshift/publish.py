"""The driver's side of a write: loads staged files, moves their rows and records the commit, in one transaction.

An append keeps its staged files until the next batch of the write is published. Redshift does not tell which
transaction has written a row. So if the same batch comes again with other input, these files tell which rows the
earlier try has appended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from uuid import uuid4

from gluepot.connectors.jdbc.publishing import COMMITS, Published, TableName
from gluepot.connectors.jdbc.redshift import statements
from gluepot.connectors.jdbc.redshift.actions import in_one_transaction, is_repeatable
from gluepot.connectors.jdbc.redshift.authorization import authorization
from gluepot.connectors.jdbc.redshift.catalog import columns_of, find_table, numbered_columns, primary_key
from gluepot.connectors.jdbc.redshift.names import match, quoted, require_distinct
from gluepot.connectors.jdbc.redshift.records import Records, create_tables, dump_receipt, load_receipt, receipts
from gluepot.connectors.jdbc.redshift.session import Session, connection, transaction
from gluepot.connectors.jdbc.redshift.staging import RedshiftSink, staging_folder
from gluepot.connectors.jdbc.redshift.statements import Stage, Target
from gluepot.connectors.jdbc.redshift.types import merged_kinds
from gluepot.connectors.jdbc.redshift_options import RedshiftOptions
from gluepot.connectors.jdbc.target import JdbcWriteSettings, Mode
from gluepot.connectors.values import CommitKey, StagedFile
from gluepot.core.errors import ConfigError, EtlError, PermanentError, TransientError
from gluepot.core.logging import get_logger
from gluepot.core.storage import Storage, open_storage

log = get_logger(__name__)


@dataclass(slots=True)
class RedshiftPublication:
    """A `Publication` in Redshift.

    Args:
        session: the transaction.
        settings: settings from the script.
        options: where files are staged, and how they are loaded.
        key: commit key of the write.
        name: name of the table.
        storage: the temporary folder.
        appended: files whose rows this transaction has appended.
        garbage: files that nobody needs once the transaction is committed.
        stages: number of temporary tables so far.
    """

    session: Session
    settings: JdbcWriteSettings
    options: RedshiftOptions
    key: CommitKey
    name: TableName
    storage: Storage
    appended: list[StagedFile] = field(default_factory=list)
    garbage: list[str] = field(default_factory=list)
    stages: int = 0

    @property
    def _records(self) -> Records:
        return Records(self.session, self.key, self.name)

    def published(self) -> Published | None:
        """See `Publication`."""
        return self._records.published()

    def record(self, record: str) -> None:
        """See `Publication`."""
        receipt = ""
        if self.appended:
            receipt = f"{staging_folder(self.key)}/{uuid4().hex}.receipt"
            self.storage.put(receipt, dump_receipt(self.appended))
        self._records.record(record, receipt)

    def renew(self, record: str, before: Published) -> None:  # noqa: ARG002  the receipt names the rows
        """See `Publication`."""
        self._records.record(record, self._records.receipt())

    def take_back(self, before: Published, rows: int) -> None:  # noqa: ARG002  the receipt names the rows
        """See `Publication`.

        If the table is gone, its rows are, too: scripts drop a table of their own after they have merged it into
        another.
        """
        if not rows:
            return
        columns = columns_of(self.session, self.name.schema, self.name.table)
        if not columns:
            self._require_repeatable(rows)
            return
        files = self._receipt(rows)
        target = self._target(columns, files)
        for statement in target.take_back(self._load(files)):
            self.session.run(statement)
        ((found,),) = self.session.rows(target.found)
        if found != rows:
            raise PermanentError(self._cannot(rows, f"of these only {found} are as it wrote them"))
        ((surplus,),) = self.session.rows(target.surplus)
        self.session.run(target.remove)
        if surplus:
            self.session.run(target.restore)
        for table in statements.TAKING_BACK:
            self.session.run(f"DROP TABLE {table}")

    def _require_repeatable(self, rows: int) -> None:
        if not is_repeatable(self.settings.postactions):
            raise PermanentError(
                self._cannot(rows, "the table is gone after postactions that only add rows to another table")
            )
        log.warning("write_not_taken_back", table=self.name.qualified, batch=self.key.batch_id, reason="table is gone")

    def _receipt(self, rows: int) -> list[StagedFile]:
        receipt = self._records.receipt()
        try:
            if receipt:
                return load_receipt(self.storage.get(receipt), self.name.qualified)
        except FileNotFoundError:
            pass
        raise PermanentError(
            self._cannot(rows, f"the files that tell which ones are not in {self.storage.url} any more")
        )

    def _cannot(self, rows: int, why: str) -> str:
        return (
            f"an earlier try of this write put {rows} rows into {self.name.qualified}, and {why}, so it cannot be"
            f" replaced; remove its rows by hand, and then its rows in {self.name.schema}.{COMMITS}"
            f" (query_id {self.key.query_id!r}, batch_id {self.key.batch_id})"
        )

    def left_over(self, before: Published) -> None:
        """See `Publication`."""

    def forget_rejects(self) -> None:
        """See `Publication`."""
        self._records.forget_rejects()

    def move(self, staged: Sequence[StagedFile], *, may_repeat: bool) -> Mapping[str, int]:
        """See `Publication`."""
        data = [one for one in staged if not one.rejects]
        columns = columns_of(
            self.session, self.name.schema, self.name.table
        )  # the script's own statements may have created the table
        made = not columns
        if made and data:
            self._create(data)
            columns = columns_of(self.session, self.name.schema, self.name.table)
        if self.settings.mode is Mode.OVERWRITE and not made:
            self.session.run(f"DELETE FROM {self.name.qualified}")  # TRUNCATE would commit
        if data:
            self._move(self._target(columns, data), self._load(data))
        if self.settings.mode is Mode.APPEND and may_repeat:
            self.appended = data
        for stage in self._load([one for one in staged if one.rejects]):
            self._records.keep_rejects(stage)
        return {}

    def _move(self, target: Target, stages: Sequence[Stage]) -> None:
        if self.settings.mode is not Mode.UPSERT:
            for stage in stages:
                self.session.run(target.insert(stage))
            return
        keys = [match(name, target.columns, self.name.qualified) for name in self._upsert_keys()]
        for query in filter(None, (target.changed_keys(stage, keys) for stage in stages)):
            ((changed,),) = self.session.rows(query)
            if changed:
                raise ConfigError(
                    f"{changed} rows for {self.name.qualified} have a value in {', '.join(keys)} that the table would"
                    " round, and two keys could become one; cast the field, or change the column."
                )
        self.session.run(target.newest(stages, keys))
        ((without,),) = self.session.rows(target.without_key(keys))
        if without:
            raise ConfigError(
                f"{without} rows for {self.name.qualified} have a null in {', '.join(keys)}, by which an upsert finds"
                " rows; fill it, or filter these rows out."
            )
        self.session.run(target.merge(keys))
        self.session.run(f"DROP TABLE {statements.ROWS}")

    def act(self, statements: str) -> None:
        """See `Publication`."""
        option = "preactions" if statements == self.settings.preactions else "postactions"
        for statement in in_one_transaction(statements, option):
            self.session.run(statement)
            self.session.require_open(f"A statement of {option}")

    def drop(self, staged: Sequence[StagedFile]) -> None:
        """See `Publication`."""
        kept = {one.staged for one in self.appended}
        self.garbage += [one.staged for one in staged if one.staged not in kept]

    def _create(self, staged: Sequence[StagedFile]) -> None:
        kinds = merged_kinds([one.encoding["kinds"] for one in staged])
        require_distinct(list(kinds), self.name.qualified)
        if not kinds:
            raise ConfigError(
                f"{self.name.qualified} does not exist, and the rows have no value from which to create its columns;"
                " create it first."
            )
        columns = [f"{quoted(name)} {kind}" for name, kind in kinds.items()]
        if self.settings.mode is Mode.UPSERT and self.settings.keys:
            columns.append(f"PRIMARY KEY ({', '.join(map(quoted, self.settings.keys))})")
        self.session.run(f"CREATE TABLE {self.name.qualified} ({', '.join(columns)})")

    def _target(self, columns: Mapping[str, str], staged: Sequence[StagedFile]) -> Target:
        names = list(merged_kinds([one.encoding["kinds"] for one in staged]))
        require_distinct(names, self.name.qualified)
        matched = {name: match(name, list(columns), self.name.qualified) for name in names}
        # A column of nulls is written, too, unless the table lacks it or numbers it.
        nulls = sorted({name for one in staged for name in one.encoding.get("nulls", ())} - {*names})
        known = {name.lower() for name in columns}
        counted = numbered_columns(self.session, self.name) if nulls else ()
        for name in nulls:
            if name.lower() in known:
                column = match(name, list(columns), self.name.qualified)
                if column not in counted and column not in matched.values():
                    matched[name] = column
        return Target(self.name.qualified, self.name.table, columns, matched, self.options.truncates)

    def _load(self, staged: Sequence[StagedFile]) -> list[Stage]:
        """Load files into temporary tables, those with the same columns into one."""

        def shape(one: StagedFile) -> tuple[list[tuple[str, str]], bool]:
            return list(one.encoding["kinds"].items()), one.encoding["numbered"]

        return [
            self._copy(dict(kinds), list(files), numbered=numbered)
            for (kinds, numbered), files in groupby(sorted(staged, key=shape), key=shape)
        ]

    def _copy(self, kinds: Mapping[str, str], files: Sequence[StagedFile], *, numbered: bool) -> Stage:
        self.stages += 1
        stage = Stage(f"gluepot_stage_{self.stages}", kinds, numbered)
        self.session.run(statements.create_stage(stage))
        listing = f"{staging_folder(self.key)}/{uuid4().hex}.manifest"
        self.garbage.append(listing)
        urls = {f"{self.storage.url}/{one.staged}": one.size_bytes for one in files}
        self.storage.put(listing, statements.manifest(urls))
        url = f"{self.storage.url}/{listing}"
        try:
            self.session.run(
                statements.copy(stage.table, url, authorization(self.options.iam_role), self.options.copy_options)
            )
        except EtlError as error:
            self._require_there(files, error)
            raise
        ((loaded,),) = self.session.rows(f"SELECT COUNT(*) FROM {stage.table}")
        expected = sum(one.rows for one in files)
        if loaded != expected:
            raise TransientError(f"COPY loaded {loaded} of {expected} staged rows for {self.name.qualified}; try again")
        return stage

    def _require_there(self, files: Sequence[StagedFile], error: EtlError) -> None:
        there = set(self.storage.list(staging_folder(self.key)))
        gone = [one.staged for one in files if one.staged not in there]
        if gone:
            raise TransientError(
                f"{len(gone)} staged files for {self.name.qualified} are gone from {self.storage.url}; try again"
            ) from error

    def _upsert_keys(self) -> Sequence[str]:
        found = self.settings.keys or primary_key(self.session, self.name)
        if not found:
            raise ConfigError(
                f"An upsert into {self.name.qualified} needs upsertKeys: the table has no primary key; name the columns"
                " that tell rows apart."
            )
        return found


@dataclass(frozen=True, slots=True)
class RedshiftTables:
    """A `TableDatabase` of Redshift.

    Args:
        settings: the database, the table and the mode.
        options: where files are staged, and how they are loaded.
    """

    settings: JdbcWriteSettings
    options: RedshiftOptions

    def find(self) -> TableName:
        """See `TableDatabase`."""
        for option in ("preactions", "postactions"):
            list(in_one_transaction(getattr(self.settings, option), option))  # refused before any task runs
        with connection(self.settings.endpoint) as begun:
            name = find_table(begun, self.settings.table)
            create_tables(begun, name.schema)
            if self.settings.mode is Mode.UPSERT and not self.settings.keys:
                name = replace(name, primary_key=primary_key(begun, name))
        return name

    def sink(self, key: CommitKey, name: TableName) -> RedshiftSink:
        """See `TableDatabase`."""
        numbered = self.settings.mode is Mode.UPSERT
        return RedshiftSink(self.options.temp_dir, key, name.qualified, numbered)

    @contextmanager
    def publication(self, key: CommitKey, name: TableName) -> Iterator[RedshiftPublication]:
        """See `TableDatabase`."""
        storage = open_storage(self.options.temp_dir)
        with transaction(self.settings.endpoint, f"{name.schema}.{COMMITS}") as begun:
            publication = RedshiftPublication(begun, self.settings, self.options, key, name, storage)
            yield publication
        with suppress(EtlError):  # the write is published; what stays is removed before the next one
            storage.delete(publication.garbage)

    def drop_staged(self, key: CommitKey, name: TableName) -> None:
        """See `TableDatabase`. Files that a receipt names stay, with the receipt.

        The table of records is locked until they are removed. If the answer to a commit was lost, it may still be on
        its way, and its receipt becomes visible only then. And another driver cannot publish files between the look at
        the receipts and the removal.
        """
        storage = open_storage(self.options.temp_dir)
        # Listed before the records are read, so that a file which is staged and published meanwhile is not removed.
        listed = storage.list(staging_folder(key))
        if not listed:
            return
        with transaction(self.settings.endpoint, f"{name.schema}.{COMMITS}") as begun:
            kept = receipts(begun, key, name)
            for receipt in list(kept):
                if receipt in listed:
                    kept.update(one.staged for one in load_receipt(storage.get(receipt), name.qualified))
            storage.delete(one for one in listed if one not in kept)
