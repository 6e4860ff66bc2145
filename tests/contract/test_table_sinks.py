"""What every sink of a table promises: nothing is visible before it is published, and everything is published once."""

from __future__ import annotations

import csv
import io
import json
import pickle
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from uuid import uuid4

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gluepot.commit import abort, open_target, publish, recover
from gluepot.connectors.contracts import Sink, TaskSink
from gluepot.connectors.jdbc.databases import table_database
from gluepot.connectors.jdbc.java.publish import temp_dir_of
from gluepot.connectors.jdbc.java.staging import staging_folder
from gluepot.connectors.jdbc.publishing import TableName
from gluepot.connectors.jdbc.target import JdbcWriteSettings
from gluepot.connectors.registry import SINKS
from gluepot.connectors.values import AlreadyCommitted, CommitKey, Committed, Manifest, ManifestPart, SourceRange
from gluepot.core.errors import ConfigError, LeaseHeld
from gluepot.core.storage import open_storage
from gluepot.engine import jdbc_output
from gluepot.engine.pipeline import unique_work
from gluepot.frames.chunk import Chunk, ErrorRecord
from tests.h2 import H2, H2Database
from tests.mariadb import new_schema, sql
from tests.postgresql import new_database
from tests.redshift import RedshiftServer

BROKEN = ErrorRecord(b"{", "malformed_json", "cut off")


def key(batch: int = 7) -> CommitKey:
    return CommitKey("query-1", batch, "sink0")


class Target(Protocol):
    """One table, which is empty and does not exist yet."""

    def sink(self, key: CommitKey) -> TaskSink:
        """The worker's side of a write."""

    def publish(self, manifest: Manifest) -> Committed | AlreadyCommitted:
        """Publish what tasks have staged."""

    def abandon(self, key: CommitKey, token: int) -> None:
        """Remove what the tasks of a driver have staged, as the driver does after an error."""

    def recover(self, key: CommitKey, token: int) -> None:
        """Clear up what dead drivers have staged, as a driver does before its first write."""

    def numbers(self) -> list[int]:
        """The column n of all visible rows, sorted, read without the product."""

    def rejected(self) -> int:
        """The number of visible rejected records."""

    def staged(self) -> list[str]:
        """What is there and not visible."""


@dataclass
class Files:
    """A table of files."""

    url: str
    format: str
    options: dict[str, Any] = field(default_factory=dict)

    def sink(self, key: CommitKey) -> Sink:
        return SINKS[self.format](self.url, key, self.options, partition_keys=["day"], ctx=key.ctx)

    def publish(self, manifest: Manifest) -> Committed | AlreadyCommitted:
        return publish(open_target(self.sink(manifest.key)), manifest)

    def abandon(self, key: CommitKey, token: int) -> None:
        abort(open_target(self.sink(key)), key, str(token))

    def recover(self, key: CommitKey, token: int) -> None:
        recover(open_target(self.sink(key)), key.query_id, token)

    def numbers(self) -> list[int]:
        storage = open_storage(self.url)
        visible = [name for name in storage.list("") if not name.startswith("_")]
        return sorted(n for name in visible for n in self._numbers(storage.get(name)))

    def _numbers(self, content: bytes) -> list[int]:
        match self.format:
            case "json":
                return [json.loads(line)["n"] for line in content.splitlines()]
            case "csv":
                return [int(row["n"]) for row in csv.DictReader(io.StringIO(content.decode()))]
        return pq.read_table(pa.BufferReader(content)).column("n").to_pylist()

    def rejected(self) -> int:
        storage = open_storage(self.url)
        return sum(pq.read_metadata(pa.BufferReader(storage.get(name))).num_rows for name in storage.list("_rejects"))

    def staged(self) -> list[str]:
        storage = open_storage(self.url)
        return [name for folder in ("staging", "intents") for name in storage.list(f"_gluepot/{folder}")]


@dataclass
class Rows:
    """A table of PostgreSQL."""

    url: str
    settings: JdbcWriteSettings
    name: TableName

    def sink(self, key: CommitKey) -> TaskSink:
        return table_database(self.settings).sink(key, self.name)

    def publish(self, manifest: Manifest) -> Committed | AlreadyCommitted:
        staged = [file for part in manifest.parts for file in part.files]
        bare = replace(manifest, parts=[replace(part, files=()) for part in manifest.parts])
        with table_database(self.settings).publication(manifest.key, self.name) as begun:
            outcome, _ = jdbc_output._publish(begun, bare, staged)
        self.abandon(manifest.key, manifest.token)
        return outcome

    def abandon(self, key: CommitKey, token: int) -> None:
        table_database(self.settings).drop_staged(key, self.name)

    def recover(self, key: CommitKey, token: int) -> None:
        table_database(self.settings).drop_staged(key, self.name)

    def numbers(self) -> list[int]:
        return [n for (n,) in self._sql("SELECT n FROM numbers ORDER BY n")]

    def rejected(self) -> int:
        return len(self._sql("SELECT raw FROM gluepot_rejects"))

    def staged(self) -> list[str]:
        return [name for (name,) in self._sql("SELECT tablename FROM pg_tables WHERE tablename LIKE 'gluepot_stage%'")]

    def _sql(self, statement: str) -> list[Any]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(statement).fetchall()


