"""Whatever a batch function does with its frame moves no position: nothing is lost or doubled while records arrive."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gluepot.streaming.query import session
from tests.integration.conftest import Job, Stream

BATCHES = 3
SUBS = 10**7
"""A position is a sequence number times this."""

Function = Callable[[Job, Any, int], None]


def table_of(job: Job, stream: Stream, function: Function, **settings: Any) -> tuple[list[int], list[int]]:
    """Run a function while records arrive and on to their end; return the numbers sent and those in the table."""

    def call(frame: Any, batch_id: int) -> None:
        function(job, frame, batch_id)

    told = {"connection_type": "kinesis", "windowSize": "0 seconds", **settings}
    with stream.records_arriving() as sent:
        seen = job.drain(stream.options(), call, drain=session.Drain(max_batches=BATCHES), **told)
        assert len(seen) == BATCHES
    job.drain(stream.options(), call, **told)
    return sent, sorted(n for (n,) in job.rows("n"))


def is_empty_first(job: Job, frame: Any, batch_id: int) -> None:
    if not frame.isEmpty():
        job.copy(frame, batch_id)


def count_last(job: Job, frame: Any, batch_id: int) -> None:
    job.copy(frame, batch_id)
    assert frame.count() > 0


def take_one_last(job: Job, frame: Any, batch_id: int) -> None:
    job.copy(frame, batch_id)
    assert len(frame.take(1)) == 1


def cache_dropped(job: Job, frame: Any, batch_id: int) -> None:
    from awsglue import DynamicFrame

    rows = frame.select("*").persist()
    before = rows.count()
    job.glue_context.spark_session.catalog.clearCache()
    job.write(DynamicFrame.fromDF(rows, job.glue_context, "rows"))
    assert rows.count() == before
    rows.unpersist()


@pytest.mark.parametrize(
    ("function", "persisted"),
    [(is_empty_first, "false"), (count_last, "false"), (take_one_last, "true"), (cache_dropped, "true")],
)
def test_every_record_is_in_the_table_once(job, kinesis_stream, function, persisted):
    sent, found = table_of(job, kinesis_stream, function, persistDataFrame=persisted)

    assert found == sent


def test_a_batch_that_nothing_is_done_with_takes_none_of_its_neighbours_records_along(job, kinesis_stream):
    skipped: list[int] = []

    def every_other(job: Job, frame: Any, batch_id: int) -> None:
        if batch_id % 2:
            job.copy(frame, batch_id)
        else:
            skipped.append(batch_id)

    sent, found = table_of(job, kinesis_stream, every_other)

    passed_over = {
        n for batch_id in skipped for n in numbers_in(kinesis_stream, job.checkpoint / f"offsets/{batch_id}")
    }
    assert passed_over
    assert found == [n for n in sent if n not in passed_over]


def test_a_write_that_fails_half_way_leaves_nothing_and_is_done_again(job, kinesis_stream, tmp_path):
    trouble = tmp_path / "trouble"
    trouble.touch()

    def break_once(record: Any, path: str = str(trouble)) -> Any:
        if record["n"] % 20 == 10 and Path(path).exists():
            Path(path).unlink()
            os._exit(1)  # an exception would make an error record of the one, not of the write a failure
        return record

    def write(job: Job, frame: Any, batch_id: int) -> None:
        from awsglue import DynamicFrame

        job.write(DynamicFrame.fromDF(frame, job.glue_context, "frame").map(f=break_once))

    sent, found = table_of(job, kinesis_stream, write)

    assert not trouble.exists()
    assert found == sent


def numbers_in(stream: Stream, entry: Path) -> Iterator[int]:
    """The numbers of the records in a batch, as the stream has them where the offset log says."""
    spans = json.loads(entry.read_text().splitlines()[-1])["streams"][stream.name]["spans"]
    for record in stream.records():
        start, end = spans.get(record["ShardId"], (0, 0))
        if start <= int(record["SequenceNumber"]) * SUBS < end:
            yield json.loads(record["Data"])["n"]
