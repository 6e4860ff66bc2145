"""A write to a database table: tasks stage the rows, and one transaction publishes them, once per commit key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gluepot.commit.decide import Adopt, Fenced, Skip, Write, decide, seal
from gluepot.commit.record import CommitRecord
from gluepot.connectors.contracts import TaskSink
from gluepot.connectors.jdbc.databases import table_database
from gluepot.connectors.jdbc.publishing import (
    COMMITS,
    REFUSED,
    Publication,
    Published,
    Superseding,
    TableName,
    superseding,
)
from gluepot.connectors.jdbc.target import JdbcWriteSettings, Mode
from gluepot.connectors.values import AlreadyCommitted, CommitKey, Committed, Manifest, ManifestPart, StagedFile
from gluepot.core.errors import LeaseHeld, PermanentError
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.engine import execute
from gluepot.engine.pipeline import Pipeline, is_unique
from gluepot.frames.chunk import Chunk
from gluepot.frames.rows_digest import MODULUS, rows_digest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = get_logger(__name__)


def write_table(
    spark: SparkSession, pipeline: Pipeline, settings: JdbcWriteSettings, name: TableName, planned: Manifest
) -> tuple[Committed | AlreadyCommitted, Sequence[ManifestPart]]:
    """Run a pipeline into a table: everything or nothing, and each write once.

    The transaction that changes the rows also records what was published under the commit key. If the same key comes
    again with the same input and the same work or equal rows, the write is skipped. Otherwise, an append removes the
    rows of the earlier try, and an upsert overwrites them (docs/decisions/0066-a-retry-compares-rows.md).

    Args:
        spark: the session.
        pipeline: gives the records.
        settings: the database, the table and the mode.
        name: the table, as `TableDatabase.find` has found it.
        planned: the manifest without parts. If its input and work are known and were published already, no task runs.

    Raises:
        ConfigError: the table does not fit the rows.
        LeaseHeld: a later driver has taken over.
        PermanentError: an earlier try of the write cannot be taken back, or left rows that this one does not replace.
    """
    database = table_database(settings)
    database.drop_staged(planned.key, name)
    planned = replace(planned, mode=settings.mode.value, actions=_actions(settings))
    if planned.ranges or planned.offsets_digest:
        with database.publication(planned.key, name) as begun:
            if (record := _adopted(begun, planned)) is not None:
                return AlreadyCommitted((), record.rows_out), [record.as_part()]
    try:
        sink, keys = database.sink(planned.key, name), settings.keys or name.primary_key
        if keys or is_unique(planned.work):
            sink = DigestingSink(sink, keys)
        parts = execute.stage(spark, pipeline, sink, str(planned.token))
        reach("jdbc.staged")
        staged = [file for part in parts for file in part.files]
        # The record must not list staging tables as files.
        manifest = replace(planned, parts=[replace(part, files=()) for part in parts])
        with database.publication(planned.key, name) as begun:
            outcome, refused = _publish(begun, manifest, staged)
            reach("jdbc.publishing")
        reach("jdbc.published")
        parts = [_less(part, refused) for part in parts]
    except BaseException:
        database.drop_staged(planned.key, name)
        raise
    return outcome, parts


def rehearse_table(
    spark: SparkSession, pipeline: Pipeline, settings: JdbcWriteSettings, name: TableName, planned: Manifest
) -> None:
    """Run a pipeline and stage its rows, then remove them instead of publishing them."""
    database = table_database(settings)
    database.drop_staged(planned.key, name)
    try:
        execute.stage(spark, pipeline, database.sink(planned.key, name), str(planned.token))
    finally:
        database.drop_staged(planned.key, name)


def take_back_table(settings: JdbcWriteSettings, name: TableName, key: CommitKey, token: int) -> None:
    """Take back what an earlier attempt of a batch has published under a key, and prevent later publishing under it.

    Staging tables that the attempt left are dropped, too: if nothing wrote to the table again, they would stay for
    ever.

    We no longer know which rows an upsert or an overwrite has replaced, so we do not take these writes back.

    Raises:
        LeaseHeld: a later driver has taken over.
        PermanentError: rows of the write have been changed since.
    """
    database = table_database(settings)
    with database.publication(key, name) as begun:
        before = begun.published()
        earlier = None if before is None else CommitRecord.from_bytes(before.record.encode())
        if earlier is not None and earlier.token > token:
            raise _fenced(Manifest(key, token=token), earlier)
        if before is not None and earlier is not None and not earlier.is_nothing:
            begun.forget_rejects()
            if settings.mode is Mode.APPEND:
                begun.take_back(before, earlier.rows_out)
            else:
                log.warning("write_not_taken_back", table=name.qualified, batch=key.batch_id, mode=settings.mode.value)
        generation = 1 if earlier is None else earlier.generation + 1
        begun.record(seal(key, generation, token, None).to_bytes().decode())
    database.drop_staged(key, name)


@dataclass(frozen=True, slots=True)
class DigestingSink:
    """Stages rows in another sink, and computes digests of the rows and of the keys of an upsert.

    Args:
        sink: stages the rows.
        keys: columns by which an upsert finds rows, in any case; empty for other writes.
    """

    sink: TaskSink
    keys: tuple[str, ...] = ()

    def write(self, chunks: Iterator[Chunk], task: int, attempt: str) -> ManifestPart:
        """See `TaskSink`."""
        keys = {name.lower() for name in self.keys}
        rows_total = keys_total = 0

        def digested() -> Iterator[Chunk]:
            nonlocal rows_total, keys_total
            for chunk in chunks:
                rows_total += rows_digest(chunk.batch)
                if keys:
                    columns = {name for name in chunk.batch.schema.names if name.lower() in keys}
                    keys_total += rows_digest(chunk.batch, columns)
                yield chunk

        part = self.sink.write(digested(), task, attempt)
        return replace(part, rows_digest=rows_total % MODULUS, keys_digest=keys_total % MODULUS if keys else None)


def _actions(settings: JdbcWriteSettings) -> str:
    """Return text that is equal only for writes that the script's own statements and the keys change equally."""
    how = [*settings.keys, settings.preactions, settings.postactions]
    return hashlib.sha256(json.dumps(how).encode()).hexdigest()[:16] if any(how) else ""


