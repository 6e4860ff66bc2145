"""Writes of a batch function: from threads, in another order or to another path when it runs again."""

from __future__ import annotations

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.pool import ThreadPool

import pytest

import gluepot.table
from awsglue import DynamicFrame
from gluepot.commit import rolling, rollup
from gluepot.connectors.files.sink import layout
from gluepot.core.clock import FakeClock
from gluepot.core.errors import CheckpointError, ConfigError, PermanentError
from gluepot.core.storage import open_storage
from gluepot.streaming.micro_batch import scopes
from gluepot.streaming.query import session
from gluepot.streaming.query.session import Drain, StreamSession
from gluepot.tables.verify import verify


class Trouble(Exception):
    """What ends the first attempt."""


@pytest.fixture
def write(glue_context, tmp_path):
    def write(frame, table, ctx="sink"):
        glue_context.write_dynamic_frame.from_options(
            frame=DynamicFrame.fromDF(frame, glue_context, "numbers"),
            connection_type="s3",
            connection_options={"path": str(tmp_path / table)},
            format="glueparquet",
            transformation_ctx=ctx,
        )

    return write


@pytest.fixture
def rows(glue_context, tmp_path):
    def rows(table):
        return sorted(row.value for row in glue_context.spark_session.read.parquet(str(tmp_path / table)).collect())

    return rows


def one_after_the_other(write, tables):
    list(map(write, tables))


def an_executor(write, tables):
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, tables))


def a_thread_pool(write, tables):
    with ThreadPool(2) as pool:
        pool.map(write, tables)


def plain_threads(write, tables):
    threads = [threading.Thread(target=write, args=(table,)) for table in tables]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def threads_that_nobody_joins(write, tables):
    for table in tables:
        threading.Thread(target=write, args=(table,)).start()


def tasks_that_nobody_waits_for(write, tables):
    pool = ThreadPoolExecutor(1)
    for table in tables:
        pool.submit(write, table)
    pool.shutdown(wait=False)


def a_task_of_a_pool_that_nobody_waits_for(write, tables):
    ThreadPool(1).map_async(write, tables)


def threads_of_threads(write, tables):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(plain_threads, write, tables).result()


@pytest.mark.parametrize(
    "started_by",
    [
        one_after_the_other,
        an_executor,
        a_thread_pool,
        plain_threads,
        threads_that_nobody_joins,
        tasks_that_nobody_waits_for,
        a_task_of_a_pool_that_nobody_waits_for,
        threads_of_threads,
    ],
)
def test_a_retry_writes_each_row_once_whichever_thread_writes(numbers, write, rows, started_by):
    tries = []

    def function(frame, batch_id):
        tries.append(batch_id)
        started_by(lambda table: write(frame, table), ["a", "b"])
        if tries == [0]:
            raise Trouble

    numbers.run(function, clock=FakeClock(), max_batches=2)
    assert rows("a") == rows("b") == list(range(20))


def test_threads_that_are_older_than_the_batch_write_in_the_batch_that_gives_them_work(numbers, write, rows):
    tries = []
    executor, pool = ThreadPoolExecutor(1), ThreadPool(1)
    executor.submit(int).result()

    def function(frame, batch_id):
        tries.append(batch_id)
        executor.submit(write, frame, "a").result()
        pool.apply(write, (frame, "b"))
        if len(tries) in {1, 3}:
            raise Trouble

    with executor, pool:
        numbers.run(function, clock=FakeClock(), max_batches=2)
    assert rows("a") == rows("b") == list(range(20))


def test_threads_may_write_to_one_table_at_once(numbers, write, rows):
    def function(frame, batch_id):
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda ctx: write(frame, "t", ctx), ["x", "y", "z", ""]))

    numbers.run(function, clock=FakeClock(), max_batches=2)
    assert rows("t") == sorted(list(range(20)) * 4)


