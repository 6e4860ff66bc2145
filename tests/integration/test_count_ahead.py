"""A batch that is counted and then used in the same way, time after time, is read once: the count does that already.

And `if data_frame.count() > 0`, as Glue's own templates begin a batch function, does not read the batch for it.
"""

from __future__ import annotations

import pytest

from awsglue import DynamicFrame
from awsglue.transforms import ApplyMapping, Filter

BATCHES = 5
EACH = 10
ALL = list(range(BATCHES * EACH))


def results(monkeypatch, owner, name):
    """Have a function note what it returns; return the list it notes it in."""
    seen, function = [], getattr(owner, name)

    def noting(*given):
        seen.append(function(*given))
        return seen[-1]

    monkeypatch.setattr(owner, name, noting)
    return seen


@pytest.fixture
def ahead(monkeypatch):
    """What each batch's count had from the use that was expected; None where it had to read by itself."""
    from gluepot.streaming.micro_batch.context import BatchContext

    return results(monkeypatch, BatchContext, "count")


@pytest.fixture
def counted(monkeypatch):
    """The batches that were counted by reading them."""
    from gluepot.engine import execute

    return results(monkeypatch, execute, "count_raw")


def run(topic, job, function):
    """Run a function on batches of ten numbers, after a count; return the counts."""
    counts = []

    def counted(data_frame, batch_id):
        counts.append(data_frame.count())
        if counts[-1] > 0:
            function(DynamicFrame.fromDF(data_frame, job.glue_context, "frame"), batch_id)

    drain(topic, job, counted)
    return counts


def drain(topic, job, function):
    """Run a function on batches of ten numbers."""
    topic.send_json(*({"n": n} for n in ALL), partition=0)
    return job.drain(topic.options(maxOffsetsPerTrigger=EACH), function, smallBatchRecords="0")


def numbers(job):
    return sorted(int(row[0]) for row in job.rows("n"))


def left_behind(job):
    return [path for folder in job.table.rglob("staging/*") for path in folder.iterdir()]


def test_from_the_second_batch_on_the_write_counts(topic, job, ahead):
    def function(frame, batch_id):
        job.write(ApplyMapping.apply(frame, mappings=[("n", "long", "n", "int")], transformation_ctx="mapped"))

    counts = run(topic, job, function)

    assert counts == [EACH] * BATCHES
    assert ahead == [None, *[EACH] * (BATCHES - 1)]
    assert numbers(job) == ALL
    assert left_behind(job) == []


def test_records_that_cannot_be_read_count(topic, job, ahead):
    topic.send(b"{", partition=0)

    assert run(topic, job, lambda frame, _: job.write(frame)) == [EACH] * BATCHES + [1]
    assert numbers(job) == ALL
    assert len(job.rejects()) == 1


def in_every_other_batch(frame, job, batch_id):
    if batch_id % 2:
        job.write(frame)


def not_at_the_end(frame, job, batch_id):
    if batch_id < BATCHES - 1:
        job.write(frame)


def with_other_steps(frame, job, batch_id):
    job.write(frame.rename_field("n", "m").rename_field("m", "n") if batch_id % 2 else frame)


def elsewhere(frame, job, batch_id):
    job.write(frame, path=f"{job.table}/part-{batch_id}")


def by_code_of_its_own(frame, job, batch_id):
    job.write(Filter.apply(frame, lambda row: row["n"] % 2 == 0))


def again_and_again(frame, job, batch_id):
    for _ in range(batch_id):
        job.write(frame)


@pytest.mark.parametrize(
    ("write", "written"),
    [
        (in_every_other_batch, [n for n in ALL if n // EACH % 2]),
        (not_at_the_end, ALL[:-EACH]),
        (with_other_steps, ALL),
        (elsewhere, ALL),
        (by_code_of_its_own, [n for n in ALL if n % 2 == 0]),
        (again_and_again, [n for n in ALL for _ in range(n // EACH)]),
    ],
)
def test_a_function_that_does_something_else_gets_what_it_asked_for(topic, job, write, written):
    counts = run(topic, job, lambda frame, batch_id: write(frame, job, batch_id))

    assert counts == [EACH] * BATCHES
    assert numbers(job) == written
    assert left_behind(job) == []


def test_a_function_that_fails_after_its_count_is_tried_again(topic, job):
    failures = []

    def function(frame, batch_id):
        if batch_id == 3 and not failures:
            failures.append(batch_id)
            raise RuntimeError("once")
        job.write(frame)

    run(topic, job, function)

    assert failures == [3]
    assert numbers(job) == ALL
    assert left_behind(job) == []


def test_rows_that_are_used_each_time_are_decoded_by_the_count(topic, job, ahead):
    seen = []

    counts = run(topic, job, lambda frame, _: seen.extend(row.n for row in frame.toDF().collect()))

    assert counts == [EACH] * BATCHES
    assert ahead == [None, *[EACH] * (BATCHES - 1)]
    assert sorted(seen) == ALL


def test_records_without_rows_count(topic, job, ahead):
    for broken in (b"{", b"", None, b"[1]"):
        topic.send(broken, partition=1)
    seen = []

    counts = run(topic, job, lambda frame, _: seen.extend(row.n for row in frame.toDF().collect()))

    assert sum(counts) == len(ALL) + 4
    assert len([count for count in ahead if count is not None]) == len(counts) - 1
    assert sorted(seen) == ALL


def test_rows_that_are_used_now_and_then_are_all_there(topic, job):
    seen = []

    def function(frame, batch_id):
        if batch_id % 2:
            seen.extend(row.n for row in frame.toDF().collect())

    assert run(topic, job, function) == [EACH] * BATCHES
    assert sorted(seen) == [n for n in ALL if n // EACH % 2]


def test_rows_and_a_write_of_their_own_both_are_whole(topic, job):
    seen = []

    def function(frame, _):
        seen.extend(row.n for row in frame.toDF().collect())
        job.write(frame)

    assert run(topic, job, function) == [EACH] * BATCHES
    assert sorted(seen) == numbers(job) == ALL
    assert left_behind(job) == []


def test_a_guard_reads_nothing(topic, job, counted):
    def function(data_frame, batch_id):
        if data_frame.count() > 0:
            job.copy(data_frame, batch_id)

    seen = drain(topic, job, function)

    assert counted == []
    assert [stats.rows_in for stats in seen] == [EACH] * BATCHES
    assert numbers(job) == ALL


def test_what_is_read_again_and_again_is_counted_and_kept(topic, job, counted):
    def function(data_frame, batch_id):
        if data_frame.count() == 0:
            return
        frame = DynamicFrame.fromDF(data_frame, job.glue_context, "frame")
        for folder in ("a", "b"):
            job.write(frame, path=str(job.table / folder))

    drain(topic, job, function)

    assert counted == [EACH] * (BATCHES - 1)
    assert numbers(job) == sorted(2 * ALL)