def _decided(manifest: Manifest, earlier: CommitRecord | None) -> Skip | Adopt | Write | Fenced:
    """Decide as for files; a record of an older Gluepot does not name its work, and then the input alone decides."""
    is_old = earlier is not None and not earlier.work and not earlier.is_nothing
    return decide(replace(manifest, work="") if is_old else manifest, earlier)


def _superseded(begun: Publication, before: Published, earlier: CommitRecord) -> Superseding:
    """Remove what an earlier try wrote, where that is possible before the rows of this try are written.

    Raises:
        PermanentError: nobody knows which rows the earlier try replaced or deleted.
    """
    begun.forget_rejects()
    now = begun.settings.mode
    fate = superseding(Mode(earlier.mode) if earlier.mode else now, now, earlier.rows_out)
    if fate is Superseding.TAKE_BACK:
        begun.take_back(before, earlier.rows_out)
    if fate is Superseding.IMPOSSIBLE:
        raise PermanentError(
            f"an earlier try of this write, {earlier.key.ctx!r} of batch {earlier.key.batch_id}, was an"
            f" {earlier.mode} of {earlier.rows_out} rows into {begun.settings.table}, and this one is an {now.value}:"
            f" the rows that it replaced are not known any more; restore the table, then remove the write's row from"
            f" {COMMITS} (query_id {earlier.key.query_id!r}, batch_id {earlier.key.batch_id})"
        )
    return fate


