"""What every bounded source promises: its plan covers everything once, and a bookmark leaves out what was read."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gluepot.bookmarks import jobrun
from gluepot.bookmarks.files_input import files_input
from gluepot.bookmarks.jdbc_input import jdbc_input
from gluepot.bookmarks.jobrun import JobRun
from gluepot.connectors.contracts import BatchRead, ColumnarSource, InputSplit
from gluepot.connectors.files.source.settings import FileReadSettings
from gluepot.connectors.jdbc.settings import JdbcReadSettings
from gluepot.connectors.registry import connector
from gluepot.core.clock import SystemClock
from gluepot.engine.pipeline import SplitInput
from gluepot.frames.rows import rows
from tests.postgresql import new_database

Read = BatchRead | SplitInput


@dataclass
class Input:
    """A source of the numbers 0..n-1 with the square of each.

    Args:
        add: puts further numbers there.
        plan: plans a read; with a run, of what its bookmark does not hold.
        has_bookmarks: whether a run's bookmark is heeded.
    """

    add: Callable[[range], None]
    plan: Callable[[JobRun | None], Read]
    has_bookmarks: bool = True


def table(numbers: range) -> pa.Table:
    return pa.table({"n": pa.array(numbers, pa.int64()), "square": pa.array([n * n for n in numbers], pa.int64())})


def files(request, format_name: str, suffix: str, write: Callable[[range, Path], object]) -> Input:
    root, number = request.getfixturevalue("tmp_path") / "input", count()
    root.mkdir()
    options = {"paths": [str(root)], "groupFiles": "inPartition", "groupSize": "1"}
    given = {"withHeader": True} if format_name == "csv" else {}

    def plan(run: JobRun | None) -> Read:
        settings = FileReadSettings.from_glue(options, format_name, given)
        return files_input(settings, "source0", run, 2, SystemClock())

    return Input(lambda numbers: write(numbers, root / f"{next(number)}.{suffix}"), plan)


def parquet_files(request) -> Input:
    return files(request, "parquet", "parquet", lambda numbers, path: pq.write_table(table(numbers), path))


def json_files(request) -> Input:
    def write(numbers: range, path: Path) -> None:
        path.write_text("".join(json.dumps({"n": n, "square": n * n}) + "\n" for n in numbers))

    return files(request, "json", "json", write)


def csv_files(request) -> Input:
    def write(numbers: range, path: Path) -> None:
        path.write_text("".join(["n,square\n", *(f"{n},{n * n}\n" for n in numbers)]))

    return files(request, "csv", "csv", write)


def postgresql_table(request) -> Input:
    url = request.getfixturevalue("database")
    options = {"url": url, "dbtable": "squares", "hashfield": "n", "hashpartitions": "3"}

    def sql(statement: str) -> None:
        with psycopg.connect(url) as connection:
            connection.execute(statement)

    def add(numbers: range) -> None:
        sql(f"INSERT INTO squares SELECT n, n * n FROM generate_series({numbers[0]}, {numbers[-1]}) AS n")

    sql("CREATE TABLE squares (n int8 PRIMARY KEY, square int8)")
    return Input(add, lambda run: jdbc_input(JdbcReadSettings.from_glue(options), "source0", run, None))


def redshift_table(request) -> Input:
    server = request.getfixturevalue("redshift")
    folder = f"{request.getfixturevalue('s3_url')}/{request.node.name}"
    options = {**server.options, "dbtable": "squares", "jobBookmarkKeys": ["n"], "redshiftTmpDir": folder}

    def add(numbers: range) -> None:
        server.sql(f"INSERT INTO squares SELECT n, n * n FROM generate_series({numbers[0]}, {numbers[-1]}) AS n")

    server.sql("DROP TABLE IF EXISTS squares")
    server.sql("CREATE TABLE squares (n bigint, square bigint)")
    return Input(add, lambda run: jdbc_input(JdbcReadSettings.from_glue(options), "source0", run, None))


def added_source(request) -> Input:
    """The source of a package of its own, found by its entry point; it has neither squares nor bookmarks."""
    request.getfixturevalue("added_connector")
    upto = [0]

    def add(numbers: range) -> None:
        upto[0] = numbers[-1] + 1

    return Input(add, lambda _: connector("dial").new_batch_read({"upto": upto[0]}), has_bookmarks=False)


@pytest.fixture
def database(postgresql) -> Iterator[str]:
    with new_database(postgresql) as url:
        yield url


@pytest.fixture(
    params=[parquet_files, json_files, csv_files, postgresql_table, redshift_table, added_source],
    ids=["parquet", "json", "csv", "postgresql", "redshift", "added"],
)
def given(request) -> Input:
    return request.param(request)


def of_split(read: Read, split: InputSplit) -> list[dict]:
    return [row for chunk in read.source.read(split) for row in rows(chunk)]


def numbers(read: Read, *splits: InputSplit) -> list[int]:
    return sorted(int(row["n"]) for split in splits or read.splits for row in of_split(read, split))


def test_a_plan_covers_everything_once(given):
    given.add(range(100))
    given.add(range(100, 130))
    read = given.plan(None)

    assert len(read.splits) > 1
    assert numbers(read) == list(range(130))


def test_splits_can_be_read_in_any_order_and_again_by_copies(given):
    given.add(range(100))
    given.add(range(100, 130))
    read = pickle.loads(pickle.dumps(given.plan(None)))

    last, *others = reversed(read.splits)
    once = numbers(read, last)

    assert numbers(read, *others, last) == list(range(130))
    assert numbers(read, last) == once


def test_a_reader_that_was_left_half_way_does_not_disturb_the_next(given):
    given.add(range(100))
    read = given.plan(None)

    next(iter(read.source.read(read.splits[0])))

    assert numbers(read) == list(range(100))


def test_every_chunk_has_the_schema_that_was_known_beforehand(given):
    given.add(range(50))
    read = given.plan(None)

    for split in read.splits:
        assert split.size_bytes >= 0
        for chunk in read.source.read(split):
            assert not chunk.errors
            assert read.schema is None or chunk.batch.schema.equals(read.schema)


def test_a_source_says_what_it_guarantees(given):
    given.add(range(3))

    assert given.plan(None).source.guarantee


def test_a_source_that_can_leave_columns_out_still_gives_those_that_are_wanted(given):
    given.add(range(50))
    read = given.plan(None)
    if isinstance(read.source, ColumnarSource):
        read = SplitInput(read.source.only(frozenset({"n"})), read.splits)

    assert numbers(read) == list(range(50))


@pytest.fixture
def begin(given, tmp_path):
    if not given.has_bookmarks:
        pytest.skip("the source has no bookmarks")
    environ, run_ids = {"GLUEPOT_STATE": str(tmp_path / "state")}, count(1)
    yield lambda: jobrun.begin("squares", f"jr_{next(run_ids)}", None, "enable", [], environ, SystemClock())
    jobrun.end("the test ended")


def test_a_run_reads_what_no_committed_run_has_read(given, begin):
    given.add(range(20))
    assert numbers(given.plan(begin())) == list(range(20))
    jobrun.commit()

    assert given.plan(begin()).splits == () or numbers(given.plan(jobrun.current())) == []
    jobrun.commit()

    given.add(range(20, 25))
    assert numbers(given.plan(begin())) == list(range(20, 25))
    jobrun.commit()


def test_a_run_that_was_not_committed_has_read_nothing(given, begin):
    given.add(range(20))
    assert numbers(given.plan(begin())) == list(range(20))
    jobrun.end("it died")

    given.add(range(20, 25))
    assert numbers(given.plan(begin())) == list(range(25))