@dataclass
class RedshiftRows(Rows):
    """A table of Redshift's stand-in, counted in the PostgreSQL behind it."""

    folder: str = ""

    def staged(self) -> list[str]:
        storage = open_storage(self.folder)
        receipts = {one for (one,) in self._sql("SELECT receipt FROM gluepot_commits WHERE receipt <> ''")}
        kept = {file["staged"] for one in receipts for file in json.loads(storage.get(one))["files"]}
        return [name for name in storage.list("") if name not in receipts | kept]


@dataclass
class MysqlRows(Rows):
    """A table of MySQL or MariaDB; rows of the newest batch are kept in their staging tables, to be taken back."""

    def staged(self) -> list[str]:
        found = self._sql(
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
            " AND TABLE_NAME LIKE 'gluepot\\_stage%' AND TABLE_NAME NOT IN (SELECT name FROM gluepot_kept)"
        )
        return [name for (name,) in found]

    def _sql(self, statement: str) -> list[Any]:
        return sql(self.url, statement)


class JavaRows(Rows):
    """A table of H2, behind its Java driver; rows of the newest batch are kept in their staging tables."""

    database: H2Database

    def staged(self) -> list[str]:
        found = self._sql("SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME ILIKE 'gluepot\\_stage%'")
        kept = [str(text) for (text,) in self._sql("SELECT kept FROM gluepot_commits WHERE kept IS NOT NULL")]
        files = open_storage(temp_dir_of(self.settings)).list(staging_folder(key()))
        return [*files, *(str(name) for (name,) in found if not any(name in one for one in kept))]

    def numbers(self) -> list[int]:
        return [int(n) for n in super().numbers()]

    def _sql(self, statement: str) -> list[Any]:
        return self.database.sql(statement)


@pytest.fixture(scope="module")
def database(postgresql) -> Iterator[str]:
    with new_database(postgresql) as url:
        yield url


def table_of_redshift(server: RedshiftServer, folder: str) -> RedshiftRows:
    server.sql("DROP TABLE IF EXISTS numbers, gluepot_commits, gluepot_rejects")
    server.sql("CREATE TABLE numbers (n bigint, day varchar(20))")
    options = {**server.options, "dbtable": "numbers", "redshiftTmpDir": folder}
    settings = JdbcWriteSettings.from_glue(options)
    return RedshiftRows(server.postgresql, settings, table_database(settings).find(), folder)


def table_of_postgresql(url: str) -> Rows:
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (name,) in found:
            connection.execute(f"DROP TABLE {name}")
        connection.execute("CREATE TABLE numbers (n int8, day text)")
    settings = JdbcWriteSettings.from_glue({"url": url, "dbtable": "numbers"})
    return Rows(url, settings, table_database(settings).find())


@pytest.fixture(scope="module")
def schema(mariadb) -> Iterator[str]:
    with new_schema(mariadb) as url:
        yield url