def _require_same_keys(begun: Publication, before: Published, earlier: CommitRecord, record: CommitRecord) -> None:
    """Check that an upsert replaced each row that an earlier try of it had upserted.

    Raises:
        PermanentError: it did not, or nobody can tell, and the input is the same: so the script wants other rows.
    """
    if not earlier.mode or (record.keys_digest and record.keys_digest == earlier.keys_digest):
        return
    rows = begun.left_over(before)
    if rows == 0:
        return
    table, batch = begun.settings.table, earlier.key.batch_id
    if rows is None and record.input != earlier.input:
        log.warning(
            "upserted_rows_may_be_left",
            table=table,
            batch=batch,
            hint="an earlier try of this write read other records; rows of keys that only it had stay in the table",
        )
        return
    raise PermanentError(
        f"an earlier try of this write, {earlier.key.ctx!r} of batch {batch}, upserted {earlier.rows_out} rows into"
        f" {table}, and this one has other keys, so"
        f" {'some' if rows is None else rows} of those rows would stay; correct them by hand, then remove the write's"
        f" row from {COMMITS} (query_id {earlier.key.query_id!r}, batch_id {batch})"
    )


def _adopted(begun: Publication, planned: Manifest) -> CommitRecord | None:
    """Return the record under which the manifest's input was published already; None if the tasks have to run."""
    before = begun.published()
    if before is None:
        return None
    match _decided(planned, CommitRecord.from_bytes(before.record.encode())):
        case Fenced(record):
            raise _fenced(planned, record)
        case Skip(record):
            return record
        case Adopt(record):
            begun.renew(record.to_bytes().decode(), before)
            return record
        case Write():
            return None


def _less(part: ManifestPart, refused: Mapping[str, int]) -> ManifestPart:
    """Return what a task reports, without the rows of its staging tables that the database has refused."""
    lost = sum(refused.get(file.staged, 0) for file in part.files)
    if not lost:
        return part
    rejected = {**part.rejected, REFUSED: part.rejected.get(REFUSED, 0) + lost}
    return replace(part, rows_out=part.rows_out - lost, rejected=rejected)


def _publish(
    begun: Publication, manifest: Manifest, staged: Sequence[StagedFile]
) -> tuple[Committed | AlreadyCommitted, Mapping[str, int]]:
    """Publish in an open transaction; return the outcome, and how many rows of each staging table were refused."""
    before = begun.published()
    earlier = None if before is None else CommitRecord.from_bytes(before.record.encode())
    match _decided(manifest, earlier):
        case Fenced(record):
            raise _fenced(manifest, record)
        case Skip(record):
            begun.drop(staged)
            return AlreadyCommitted((), record.rows_out), {}
        case Adopt(record):
            assert before is not None
            begun.renew(record.to_bytes().decode(), before)
            begun.drop(staged)
            return AlreadyCommitted((), record.rows_out), {}
        case Write(record, superseded):
            fate = Superseding.LEAVE
            if before is not None and superseded is not None:
                fate = _superseded(begun, before, superseded)
            begun.act(begun.settings.preactions)
            # Without a lease and a known input the key is of this run alone.
            refused = begun.move(
                staged, may_repeat=bool(manifest.token or manifest.input_ranges or manifest.offsets_digest)
            )
            if before is not None and superseded is not None and fate is Superseding.UPSERT_AGAIN:
                _require_same_keys(begun, before, superseded, record)
            begun.act(begun.settings.postactions)
            begun.drop(staged)
            if lost := sum(refused.values()):
                rejected = {**record.rejected, REFUSED: record.rejected.get(REFUSED, 0) + lost}
                record = replace(record, rows_out=record.rows_out - lost, rejected=rejected)
            begun.record(record.to_bytes().decode())
            return Committed((), record.rows_out), refused


def _fenced(manifest: Manifest, record: CommitRecord) -> LeaseHeld:
    return LeaseHeld(
        f"batch {manifest.key.batch_id} of query {manifest.key.query_id} was published by driver {record.token},"
        f" and this one is {manifest.token}: another driver has taken over, so this one ends"
    )
