"""A batch that becomes a DataFrame is read and decoded once, however often the function uses the rows."""

from __future__ import annotations

import gc
import json
import time
from pathlib import Path

import pytest
from pyspark import StorageLevel

from awsglue.dynamicframe import DynamicFrame
from gluepot.connectors.contracts import StreamReading
from gluepot.connectors.values import RawBatch, SourceRange
from gluepot.engine import row_folders, row_frames
from gluepot.engine.pipeline import RangeInput
from gluepot.engine.rejects import Rejects
from gluepot.streaming.micro_batch.frames import BatchFrame

RANGES = tuple(SourceRange("kafka", "clicks", "", str(shard), 0, 4) for shard in range(2))


def noting_source(folder: Path):
    """A source of four records a range, one of them broken, that leaves a file for every time a range is read."""

    class Noting:
        def read(self, wanted):
            (folder / f"{wanted.shard}-{len(list(folder.glob(f'{wanted.shard}-*')))}").touch()
            n = int(wanted.shard)
            documents = [json.dumps({"n": n, "s": "a"}), "{", json.dumps({"n": n + 0.5}), json.dumps({"late": [n]})]
            yield RawBatch([one.encode() for one in documents[:2]], [0, 1], "clicks", wanted.shard)
            yield RawBatch([one.encode() for one in documents[2:]], [2, 3], "clicks", wanted.shard)

        def count(self, wanted):
            return wanted.end - wanted.start

    return Noting()


@pytest.fixture
def noted(tmp_path):
    folder = tmp_path / "reads"
    folder.mkdir()
    return folder


@pytest.fixture
def new_batch(glue_context, noted):
    made = []

    def new(level=StorageLevel.MEMORY_AND_DISK):
        texts = glue_context.spark_session.createDataFrame([("{}",)], "data string")
        given = RangeInput(StreamReading(noting_source(noted)), RANGES)
        made.append(BatchFrame(texts, given, "data", level, Rejects(None, "query", 0)))
        return made[-1]

    yield new
    for one in made:
        one.release()


def rows(frame):
    return sorted((row.n is None, row.n or 0.0, row.s, row.late) for row in frame.collect())


ROWS = [
    (False, 0.0, "a", None),
    (False, 0.5, None, None),
    (False, 1.0, "a", None),
    (False, 1.5, None, None),
    (True, 0.0, None, [0]),
    (True, 0.0, None, [1]),
]


def reads(noted):
    return sorted(file.name for file in noted.iterdir())


def test_a_batch_is_read_once_for_all_frames_and_all_actions(glue_context, new_batch, noted):
    batch = new_batch()

    first = DynamicFrame.fromDF(batch, glue_context, "first").toDF()
    second = DynamicFrame.fromDF(batch, glue_context, "second").drop_fields(["late"]).toDF()

    assert (first.count(), second.columns, first.selectExpr("sum(n)").first()[0]) == (6, ["n", "s"], 3.0)
    assert first.join(second, "n").count() == 4
    assert reads(noted) == ["0-0", "1-0"]


def test_rows_are_the_same_kept_or_not(glue_context, new_batch):
    kept, anew = (
        DynamicFrame.fromDF(new_batch(level), glue_context).toDF() for level in (StorageLevel.DISK_ONLY, None)
    )

    assert kept.schema == anew.schema
    assert rows(kept) == rows(anew) == ROWS


@pytest.fixture
def in_chunks(glue_context):
    """Keep records as chunks in Spark's storage, as on a cluster, whose workers share no files with the driver."""
    glue_context.spark_session.conf.set(row_frames.SETTING, "false")
    yield
    glue_context.spark_session.conf.unset(row_frames.SETTING)


def test_files_that_are_kept_go_when_no_frame_reads_them_any_more(glue_context, new_batch, noted):
    before = dict(row_folders.known_files())
    batch, later = new_batch(), new_batch()
    frame = DynamicFrame.fromDF(batch, glue_context).toDF()
    changed = DynamicFrame.fromDF(batch, glue_context).drop_fields(["late"]).toDF()
    files = row_folders.known_files().keys() - before.keys()
    assert len(files) == 2

    batch.release()

    assert (frame.count(), changed.count()) == (6, 6)
    assert reads(noted) == ["0-0", "1-0"]
    assert DynamicFrame.fromDF(batch, glue_context).toDF().count() == 6
    assert "0-1" in reads(noted)

    del frame, changed
    DynamicFrame.fromDF(later, glue_context).toDF()
    for _ in range(50):  # the JVM hears a little later that Python has let go of its objects
        gc.collect()
        glue_context.spark_session.sparkContext._jvm.System.gc()
        later.release()
        if not any(Path(file).exists() for file in files):
            break
        time.sleep(0.1)

    assert not any(Path(file).exists() for file in files)
    assert not files & row_folders.known_files().keys()


@pytest.mark.usefixtures("in_chunks")
def test_what_was_kept_is_dropped_with_the_batch_and_read_again_by_who_still_asks(
    glue_context, new_batch, noted, persisted_rdds
):
    before = persisted_rdds()
    batch = new_batch()
    frame = DynamicFrame.fromDF(batch, glue_context).toDF()
    assert persisted_rdds() > before

    batch.release()

    assert persisted_rdds() == before
    assert frame.count() == 6
    assert reads(noted) == ["0-0", "0-1", "1-0", "1-1"]


def test_a_question_for_the_schema_alone_keeps_nothing(glue_context, new_batch, persisted_rdds):
    before = persisted_rdds()

    schema = DynamicFrame.fromDF(new_batch(), glue_context).schema()

    assert [field.name for field in schema.fields] == ["n", "s", "late"]
    assert persisted_rdds() == before


def test_spark_knows_how_large_the_rows_are_so_that_it_does_not_broadcast_a_large_batch(glue_context, new_batch):
    def size_bytes(level):
        frame = DynamicFrame.fromDF(new_batch(level), glue_context).toDF()
        return int(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())

    assert size_bytes(None) < 500 < size_bytes(StorageLevel.MEMORY_ONLY)