def table_of_mariadb(url: str) -> Rows:
    found = sql(url, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()")
    sql(url, *(f"DROP TABLE {name}" for (name,) in found), "CREATE TABLE numbers (n BIGINT, day TEXT)")
    settings = JdbcWriteSettings.from_glue({"url": url, "dbtable": "numbers"})
    return MysqlRows(url, settings, table_database(settings).find())


def table_of_h2(server: H2, mode: str, folder: str) -> Rows:
    database = server.new_database(mode)
    database.sql('CREATE TABLE numbers (n BIGINT, "DAY" VARCHAR(20))')
    settings = JdbcWriteSettings.from_glue({**database.options, "dbtable": "numbers", "redshiftTmpDir": folder})
    made = JavaRows(database.url, settings, table_database(settings).find())
    made.database = database
    return made


OTHER_MODES = [pytest.param(f"h2-{mode}", marks=pytest.mark.long) for mode in ("MSSQLServer", "Oracle")]
TARGETS = ["parquet", "json", "csv", "s3", "postgresql", "redshift", "mariadb", "h2-Regular", *OTHER_MODES]


@pytest.fixture(params=TARGETS)
def target(request, tmp_path) -> Target:
    match request.param:
        case "postgresql":
            return table_of_postgresql(request.getfixturevalue("database"))
        case "redshift":
            folder = f"{request.getfixturevalue('s3_url')}/{uuid4().hex}"
            return table_of_redshift(request.getfixturevalue("redshift"), folder)
        case "mariadb":
            return table_of_mariadb(request.getfixturevalue("schema"))
        case "h2-Regular" | "h2-MSSQLServer" | "h2-Oracle":
            request.getfixturevalue("glue_context")
            return table_of_h2(request.getfixturevalue("h2"), request.param.removeprefix("h2-"), str(tmp_path))
        case "s3":
            return Files(f"{request.getfixturevalue('s3_url')}/{uuid4().hex}", "glueparquet")
        case format_name:
            return Files(str(tmp_path / "table"), "glueparquet" if format_name == "parquet" else format_name)


def staged(
    target: Target, numbers: Sequence[int], *, batch: int = 7, token: int = 1, attempt: int = 0, task: int = 0
) -> ManifestPart:
    """Stage numbers, and one broken record, as a task of the driver with a token does."""
    rows = pa.record_batch({"n": pa.array(numbers, pa.int64()), "day": [f"d{n % 2}" for n in numbers]})
    sink = pickle.loads(pickle.dumps(target.sink(key(batch))))
    part = sink.write(iter([Chunk(rows, [BROKEN])]), task, f"{token}/{attempt}")
    given = SourceRange("kafka", "clicks", "id", str(task), numbers[0], numbers[-1] + 2)
    return replace(part, ranges=[given], rows_in=len(numbers) + 1)


def manifest(*parts: ManifestPart, batch: int = 7, token: int = 1) -> Manifest:
    return Manifest(key(batch), parts, token=token)


def test_what_is_staged_is_not_visible(target):
    part = staged(target, [1, 2, 3])

    assert (part.rows_out, part.rejected) == (3, {"malformed_json": 1})
    assert (target.numbers(), target.rejected()) == ([], 0)
    assert target.staged()


def test_what_is_published_is_visible_once_with_its_rejects_and_nothing_is_left_staged(target):
    outcome = target.publish(manifest(staged(target, [1, 2, 3]), staged(target, [4, 5], task=1)))

    assert isinstance(outcome, Committed)
    assert outcome.rows == 5
    assert (target.numbers(), target.rejected()) == ([1, 2, 3, 4, 5], 2)
    assert target.staged() == []


def test_the_same_input_published_again_changes_nothing(target):
    target.publish(manifest(staged(target, [1, 2, 3])))

    again = target.publish(manifest(staged(target, [1, 2, 3], attempt=1)))

    assert isinstance(again, AlreadyCommitted)
    assert again.rows == 3
    assert (target.numbers(), target.rejected()) == ([1, 2, 3], 1)
    assert target.staged() == []


def test_other_input_under_the_same_key_replaces_what_was_published(target):
    target.publish(manifest(staged(target, [1, 2, 3])))

    target.publish(manifest(staged(target, [11, 12], token=2), token=2))

    assert (target.numbers(), target.rejected()) == ([11, 12], 1)
    assert target.staged() == []


def by_spark(target: Target, numbers: Sequence[int], days: Sequence[str], *, token: int = 1) -> Manifest:
    """Stage rows that Spark made, in tasks of two rows, so that the work is unknown; the input is always the same."""
    sink = target.sink(key())
    digesting = jdbc_output.DigestingSink(sink) if isinstance(target, Rows) else sink
    parts = []
    for task, first in enumerate(range(0, len(numbers), 2)):
        own = slice(first, first + 2)
        rows = pa.record_batch({"n": pa.array(numbers[own], pa.int64()), "day": days[own]})
        part = digesting.write(iter([Chunk(rows)]), task, f"{token}/0")
        parts.append(replace(part, rows_in=part.rows_out))
    return Manifest(key(), parts, offsets_digest="input", token=token, work=unique_work(), mode="append")


def test_other_rows_of_unknown_work_on_the_same_input_replace_what_was_published(target):
    target.publish(by_spark(target, [1, 2, 3], ["a", "b", "c"]))

    outcome = target.publish(by_spark(target, [1, 2, 4], ["a", "b", "c"], token=2))

    assert isinstance(outcome, Committed)
    assert target.numbers() == [1, 2, 4]
    assert target.staged() == []


def test_equal_rows_of_unknown_work_are_skipped_however_they_are_cut_and_ordered(target):
    target.publish(by_spark(target, [1, 2, 3], ["a", "b", "c"]))

    outcome = target.publish(by_spark(target, [3, 1, 2], ["c", "a", "b"], token=2))

    # Files are replaced: a reader of a folder does not see who changed a row, so there is nothing to keep.
    assert isinstance(outcome, AlreadyCommitted if isinstance(target, Rows) else Committed)
    assert target.numbers() == [1, 2, 3]


def test_rows_whose_values_have_changed_places_are_other_rows(target):
    target.publish(by_spark(target, [1, 2], ["a", "b"]))

    assert isinstance(target.publish(by_spark(target, [1, 2], ["b", "a"], token=2)), Committed)


def test_a_record_of_an_older_gluepot_without_work_is_skipped_by_its_input_alone(target):
    if not isinstance(target, Rows):
        return  # records of files name their work since long before
    old = replace(by_spark(target, [1, 2], ["a", "b"]), work="", mode="")
    target.publish(replace(old, parts=[replace(part, rows_digest=None) for part in old.parts]))

    assert isinstance(target.publish(by_spark(target, [3, 4], ["a", "b"], token=2)), AlreadyCommitted)
    assert target.numbers() == [1, 2]


def test_batches_add_up(target):
    for batch, numbers in ((7, [1, 2]), (8, [3, 4])):
        target.publish(manifest(staged(target, numbers, batch=batch), batch=batch))

    assert (target.numbers(), target.rejected()) == ([1, 2, 3, 4], 2)


def test_a_task_that_is_tried_twice_leaves_one_copy(target):
    staged(target, [1, 2, 3], attempt=0)  # its answer was lost
    second = staged(target, [1, 2, 3], attempt=1)

    target.publish(manifest(second))

    assert (target.numbers(), target.rejected()) == ([1, 2, 3], 1)
    assert target.staged() == []


def test_an_abandoned_attempt_leaves_nothing(target):
    staged(target, [1, 2, 3])

    target.abandon(key(), 1)

    assert (target.numbers(), target.staged()) == ([], [])


def test_what_a_dead_driver_staged_is_cleared_up(target):
    staged(target, [1, 2, 3])

    target.recover(key(), 2)

    assert (target.numbers(), target.staged()) == ([], [])


def test_a_task_that_fails_half_way_leaves_nothing_and_says_why(target):
    def chunks():
        yield Chunk(pa.record_batch({"n": [1], "day": ["d1"]}), [BROKEN])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        target.sink(key()).write(chunks(), 0, "1/0")
    assert (target.numbers(), target.staged()) == ([], [])


def test_a_driver_that_was_replaced_publishes_nothing(target):
    late = staged(target, [1, 2, 3])
    target.publish(manifest(staged(target, [1, 2, 3], token=2), token=2))

    with pytest.raises(LeaseHeld):
        target.publish(manifest(late))
    assert (target.numbers(), target.rejected()) == ([1, 2, 3], 1)


def test_a_driver_that_pauses_in_its_transaction_publishes_before_the_driver_that_replaces_it(target):
    """The later driver waits for the transaction, and finds what it has published."""
    if not isinstance(target, Rows):
        return  # files have no transaction: see test_a_driver_that_was_replaced_publishes_nothing
    early, late = staged(target, [1, 2, 3]), staged(target, [1, 2, 3], token=2)
    paused, goes_on = threading.Event(), threading.Event()

    def pausing() -> None:
        bare = replace(manifest(early), parts=[replace(early, files=())])
        with table_database(target.settings).publication(key(), target.name) as begun:
            jdbc_output._publish(begun, bare, list(early.files))
            paused.set()
            assert goes_on.wait(60)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(pausing)
        assert paused.wait(60)
        second = pool.submit(target.publish, manifest(late, token=2))
        with pytest.raises(TimeoutError):
            second.result(timeout=0.5)
        goes_on.set()
        first.result()
        assert isinstance(second.result(), AlreadyCommitted)
    assert (target.numbers(), target.rejected()) == ([1, 2, 3], 1)


def test_a_task_without_rows_stages_nothing(target):
    part = target.sink(key()).write(iter([]), 0, "1/0")

    assert (list(part.files), part.rows_out, part.schema) == ([], 0, None)
    assert target.staged() == []


def test_a_sink_of_files_says_what_it_is_for(target):
    sink = target.sink(key())
    if not isinstance(target, Files):
        return  # a `TaskSink` alone: the transaction of the server publishes its rows

    assert (sink.key, sink.root, sink.rejects_root, sink.guarantee) == (key(), target.url, target.url, "exactly-once")
    assert pickle.loads(pickle.dumps(sink)) == sink
    sink.check()
    assert open_storage(target.url).list("") == []


def test_a_folder_that_cannot_be_written_is_refused_before_data_flows(tmp_path):
    (tmp_path / "table").write_text("a file where the folder should be")

    with pytest.raises(ConfigError):
        Files(str(tmp_path / "table"), "json").sink(key()).check()
