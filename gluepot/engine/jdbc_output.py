"""A write to a database table: tasks stage the rows, and one transaction publishes them, once per commit key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gluepot.commit.decide import Adopt, Fenced, Skip, Write, decide, seal
from gluepot.commit.record import CommitRecord
from gluepot.connectors.jdbc.databases import table_database
from gluepot.connectors.jdbc.publishing import REFUSED, Publication, TableName
from gluepot.connectors.jdbc.target import JdbcWriteSettings, Mode
from gluepot.connectors.values import AlreadyCommitted, CommitKey, Committed, Manifest, ManifestPart, StagedFile
from gluepot.core.errors import LeaseHeld
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.engine import execute
from gluepot.engine.pipeline import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = get_logger(__name__)


def write_table(
    spark: SparkSession, pipeline: Pipeline, settings: JdbcWriteSettings, name: TableName, planned: Manifest
) -> tuple[Committed | AlreadyCommitted, Sequence[ManifestPart]]:
    """Run a pipeline into a table: everything or nothing, and each write once.

    The transaction that changes the rows also records what was published under the commit key. If the same key comes
    again with the same input, the write is skipped. With other input, an append removes the rows of the earlier try,
    and an upsert overwrites them.

    Args:
        spark: the session.
        pipeline: gives the records.
        settings: the database, the table and the mode.
        name: the table, as `TableDatabase.find` has found it.
        planned: the manifest without parts. If its input is known and was published already, no task runs.

    Raises:
        ConfigError: the table does not fit the rows.
        LeaseHeld: a later driver has taken over.
        PermanentError: an earlier try of the write cannot be taken back.
    """
    database = table_database(settings)
    database.drop_staged(planned.key, name)
    if planned.ranges or planned.offsets_digest:
        with database.publication(planned.key, name) as begun:
            if (record := _adopted(begun, planned)) is not None:
                return AlreadyCommitted((), record.rows_out), [record.as_part()]
    try:
        parts = execute.stage(spark, pipeline, database.sink(planned.key, name), str(planned.token))
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


def _adopted(begun: Publication, planned: Manifest) -> CommitRecord | None:
    """Return the record under which the manifest's input was published already; None if the tasks have to run."""
    before = begun.published()
    if before is None:
        return None
    match decide(planned, CommitRecord.from_bytes(before.record.encode())):
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
    match decide(manifest, earlier):
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
            if before is not None and superseded is not None:
                begun.forget_rejects()
                if begun.settings.mode is Mode.APPEND:
                    begun.take_back(before, superseded.rows_out)
            begun.act(begun.settings.preactions)
            # Without a lease and a known input the key is of this run alone.
            refused = begun.move(
                staged, may_repeat=bool(manifest.token or manifest.input_ranges or manifest.offsets_digest)
            )
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
