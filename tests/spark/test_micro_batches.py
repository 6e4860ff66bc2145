"""What the batch function is given, and between which batches a job ends."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from awsglue.dynamicframe import DynamicFrame
from gluepot.engine import row_folders
from gluepot.frames.magic import magic_column
from gluepot.streaming.micro_batch.shuffles import SETTING
from gluepot.streaming.query import session
from gluepot.streaming.query.session import Drain, StreamSession

DOCUMENTS = f"to_json(struct(value)) AS `{magic_column('json')}`"


class Recorder:
    """A batch function that notes what it was given."""

    def __init__(self) -> None:
        self.batches: dict[int, list[int]] = {}

    def __call__(self, frame, batch_id):
        self.batches[batch_id] = sorted(row.value for row in frame.collect())


def tens(batch_id: int) -> list[int]:
    return list(range(10 * batch_id, 10 * (batch_id + 1)))


@pytest.mark.parametrize("persist", [True, "true", False, "false"])
def test_an_empty_batch_never_reaches_the_function(numbers, persist):
    function = Recorder()
    every_second = numbers.frame().filter("value % 20 >= 10")

    numbers.run(function, frame=every_second, max_batches=2, persistDataFrame=persist)

    assert function.batches == {1: tens(1), 3: tens(3)}


def test_the_rows_are_kept_while_the_function_runs_and_released_afterwards(numbers, persisted_rdds):
    before, during = persisted_rdds(), []

    numbers.run(lambda frame, _: during.append(persisted_rdds()))

    assert during == [before + 1]
    assert persisted_rdds() == before


def test_the_rows_are_not_kept_when_persistence_is_off(numbers, persisted_rdds):
    before, during = persisted_rdds(), []

    numbers.run(lambda frame, _: during.append(persisted_rdds()), persistDataFrame="false")

    assert during == [before]


def test_the_rows_are_released_after_a_failure_too(numbers, persisted_rdds):
    before, during = persisted_rdds(), []

    def fail(frame, batch_id):
        during.append(persisted_rdds())
        raise ValueError

    with pytest.raises(ValueError):
        numbers.run(fail, batchMaxRetries=0)

    assert during == [before + 1]
    assert persisted_rdds() == before


@pytest.mark.parametrize(("persist", "kept"), [("true", (1, 2)), ("false", (0, 0))])
def test_documents_are_decoded_once_for_all_frames_of_a_batch_and_dropped_with_it(
    numbers, persisted_rdds, persist, kept
):
    before, during, sums = persisted_rdds(), [], []
    files_before = set(row_folders.known_files())

    def function(data_frame, batch_id):
        frame = DynamicFrame.fromDF(data_frame, numbers.glue_context, "documents")
        frames = (frame.toDF(), frame.rename_field("value", "n").toDF())
        sums.extend(rows.groupBy().sum().first()[0] for rows in frames)
        files = {Path(path).parent for path in set(row_folders.known_files()) - files_before}
        during.append((persisted_rdds() - before, len(files)))

    numbers.run(function, frame=numbers.frame().selectExpr(DOCUMENTS), persistDataFrame=persist)

    assert (sums, during, persisted_rdds()) == ([45, 45], [kept], before)


def test_a_job_ends_after_as_many_batches_as_it_was_told(numbers):
    function = Recorder()

    numbers.run(function, max_batches=3)

    assert function.batches == {0: tens(0), 1: tens(1), 2: tens(2)}


def test_a_job_that_is_told_to_end_finishes_its_batch_and_the_next_start_goes_on_behind_it(numbers):
    first, second = Recorder(), Recorder()

    def end_in_batch_1(frame, batch_id):
        if batch_id == 1:
            session.current().stop.set()
        first(frame, batch_id)

    numbers.run(end_in_batch_1, max_batches=None)
    numbers.run(second, max_batches=2)

    assert first.batches == {0: tens(0), 1: tens(1)}
    assert second.batches == {2: tens(2), 3: tens(3)}


def test_two_queries_of_one_script_run_side_by_side(numbers, tmp_path):
    session.install(StreamSession(drain=Drain(max_batches=2)))
    functions = Recorder(), Recorder()
    streams = [replace(numbers, checkpoint=tmp_path / name) for name in ("left", "right")]
    both_in_a_batch = threading.Barrier(2, timeout=60)

    def meet_then(function):
        def run(frame, batch_id):
            both_in_a_batch.wait()
            function(frame, batch_id)

        return run

    threads = [
        threading.Thread(target=stream.for_each_batch, args=(meet_then(function),))
        for stream, function in zip(streams, functions, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [function.batches for function in functions] == [{0: tens(0), 1: tens(1)}] * 2


def test_a_view_of_a_batch_is_found_by_the_sql_of_the_script(numbers, glue_context):
    from awsglue import DynamicFrame

    found = []

    def function(frame, _):
        made = DynamicFrame.fromDF(frame.where("value > 3"), glue_context, "batch")
        made.toDF().createOrReplaceTempView("untouched")
        made.filter(lambda record: record["value"] > 5).toDF().createOrReplaceTempView("filtered")
        counts = glue_context.spark_session.sql(
            "SELECT (SELECT count(*) FROM untouched), (SELECT sum(value) FROM filtered)"
        )
        found.append(tuple(counts.collect()[0]))

    numbers.run(function)

    assert found == [(6, 30)]


@pytest.fixture
def shuffles(glue_context):
    """The setting's name; the session of all tests says nothing of it meanwhile."""
    conf = glue_context.spark_session.conf
    before = conf.get(SETTING)
    conf.unset(SETTING)
    yield SETTING
    conf.set(SETTING, before)


@pytest.mark.parametrize(("told", "seen"), [(None, "8"), ("3", "3")])
def test_shuffles_suit_the_machine_unless_the_script_has_said_how_many_pieces(numbers, shuffles, told, seen):
    pieces = []
    conf = numbers.glue_context.spark_session.conf
    if told is not None:
        conf.set(shuffles, told)

    numbers.run(lambda frame, _: pieces.extend((conf.get(shuffles), frame.sparkSession.conf.get(shuffles))))

    assert pieces == [seen, seen]
