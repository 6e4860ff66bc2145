"""Writes to tables of a real MariaDB server, without Spark: what a write leaves, refuses and takes back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from gluepot.connectors.jdbc.databases import table_database
from gluepot.connectors.jdbc.mysql import publish
from gluepot.connectors.jdbc.target import JdbcWriteSettings
from gluepot.connectors.values import AlreadyCommitted, CommitKey, Committed, Manifest, ManifestPart, SourceRange
from gluepot.core.errors import ConfigError, EtlError, LeaseHeld, PermanentError, TransientError
from gluepot.engine import jdbc_output
from gluepot.frames.chunk import Chunk
from tests.mariadb import mariadb_server, new_schema, sql


@pytest.fixture(scope="module")
def server(mariadb) -> Iterator[str]:
    with new_schema(mariadb) as url:
        yield url


@pytest.fixture
def url(server) -> str:
    found = sql(server, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()")
    sql(server, *(f"DROP TABLE {name}" for (name,) in found))
    return server


@dataclass
class Write:
    """Writes one table, batch by batch, as a job does."""

    url: str
    table: str = "copies"
    token: int = 1
    work: str = ""

    def settings(self, **options: Any) -> JdbcWriteSettings:
        return JdbcWriteSettings.from_glue({"url": self.url, "dbtable": self.table, **options})

    def stage(
        self, rows: Sequence[dict[str, Any]] | pa.RecordBatch, *, batch: int = 7, task: int = 0, **options: Any
    ) -> ManifestPart:
        settings = self.settings(**options)
        database = table_database(settings)
        key = CommitKey("query-1", batch, "sink0", "place")
        given = rows if isinstance(rows, pa.RecordBatch) else pa.RecordBatch.from_pylist(list(rows))
        name = database.find()
        sink = jdbc_output.DigestingSink(database.sink(key, name), settings.keys or name.primary_key)
        part = sink.write(iter([Chunk(given, [])]), task, f"{self.token}/0")
        return replace(part, ranges=[SourceRange("kafka", "t", "id", str(task), 0, given.num_rows)])

    def publish(self, *parts: ManifestPart, batch: int = 7, **options: Any) -> Committed | AlreadyCommitted:
        settings = self.settings(**options)
        database = table_database(settings)
        key, mode = CommitKey("query-1", batch, "sink0", "place"), settings.mode.value
        manifest = Manifest(key, parts, token=self.token, work=self.work, mode=mode)
        staged = [file for part in parts for file in part.files]
        bare = replace(manifest, parts=[replace(part, files=()) for part in parts])
        try:
            with database.publication(manifest.key, database.find()) as begun:
                return jdbc_output._publish(begun, bare, staged)[0]
        except EtlError:
            database.drop_staged(manifest.key, database.find())
            raise

    def write(
        self, rows: Sequence[dict[str, Any]] | pa.RecordBatch, *, batch: int = 7, **options: Any
    ) -> Committed | AlreadyCommitted:
        return self.publish(self.stage(rows, batch=batch, **options), batch=batch, **options)

    def take_back(self, batch: int = 7) -> None:
        settings = self.settings()
        name = table_database(settings).find()
        jdbc_output.take_back_table(settings, name, CommitKey("query-1", batch, "sink0", "place"), self.token)

    def rows(self, columns: str = "*", order: str = "1") -> list[tuple[Any, ...]]:
        return sql(self.url, f"SELECT {columns} FROM {self.table} ORDER BY {order}")

    def tables(self) -> set[str]:
        found = sql(self.url, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()")
        return {str(name) for (name,) in found}


OWN = {"gluepot_commits", "gluepot_rejects", "gluepot_locks", "gluepot_kept"}


@pytest.fixture
def write(url) -> Write:
    return Write(url)


EVERYTHING = pa.record_batch(
    {
        "i8": pa.array([-128, None], pa.int8()),
        "u64": pa.array([2**64 - 1, None], pa.uint64()),
        "i64": pa.array([-(2**63), None], pa.int64()),
        "single": pa.array([0.1, None], pa.float32()),
        "double": pa.array([1.7976931348623157e308, None], pa.float64()),
        "yes": pa.array([True, None]),
        "text": pa.array(["tab\t, line\n, back\\slash, quote', NULL \\N, zero \0, 😀", None]),
        "empty": pa.array(["", None]),
        "raw": pa.array([bytes(range(256)), None]),
        "day": pa.array([date(9999, 12, 31), None]),
        "at": pa.array([datetime(2026, 3, 29, 2, 30, 0, 123456), None], pa.timestamp("us")),
        "zoned": pa.array([datetime(2026, 5, 1, 10, tzinfo=UTC), None], pa.timestamp("ms", "Europe/Berlin")),
        "money": pa.array([Decimal("-12345678901234567890.123456789012345678"), None], pa.decimal128(38, 18)),
        "doc": pa.array([{"a": 1, "b": [True]}, None]),
    }
)
STORED = (
    -128, 2**64 - 1, -(2**63), 0.1, 1.7976931348623157e308, 1, EVERYTHING["text"][0].as_py(), "", bytes(range(256)),
    date(9999, 12, 31), datetime(2026, 3, 29, 2, 30, 0, 123456), datetime(2026, 5, 1, 10),
    Decimal("-12345678901234567890.123456789012345678"), '{"a":1,"b":[true]}',
)  # fmt: skip


@pytest.fixture(params=["1", "0"])
def either_way(request, url) -> Iterator[None]:
    """With LOAD DATA, and with INSERT, as a server takes it that forbids LOAD DATA."""
    sql(url, f"SET GLOBAL local_infile = {request.param}")
    yield
    sql(url, "SET GLOBAL local_infile = 1")


@pytest.mark.usefixtures("either_way")
def test_every_type_arrives_as_it_was_in_a_table_that_is_made(write):
    write.write(EVERYTHING)
    assert write.rows(order="i8 IS NULL") == [STORED, (None,) * len(STORED)]
    assert write.tables() - OWN == {"copies", *kept(write)}


def kept(write: Write) -> list[str]:
    return [str(name) for (name,) in sql(write.url, "SELECT name FROM gluepot_kept")]


@pytest.mark.usefixtures("either_way")
def test_rows_of_many_loads_keep_their_order(write, monkeypatch):
    from gluepot.connectors.jdbc.mysql import staging

    monkeypatch.setattr(staging, "_LOAD_BYTES", 100)
    monkeypatch.setattr(staging, "_INSERT_BYTES", 100)
    monkeypatch.setattr(staging, "_ROWS", 7)
    sql(write.url, "CREATE TABLE copies (number INT AUTO_INCREMENT PRIMARY KEY, n INT)")
    parts = [write.stage([{"n": task * 50 + n} for n in range(50)], task=task) for task in (0, 1)]
    write.publish(*parts)
    assert write.rows("n", "number") == [(n,) for n in range(100)]


def test_rows_go_into_an_existing_table_by_name_and_take_its_types(write):
    sql(write.url, "CREATE TABLE copies (more INT DEFAULT 7, NAME VARCHAR(10), id SMALLINT)")
    write.publish(write.stage([{"id": 1, "name": "a"}]), write.stage([{"id": "2"}], task=1))
    assert write.rows(order="id") == [(7, "a", 1), (7, None, 2)]


def test_a_name_may_need_quotes_and_may_name_another_database(url):
    other = f"{url.partition('?')[0].rpartition('/')[2]}_2"
    sql(url, f"CREATE DATABASE {other}")
    try:
        write = Write(url, f"{other}.`odd ``name`")
        write.write([{"select": 1}])
        assert write.rows() == [(1,)]
    finally:
        sql(url, f"DROP DATABASE {other}")


def test_an_overwrite_leaves_only_its_own_rows_and_a_failing_one_the_old_rows(write):
    write.write([{"n": 1}], mode="overwrite")
    write.write([{"n": 2}, {"n": 3}], batch=8, mode="overwrite")
    with pytest.raises(ConfigError, match="no column 'm'"):
        write.write([{"m": 4}], batch=9, mode="overwrite")
    assert write.rows() == [(2,), (3,)]


@pytest.mark.parametrize("options", [{"upsertKeys": "id"}, {"mode": "upsert"}])
def test_an_upsert_replaces_rows_by_key_and_the_newest_one_counts(write, options):
    sql(write.url, "CREATE TABLE copies (id INT PRIMARY KEY, name TEXT, more INT DEFAULT 7)")
    sql(write.url, "INSERT INTO copies VALUES (1, 'old', 1), (5, 'kept', 5)")
    first = write.stage([{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 1, "name": "c"}], **options)
    write.publish(first, write.stage([{"id": 2, "name": "d"}], task=1, **options), **options)
    assert write.rows() == [(1, "c", 1), (2, "d", 7), (5, "kept", 5)]


def test_an_upsert_makes_a_table_whose_keys_differ_in_case_and_in_spaces(write):
    write.write([{"k": "a", "n": 1}, {"k": "A", "n": 2}, {"k": "a ", "n": 3}], upsertKeys=["k"])
    write.write([{"k": "A", "n": 4}], batch=8, upsertKeys=["k"])
    assert write.rows(order="n") == [("a", 1), ("a ", 3), ("A", 4)]


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        ("id INT, name TEXT", {"mode": "upsert"}, "the table has no primary key"),
        ("id INT, name TEXT", {"upsertKeys": "id"}, "needs a unique index of exactly these columns"),
        ("id INT, name VARCHAR(9), UNIQUE (id), UNIQUE by_name (name)", {"upsertKeys": "id"}, "unique index by_name"),
        ("id INT, name VARCHAR(99), UNIQUE (name(3))", {"upsertKeys": "name"}, "needs a unique index of exactly"),
        ("id INT PRIMARY KEY, name TEXT", {"upsertKeys": "other"}, "the frame has no column 'other'"),
    ],
)
def test_an_upsert_that_cannot_keep_its_word_is_refused(write, table, options, said):
    sql(write.url, f"CREATE TABLE copies ({table})", "INSERT INTO copies VALUES (1, 'a')")
    with pytest.raises(ConfigError, match=said):
        write.write([{"id": 1, "name": "b"}, {"id": None, "name": "c"}], **options)
    assert write.rows() == [(1, "a")]


def test_a_row_without_the_key_of_an_upsert_is_a_reject_and_the_others_are_written(write):
    sql(
        write.url,
        "CREATE TABLE copies (a INT, b INT, name TEXT, UNIQUE (a, b))",
        "INSERT INTO copies VALUES (1, 1, 'a')",
    )
    rows = [{"a": 1, "b": 1, "name": "b"}, {"a": None, "b": None, "name": "c"}, {"a": 2, "b": None, "name": "d"}]
    outcome = write.write(rows, upsertKeys="a,b")
    assert (outcome.rows, write.rows()) == (1, [(1, 1, "b")])
    kept = sql(write.url, "SELECT raw, reason, message FROM gluepot_rejects ORDER BY number")
    assert [(json.loads(raw), reason, message) for raw, reason, message in kept] == [
        ({"name": "c"}, "refused_by_store", "The row has no value in 'a', the key of the upsert."),
        ({"a": 2, "name": "d"}, "refused_by_store", "The row has no value in 'b', the key of the upsert."),
    ]
    assert write.write([{"a": 2, "b": 2, "name": "e"}], upsertKeys="a,b").rows == 1  # in place of the first try
    assert sql(write.url, "SELECT raw FROM gluepot_rejects") == []


def test_a_batch_of_which_no_row_has_the_key_of_the_upsert_is_rejects_alone(write):
    sql(write.url, "CREATE TABLE copies (id INT PRIMARY KEY, name TEXT)")
    nulls = pa.record_batch({"ID": pa.array([None, None], pa.int32()), "name": ["a", "b"]})
    assert write.write(nulls, upsertKeys="id").rows == 0
    assert write.rows() == []
    assert len(sql(write.url, "SELECT raw FROM gluepot_rejects")) == 2


def test_more_rows_without_a_key_than_may_be_refused_fail_the_upsert(write, monkeypatch):
    monkeypatch.setattr(publish, "MOST_REFUSED", 2)
    sql(write.url, "CREATE TABLE copies (id INT PRIMARY KEY, name TEXT)")
    with pytest.raises(ConfigError, match=r"More than 2 rows of one upsert into .* has no value in 'id', the key"):
        write.write([{"id": 1, "name": "a"}, *({"id": None, "name": "b"} for _ in range(3))], upsertKeys="id")
    assert (write.rows(), sql(write.url, "SELECT raw FROM gluepot_rejects")) == ([], [])


def test_an_upsert_by_a_key_of_the_business_leaves_the_number_to_the_server(write):
    sql(write.url, "CREATE TABLE copies (id INT AUTO_INCREMENT PRIMARY KEY, sku VARCHAR(9) UNIQUE, n INT)")
    write.write([{"sku": "a", "n": 1}, {"sku": "b", "n": 2}], upsertKeys="sku")
    write.write([{"sku": "b", "n": 3}], batch=8, upsertKeys="sku")
    assert write.rows("sku, n") == [("a", 1), ("b", 3)]


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("VARCHAR(3)", "long", "Data too long"),
        ("TINYINT", 128, "Out of range"),
        ("INT UNSIGNED", -1, "Out of range"),
        ("DECIMAL(3,1)", Decimal("100.5"), "Out of range"),
        ("FLOAT", 1e300, "Out of range"),
        ("DATE", "2026-02-30", "Incorrect date value"),
        ("INT", "12a", "Data truncated"),
        ("TIMESTAMP", datetime(2300, 1, 1), "Incorrect datetime value"),
        ("JSON", "{", "CONSTRAINT"),
        ("VARCHAR(9) CHARACTER SET latin1", "😀", "Incorrect string value"),
        ("ENUM('a')", "b", "Data truncated"),
        ("INT CHECK (v < 3)", 3, "CONSTRAINT"),
        ("INT UNIQUE", 1, "Duplicate entry"),
        ("DOUBLE", float("nan"), "infinite or not a number"),
        ("DOUBLE", float("-inf"), "infinite or not a number"),
    ],
)
@pytest.mark.usefixtures("either_way")
def test_a_value_that_the_table_cannot_hold_is_a_reject_with_the_reason_and_the_others_are_written(
    write, column, value, said
):
    sql(write.url, f"CREATE TABLE copies (n INT, v {column})", "INSERT IGNORE INTO copies (n) VALUES (0)")
    if "UNIQUE" in column:
        sql(write.url, "UPDATE copies SET v = 1")
    before = write.rows(order="n")
    good = pa.array([None], pa.array([value]).type)
    values = pa.concat_arrays([good, pa.array([value]), good, good, pa.array([value])])
    assert write.write(pa.record_batch({"n": [1, 2, 3, 4, 5], "v": values})) == Committed((), 3)
    assert write.rows(order="n") == [*before, *((n, None) for n in (1, 3, 4))]
    kept = sql(write.url, "SELECT raw, reason, message FROM gluepot_rejects ORDER BY number")
    assert [json.loads(raw)["n"] for raw, _, _ in kept] == [2, 5]
    assert {reason for _, reason, _ in kept} == {"refused_by_store"}
    assert all(said in message and "\n" not in message for _, _, message in kept)
    ((record,),) = sql(write.url, "SELECT record FROM gluepot_commits")
    assert (json.loads(record)["rows_out"], json.loads(record)["rejected"]) == (3, {"refused_by_store": 2})


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [("INT NOT NULL", None, "doesn't have a default value"), ("INT AS (1)", 1, "generated column")],
)
def test_a_table_that_takes_no_such_row_is_told_and_nothing_is_written(write, column, value, said):
    sql(write.url, f"CREATE TABLE copies (n INT, v {column})")
    with pytest.raises(ConfigError, match=said) as refused:
        write.write([{"n": n} if value is None else {"n": n, "v": value} for n in (1, 2)])
    assert "\n" not in str(refused.value)
    assert write.rows() == []
    assert sql(write.url, "SELECT * FROM gluepot_commits") == []


def test_a_batch_of_which_hardly_a_row_fits_is_refused_and_nothing_is_written(write, monkeypatch):
    monkeypatch.setattr("gluepot.connectors.jdbc.mysql.publish.MOST_REFUSED", 5)
    sql(write.url, "CREATE TABLE copies (n TINYINT)")
    with pytest.raises(ConfigError, match="Out of range"):
        write.write([{"n": n} for n in [1, *range(1000, 1006)]])
    assert write.rows() == []
    assert sql(write.url, "SELECT * FROM gluepot_rejects") == []
    write.write([{"n": n} for n in [1, *range(1000, 1005)]])
    assert write.rows() == [(1,)]


@pytest.mark.parametrize("key", ["", "id INT AUTO_INCREMENT PRIMARY KEY, "])
def test_a_batch_that_comes_again_takes_back_what_it_wrote_and_its_rejects(write, key):
    sql(write.url, f"CREATE TABLE copies ({key}v VARCHAR(3))")
    write.write([{"v": v} for v in ("a", "much too long", "b")])
    write.write([{"v": v} for v in ("a", "also too long", "c", "c")])
    assert write.rows("v") == [("a",), ("c",), ("c",)]
    assert sql(write.url, "SELECT raw FROM gluepot_rejects") == [(b'{"v":"also too long"}',)]


@pytest.mark.parametrize("options", [{}, {"preactions": "DELETE FROM copies"}])
def test_an_upsert_keeps_its_order_around_a_row_that_is_refused(write, options):
    sql(write.url, "CREATE TABLE copies (k INT PRIMARY KEY, v TINYINT)")
    rows = [{"k": 1, "v": 1}, {"k": 2, "v": 1000}, {"k": 1, "v": 2}, {"k": 3, "v": 3}, {"k": 1, "v": 4}]
    write.write(rows, upsertKeys="k", **options)
    assert write.rows() == [(1, 4), (3, 3)]


def test_a_date_that_mysql_does_not_have_is_a_reject(write):
    for batch, value in enumerate((pa.array([10**17, 5], pa.timestamp("s")), pa.array([-(10**7), 5], pa.date32()))):
        write.write(pa.record_batch({"at": value}), batch=batch)
    assert len(write.rows()) == 2
    kept = sql(write.url, "SELECT raw, message FROM gluepot_rejects ORDER BY number")
    assert [raw for raw, _ in kept] == [b'{"at":100000000000000000}', b'{"at":-10000000}']
    assert all("before the year 1 or after the year 9999" in message for _, message in kept)


def test_a_row_larger_than_a_packet_goes_by_load_and_is_refused_by_insert(url, write):
    large = "x" * (17 << 20)
    write.write([{"n": 1, "text": large[: 15 << 20]}])
    sql(url, "SET GLOBAL local_infile = 0")
    try:
        with pytest.raises(ConfigError, match="set its max_allowed_packet, now 16777216"):
            write.write([{"n": 2, "text": large}], batch=8)
    finally:
        sql(url, "SET GLOBAL local_infile = 1")
    assert write.rows("n, LENGTH(text)") == [(1, 15 << 20)]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("TABLE copies (n INT) ENGINE = MyISAM", "has the engine MyISAM, which knows no transactions"),
        ("VIEW copies AS SELECT 1 AS n", "is a view"),
    ],
)
def test_a_table_that_knows_no_transactions_is_refused(write, made, said):
    sql(write.url, f"CREATE {made}")
    try:
        with pytest.raises(ConfigError, match=said):
            write.settings() and table_database(write.settings()).find()
    finally:
        sql(write.url, f"DROP {made.split()[0]} copies")


def test_wrong_logins_and_servers_that_are_away_are_told_apart(mariadb, url):
    host = f"127.0.0.1:{mariadb}"
    for wrong, kind in (
        (f"jdbc:mysql://{host}/no_such", ConfigError),
        (f"jdbc:mysql://{host}", ConfigError),
        ("jdbc:mysql://127.0.0.1:1/shop", TransientError),
    ):
        with pytest.raises(kind):
            table_database(Write(f"{wrong}?user=root").settings()).find()


def test_a_password_is_never_shown(url):
    with pytest.raises(ConfigError) as refused:
        table_database(Write(f"{url}&password=secret", "no_such.t").settings()).find()
    assert "secret" not in str(refused.value)


def test_a_connection_is_encrypted_as_the_url_says(url):
    from gluepot.connectors.jdbc.mysql.session import session

    with mariadb_server(encrypts=True) as port:
        server = f"jdbc:mysql://127.0.0.1:{port}/information_schema?user=root"
        for mode, is_encrypted in (("", True), ("&sslMode=REQUIRED", True), ("&sslMode=DISABLED", False)):
            with session(Write(server + mode).settings().endpoint) as begun:
                assert bool(begun.rows("SHOW SESSION STATUS LIKE 'Ssl_cipher'")[0][1]) is is_encrypted
        with pytest.raises(ConfigError, match="CERTIFICATE_VERIFY_FAILED"):
            table_database(Write(f"{server}&sslMode=VERIFY_CA").settings()).find()
    with pytest.raises(ConfigError, match="SSL"):
        table_database(Write(f"{url}&sslMode=REQUIRED").settings()).find()


def test_a_load_never_sends_a_file_of_this_machine(write):
    from gluepot.connectors.jdbc.mysql.session import session

    sql(write.url, "CREATE TABLE copies (line TEXT)")
    with session(write.settings().endpoint) as begun:
        begun.run("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE copies")
    assert write.rows() == []


# What an earlier try has appended goes before another input comes.


@pytest.mark.parametrize(
    "table",
    [
        "n INT, name TEXT",
        "n INT, name TEXT, at TIMESTAMP DEFAULT CURRENT_TIMESTAMP",
        "n INT, name TEXT, id INT AUTO_INCREMENT PRIMARY KEY",
        "n INT, name VARCHAR(20), at INT DEFAULT 5, PRIMARY KEY (n, name)",
        "n INT PRIMARY KEY, name CHAR(20) CHARACTER SET latin1, twice INT AS (n * 2) STORED",
        "n DECIMAL(20,4), name VARCHAR(20), KEY (n)",
        "n DOUBLE, name LONGTEXT",
        "n FLOAT, name BLOB",
        "n BIGINT UNSIGNED, name ENUM('a', 'b', 'c')",
    ],
)
def test_rows_of_an_earlier_try_are_replaced(write, table):
    sql(write.url, f"CREATE TABLE copies ({table})", "INSERT INTO copies (n, name) VALUES (-0, 'a'), (100, 'b')")
    before = write.rows("n, name", "n")
    write.write([{"n": 1, "name": "a"}, {"n": 2, "name": "b"}, {"n": 3, "name": "c"}])
    write.token = 2
    write.write([{"n": 4, "name": "a"}])
    assert [float(n) for n, _ in write.rows("n, name", "n")] == [0, 4, 100]
    write.token = 3
    write.take_back()
    assert write.rows("n, name", "n") == before
    assert write.tables() - OWN == {"copies"}


@pytest.mark.parametrize("options", [{"upsertKeys": ["N"]}, {"mode": "upsert"}])
def test_an_upsert_of_other_rows_on_the_same_input_needs_the_same_keys(write, options):
    sql(write.url, "CREATE TABLE copies (n INT PRIMARY KEY, name TEXT)")
    write.work = "the first script"
    write.write([{"n": 1, "name": "a"}, {"n": 2, "name": "b"}], **options)

    write.work = "a corrected value"
    write.write([{"n": 2, "name": "B"}, {"n": 1, "name": "A"}], **options)
    assert write.rows() == [(1, "A"), (2, "B")]

    write.work = "a corrected key"
    with pytest.raises(PermanentError, match="upserted 2 rows into copies, and this one has other keys, so some of"):
        write.write([{"n": 2, "name": "B"}, {"n": 3, "name": "A"}], **options)
    assert write.rows() == [(1, "A"), (2, "B")]


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (n)"])
def test_rows_of_an_earlier_try_are_replaced_in_a_transaction_that_the_server_guards(write, key):
    sql(write.url, f"CREATE TABLE copies (n INT{key})")
    options = {"postactions": "DELETE FROM copies WHERE n = 9"}
    write.write([{"n": 1}, {"n": 2}], **options)
    write.token = 2
    write.write([{"n": 3}, {"n": 4}, {"n": 9}], **options)
    assert write.rows() == [(3,), (4,)]


@pytest.mark.parametrize("key", ["", ", id INT AUTO_INCREMENT PRIMARY KEY"])
def test_of_equal_rows_as_many_go_as_were_written(write, key):
    sql(write.url, f"CREATE TABLE copies (n INT, name TEXT{key})", "INSERT INTO copies (n) VALUES (1), (1), (NULL)")
    write.write([{"n": 1, "name": None}, {"n": 1, "name": None}, {"n": None, "name": "x"}, {"n": None, "name": "x"}])
    sql(write.url, "INSERT INTO copies (n) VALUES (1)")
    write.token = 2
    write.take_back()
    assert write.rows("n, name", "n") == [(None, None), (1, None), (1, None), (1, None)]
    if key:
        assert write.rows("id", "id")[:3] == [(1,), (2,), (3,)]


def test_rows_that_differ_only_by_case_by_spaces_or_in_the_last_digit_are_not_mistaken(write):
    sql(
        write.url,
        "CREATE TABLE copies (name VARCHAR(9) COLLATE utf8mb4_general_ci, ratio FLOAT)",
        "INSERT INTO copies VALUES ('a', 16777216), ('A ', 16777217), ('A', 16777216)",
    )
    write.write([{"name": "A", "ratio": 16777218.0}])
    write.token = 2
    write.take_back()
    assert len(write.rows()) == 3


def test_rows_that_somebody_changed_meanwhile_are_not_replaced_in_silence(write):
    write.write([{"n": 1}, {"n": 2}, {"n": 3}])
    sql(write.url, "UPDATE copies SET n = 9 WHERE n = 1")
    write.token = 2
    said = r"put 3 rows into `\w+`\.`copies`, and of these only 2 are as it wrote them.*remove the others by hand"
    with pytest.raises(PermanentError, match=said):
        write.write([{"n": 4}])
    with pytest.raises(PermanentError, match=said):
        write.take_back()
    assert write.rows() == [(2,), (3,), (9,)]


def test_a_batch_before_the_newest_one_is_not_replaced_in_silence(write):
    write.write([{"n": 1}])
    write.write([{"n": 2}], batch=8)
    assert len(kept(write)) == 1
    write.token = 2
    with pytest.raises(PermanentError, match=r"put 1 rows into .*, and a later batch ended their record"):
        write.write([{"n": 3}, {"n": 4}])
    assert write.rows() == [(1,), (2,)]


def test_a_table_that_is_gone_takes_its_rows_with_it_and_that_is_said(write):
    write.write([{"n": 1}])
    sql(write.url, "DROP TABLE copies")
    write.token = 2
    with pytest.raises(PermanentError, match="of these only 0 are as it wrote them"):
        write.take_back()


# Two drivers.


def test_a_transaction_waits_for_the_one_of_another_driver(write):
    first, second = write.stage([{"n": 1}]), write.stage([{"n": 1}], task=1)
    settings = write.settings()
    database = table_database(settings)
    name = database.find()
    outcomes: list[object] = []

    def other() -> None:
        outcomes.append(write.publish(replace(second, ranges=first.ranges)))

    with database.publication(CommitKey("query-1", 7, "sink0", "place"), name) as begun:
        thread = threading.Thread(target=other)
        thread.start()
        manifest = Manifest(CommitKey("query-1", 7, "sink0", "place"), [replace(first, files=())], token=1)
        jdbc_output._publish(begun, manifest, list(first.files))
        thread.join(0.5)
        assert outcomes == []
    thread.join()
    assert isinstance(outcomes[0], AlreadyCommitted)
    assert write.rows() == [(1,)]


def test_a_paused_driver_is_put_out_by_the_server_and_the_next_one_goes_on(write, monkeypatch):
    monkeypatch.setattr(publish, "IDLE_SECS", 1)
    part, late = write.stage([{"n": 1}]), write.stage([{"n": 1}])
    database = table_database(write.settings())
    name = database.find()
    begun_by_paused = database.publication(CommitKey("query-1", 7, "sink0", "place"), name)
    begun = begun_by_paused.__enter__()
    jdbc_output._publish(
        begun, Manifest(CommitKey("query-1", 7, "sink0", "place"), [replace(late, files=())], token=1), list(late.files)
    )
    # It sleeps in the middle of its transaction; the next driver waits until the server has ended that.
    write.token = 2
    assert isinstance(write.publish(part), Committed)
    with pytest.raises(TransientError):
        begun_by_paused.__exit__(None, None, None)
    assert write.rows() == [(1,)]


def test_a_driver_that_wakes_up_later_publishes_nothing(write):
    late = write.stage([{"n": 1}])
    write.token = 2
    write.write([{"n": 1}])
    write.token = 1
    with pytest.raises(LeaseHeld):
        write.publish(late)
    assert write.rows() == [(1,)]


def test_staged_rows_that_another_driver_removed_are_noticed(write):
    part = write.stage([{"n": 1}])
    table_database(write.settings()).drop_staged(
        CommitKey("query-1", 7, "sink0", "place"), table_database(write.settings()).find()
    )
    with pytest.raises(TransientError, match="only 0 of 1 staged rows"):
        write.publish(part)


def test_a_connection_that_dies_in_the_middle_changes_nothing(write):
    write.write([{"n": 1}], batch=6)
    part = write.stage([{"n": 2}])
    database = table_database(write.settings())
    publication = database.publication(CommitKey("query-1", 7, "sink0", "place"), database.find())
    begun = publication.__enter__()
    manifest = Manifest(CommitKey("query-1", 7, "sink0", "place"), [replace(part, files=())], token=1)
    jdbc_output._publish(begun, manifest, list(part.files))
    sql(write.url, f"KILL {begun.session.connection.thread_id()}")
    with pytest.raises(TransientError):
        publication.__exit__(None, None, None)
    assert write.rows() == [(1,)]
    assert isinstance(write.publish(part), Committed)
    assert write.rows() == [(1,), (2,)]


# The script's own statements.


def test_actions_run_with_the_write_or_not_at_all(write):
    sql(write.url, "CREATE TABLE notes (what TEXT)")
    write.write(
        [{"n": 1}],
        preactions="-- first\nINSERT INTO notes VALUES ('a;''b'); INSERT INTO notes VALUES (\"b\");",
        postactions="INSERT INTO notes SELECT n FROM copies",
    )
    assert sql(write.url, "SELECT what FROM notes ORDER BY what") == [("1",), ("a;'b",), ("b",)]
    with pytest.raises(ConfigError, match="no_such_table"):
        write.write(
            [{"n": 2}],
            batch=8,
            preactions="INSERT INTO notes VALUES ('c')",
            postactions="DELETE FROM no_such_table",
        )
    assert write.rows() == [(1,)]
    assert len(sql(write.url, "SELECT what FROM notes")) == 3


def test_an_action_may_create_the_table(write):
    options = {"preactions": "CREATE TABLE IF NOT EXISTS copies (n INT, name VARCHAR(10), more INT DEFAULT 7)"}
    for batch in (7, 8):
        write.write([{"n": batch, "name": "a"}], batch=batch, **options)
    assert write.rows() == [(7, "a", 7), (8, "a", 7)]


@pytest.mark.parametrize(
    "action",
    [
        "TRUNCATE copies",
        "COMMIT",
        "ALTER TABLE copies ADD m INT",
        "CREATE TABLE x (n INT)",
        "PREPARE s FROM 'TRUNCATE copies'; EXECUTE s",
        "BEGIN",
    ],
)
@pytest.mark.parametrize("when", ["preactions", "postactions"])
def test_an_action_that_would_end_the_transaction_is_refused_and_nothing_is_written(write, action, when):
    sql(write.url, "CREATE TABLE copies (n INT)", "INSERT INTO copies VALUES (0)")
    with pytest.raises(ConfigError, match="commits by itself"):
        write.write([{"n": 1}], **{when: f"INSERT INTO copies VALUES (5); {action}"})
    assert write.rows() == [(0,)]


def test_a_write_that_no_other_try_can_repeat_keeps_nothing(write):
    write.token = 0
    write.publish(replace(write.stage([{"n": 1}]), ranges=[]))
    assert write.rows() == [(1,)]
    assert write.tables() == OWN | {"copies"}
    assert sql(write.url, "SELECT * FROM gluepot_kept UNION SELECT 1, 2, 3, 4, query_id FROM gluepot_locks") == []