def test_a_write_that_fails_in_a_thread_nobody_asks_fails_the_batch(numbers, write, tmp_path, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    (tmp_path / "t").write_text("no folder")

    def function(frame, batch_id):
        threading.Thread(target=write, args=(frame, "t")).start()

    with pytest.raises(ConfigError):
        numbers.run(function, clock=FakeClock())


@pytest.mark.parametrize("ctx", ["", "sink"])
def test_tables_are_written_once_in_whichever_order_a_retry_writes_them(numbers, write, rows, ctx):
    orders = [["a"], ["b", "a"]]

    def function(frame, batch_id):
        order = orders.pop(0)
        for table in order:
            write(frame, table, ctx)
        if orders:
            raise Trouble

    numbers.run(function, clock=FakeClock())
    assert rows("a") == rows("b") == list(range(10))


def test_two_frames_for_one_table_may_change_places(numbers, write, rows):
    orders = [["even"], ["odd", "even"]]

    def function(frame, batch_id):
        order = orders.pop(0)
        for which in order:
            write(frame.filter("value % 2 = " + ("0" if which == "even" else "1")), "t")
        if orders:
            raise Trouble

    numbers.run(function, clock=FakeClock())
    assert rows("t") == list(range(10))


def test_a_path_made_from_the_time_holds_a_batch_once(numbers, write, rows):
    hours = ["t/ingest_hour=9", "t/ingest_hour=10", "t/ingest_hour=10"]

    def function(frame, batch_id):
        write(frame, hours.pop(0))
        if len(hours) == 2:
            raise Trouble

    numbers.run(function, clock=FakeClock(), max_batches=2)
    assert rows("t") == list(range(20))


def test_what_another_branch_has_written_goes(numbers, write, rows, tmp_path):
    tries = []

    def function(frame, batch_id):
        tries.append(batch_id)
        write(frame, "always")
        if len(tries) == 1:
            write(frame, "sometimes")
            raise Trouble

    numbers.run(function, clock=FakeClock())
    assert rows("always") == list(range(10))
    assert not list((tmp_path / "sometimes").glob("*.parquet"))


def test_a_write_after_its_batch_is_refused_and_ends_the_job(numbers, write, monkeypatch):
    monkeypatch.setattr(scopes, "LONGEST_WAIT_SECS", 0.1)
    over, tried = threading.Event(), threading.Event()

    def too_late(frame):
        over.wait(20)
        with suppress(PermanentError):
            write(frame, "t")
        tried.set()

    def function(frame, batch_id):
        threading.Thread(target=too_late, args=(frame,), daemon=True).start()

    def after_the_function(stats):
        over.set()
        tried.wait(20)

    streams = StreamSession(clock=FakeClock(), drain=Drain(max_batches=3))
    streams.watchers.append(after_the_function)
    session.install(streams)
    with pytest.raises(PermanentError, match="after the function has returned"):
        numbers.for_each_batch(function)


@pytest.mark.parametrize("batches", [1, 5])
def test_what_goes_on_beside_a_batch_cannot_fail_it(numbers, write, rows, batches):
    calls = []

    def function(frame, batch_id):
        calls.append(batch_id)
        write(frame, "t")

    def watch(stats):
        if batches > 1 or stats.batch_id == 0:
            raise OSError("No space left on device")

    streams = StreamSession(clock=FakeClock(), drain=Drain(max_batches=5))
    streams.watchers.append(watch)
    session.install(streams)
    numbers.for_each_batch(function)
    assert calls == [0, 1, 2, 3, 4]
    assert rows("t") == list(range(50))


def test_a_batch_that_spark_cannot_commit_uses_up_its_retries(numbers):
    calls = []
    streams = StreamSession(clock=FakeClock(), drain=Drain(max_batches=3))

    def function(frame, batch_id):
        calls.append(batch_id)
        commits = numbers.checkpoint / "commits"
        if commits.is_dir():
            commits.rename(numbers.checkpoint / "commits.away")
            commits.write_text("not a folder")

    session.install(streams)
    with pytest.raises(Exception, match="commits"):
        numbers.for_each_batch(function, batchMaxRetries=2)
    assert calls == [0, 0, 0]
    assert streams.clock.waits == [1.0, 2.0]


@pytest.mark.parametrize("retries", [0, 2], ids=["next driver", "same driver"])
def test_a_commit_that_comes_while_its_batch_runs_again_does_not_end_it(numbers, write, rows, retries):
    calls = []

    def function(frame, batch_id):
        calls.append(batch_id)
        low, high = frame.where("value % 10 < 5"), frame.where("value % 10 >= 5")
        if len(calls) == 2:
            write(high, "one")
            # What a driver writes that was suspended, or what a store carries out late.
            (numbers.checkpoint / "commits").mkdir(exist_ok=True)
            (numbers.checkpoint / "commits" / "0").write_bytes(b"v1\n{}")
            raise Trouble
        write(low, "one")
        if len(calls) == 1:
            raise Trouble
        write(high, "another")

    for tried in (0, retries):
        with suppress(Trouble):
            numbers.run(function, clock=FakeClock(), batchMaxRetries=tried)
    numbers.run(function, max_batches=2 if retries == 0 else 1)
    assert calls == [0, 0, 0, 1]
    assert sorted(rows("one") + rows("another")) == list(range(20))


def test_a_query_that_loses_its_offset_log_ends_and_writes_nothing_twice(numbers, write, rows):
    def function(frame, batch_id):
        write(frame, "t")
        if batch_id == 1:
            for log in ("offsets", "commits"):
                shutil.rmtree(numbers.checkpoint / log)
            raise Trouble

    with pytest.raises(CheckpointError, match=r"has lost offsets/0 while the query ran.*start the job again"):
        numbers.run(function, clock=FakeClock(), max_batches=3)
    assert rows("t") == list(range(20))


def test_a_running_query_rolls_its_manifests_up_and_goes_on_from_them(numbers, write, rows, monkeypatch, tmp_path):
    for module in (layout, rolling, rollup):
        monkeypatch.setattr(module, "FOLDER_BATCHES", 2)
    storage = open_storage(str(tmp_path / "a"))

    def function(frame, batch_id):
        write(frame, "a")
        while batch_id == 3 and not rolling.indexes(storage):  # the roll-up runs beside the batches
            time.sleep(0.01)

    numbers.run(function, clock=FakeClock(), max_batches=4)
    numbers.run(function, clock=FakeClock(), max_batches=2)

    (index,) = rolling.indexes(storage).values()
    assert min(index.files) == 0
    assert sorted(gluepot.table.open(storage.url).to_arrow()["value"].to_pylist()) == rows("a")
    assert len(rows("a")) > 0
    assert verify(storage, None).findings == []
