"""What tables of databases hold after a write, and what a read returns, value by value and without Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import boto3
import psycopg
import pyarrow as pa
import pytest

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.plan import plan
from gluepot.connectors.jdbc.postgresql import JdbcSplit, PostgresqlSource, open_relation
from gluepot.connectors.jdbc.relation import Table
from gluepot.connectors.jdbc.settings import HashPartitions, RangePartitions
from gluepot.connectors.jdbc.sql import Sql
from gluepot.core.errors import ConfigError, PermanentError
from tests.database_writes import batch, write
from tests.mariadb import new_schema
from tests.mariadb import sql as mariadb_sql
from tests.postgresql import new_database
from tests.redshift import redshift_server


@dataclass
class Database:
    """A database with what a script gives to reach it, and a client of its own."""

    options: dict[str, str]
    sql: Callable[[str], list[Any]]

    def write(self, table: str, *tasks: Any, **more: Any) -> int:
        return write({**self.options, "dbtable": table, **more}, *tasks)

    def read(self, table: str, partitions: HashPartitions | RangePartitions | None = None) -> list[dict[str, Any]]:
        """The rows of a table of PostgreSQL as tasks read them."""
        endpoint = JdbcEndpoint.from_options(self.options)
        with open_relation(endpoint, Table(table)) as relation:
            source = PostgresqlSource(endpoint, relation.source, relation.columns)
            cuts = relation.cuts(partitions) or [Sql()]
        return [row for cut in cuts for chunk in source.read(JdbcSplit(cut)) for row in chunk.batch.to_pylist()]


@pytest.fixture(scope="module")
def url(postgresql: str) -> Iterator[str]:
    with new_database(postgresql) as url:
        yield url


@pytest.fixture
def postgres(url: str) -> Iterator[Database]:
    with psycopg.connect(url, autocommit=True) as connection:

        def sql(statement: str) -> list[Any]:
            done = connection.execute(statement)
            return done.fetchall() if done.description else []

        sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        yield Database({"url": url.replace("postgresql://postgres@", "jdbc:postgresql://"), "user": "postgres"}, sql)


@pytest.fixture
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    match request.param:
        case "postgresql":
            yield request.getfixturevalue("postgres")
        case "mariadb":
            with new_schema(request.getfixturevalue("mariadb")) as url:
                yield Database({"url": url}, lambda statement: mariadb_sql(url, statement))
        case "redshift":
            with redshift_server(request.getfixturevalue("postgresql"), request.getfixturevalue("kinesis")) as server:
                yield Database({**server.options, "redshiftTmpDir": _bucket(request)}, server.sql)


def _bucket(request: pytest.FixtureRequest) -> str:
    patch, endpoint = request.getfixturevalue("monkeypatch"), request.getfixturevalue("kinesis")
    patch.setenv("AWS_ENDPOINT_URL", endpoint)
    patch.setenv("AWS_REGION", "us-east-1")
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "AWS_DEFAULT_REGION"):
        patch.delenv(name, raising=False)
    name = f"values-{uuid4().hex[:8]}"
    boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1").create_bucket(Bucket=name)
    return f"s3://{name}"


EACH = pytest.mark.parametrize("database", ["postgresql", "mariadb", "redshift"], indirect=True)
ROWS = ({"id": 1, "closed": None, "state": None}, {"id": 2, "closed": "b", "state": "y"})


@EACH
@pytest.mark.parametrize("cuts", [[ROWS], [ROWS[:1], ROWS[1:]]], ids=["together", "apart"])
@pytest.mark.parametrize("mode", ["append", "upsert"])
def test_a_null_is_written_whatever_the_other_rows_are(database, cuts, mode):
    database.sql("CREATE TABLE t (id int PRIMARY KEY, closed varchar(9), state varchar(9) DEFAULT 'open')")
    if mode == "upsert":
        database.sql("INSERT INTO t VALUES (1, 'a', 'x'), (2, 'a', 'x')")
    for rows in cuts:
        database.write(
            "t", batch(*rows, id=pa.int32()), mode=mode, **({"upsertKeys": "id"} if mode == "upsert" else {})
        )
    assert database.sql("SELECT * FROM t ORDER BY id") == [(1, None, None), (2, "b", "y")]


@EACH
def test_a_column_that_no_record_has_keeps_its_default_and_its_value(database):
    database.sql("CREATE TABLE t (id int PRIMARY KEY, state varchar(9) DEFAULT 'open', n int)")
    database.write("t", batch({"id": 1, "n": None}, id=pa.int32()))
    database.write("t", batch({"id": 1, "n": 5, "more": None}, id=pa.int32()), mode="upsert", upsertKeys="id")
    assert database.sql("SELECT * FROM t") == [(1, "open", 5)]


def test_null_for_a_column_that_postgresql_numbers_or_computes_leaves_it_to_the_server(postgres):
    postgres.sql(
        "CREATE TABLE t (n int GENERATED ALWAYS AS IDENTITY, m int GENERATED BY DEFAULT AS IDENTITY, a int,"
        " b int GENERATED ALWAYS AS (a + 1) STORED)"
    )
    postgres.write("t", batch({"n": None, "m": None, "a": 1, "b": None}))
    assert postgres.sql("SELECT * FROM t") == [(1, 1, 1, 2)]
    postgres.sql("CREATE TABLE s (n serial, a int)")
    with pytest.raises(ConfigError, match='null value in column "n" of relation "s"'):
        postgres.write("s", batch({"n": None, "a": 1}))


def test_null_for_a_column_that_mariadb_numbers_or_computes_leaves_it_to_the_server(mariadb):
    with new_schema(mariadb) as url:
        mariadb_sql(url, "CREATE TABLE t (n int AUTO_INCREMENT PRIMARY KEY, a int, b int AS (a + 1) STORED)")
        write({"url": url, "dbtable": "t"}, batch({"n": None, "a": 1, "b": None}))
        assert mariadb_sql(url, "SELECT * FROM t") == [(1, 1, 2)]


@pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
def test_rows_without_any_column_of_the_table_are_refused(database):
    database.sql("CREATE TABLE t (id int)")
    with pytest.raises(ConfigError, match="there is nothing to write"):
        database.write("t", batch({"other": None}))


@pytest.mark.parametrize(
    ("declared", "fits", "refused", "said"),
    [
        ("varchar(3)", "abc", "abcd", "value too long"),
        ("char(2)", "ab", "xyz", "value too long"),
        ("bit(3)", "101", "1010", "bit string length 4"),
        ("bit varying(3)", "10", "1010", "bit string too long"),
        ("varchar(3)[]", ["abc", None], ["abcd"], "value too long"),
        ("bit(3)[]", ["101"], ["10"], "bit string length 2"),
        ("numeric(5,2)", 1.005, 1000.0, "numeric field overflow"),
        ("int2", 1, 40_000, "smallint out of range"),
        ("short", "abc", "abcd", "value too long"),
        ("short", "abc", "bad", "violates check constraint"),
        ("short[]", ["abc"], ["abcd"], "value too long"),
        ("uuid", "6e8bc430-9c3a-11d9-9669-0800200c9a66", "6e8bc430", "invalid input syntax"),
        ("boolean", "true", "maybe", "invalid input syntax"),
    ],
)
def test_a_value_that_its_column_cannot_hold_is_named_and_nothing_is_written(postgres, declared, fits, refused, said):
    postgres.sql(f"CREATE DOMAIN short AS varchar(3) CHECK (VALUE <> 'bad'); CREATE TABLE t (id int, c {declared})")
    rows = [{"id": n, "c": fits} for n in range(5)]
    with pytest.raises(ConfigError, match=rf"Column c of public\.t is of type .* and cannot hold .*{said}") as refusal:
        postgres.write("t", batch(*rows, {"id": 5, "c": refused}), batch(*rows))
    assert str(refused[0] if isinstance(refused, list) else refused).removesuffix(".0") in str(refusal.value)
    assert postgres.sql("SELECT * FROM t") == []
    assert postgres.write("t", batch(*rows), batch(*rows)) == 10


@pytest.mark.parametrize(
    ("declared", "value"), [("boolean", 1), ("int", True), ("bit(3)", 5), ("int[]", 5), ("date", 5), ("bytea", 5)]
)
def test_a_type_that_postgresql_does_not_assign_is_refused(postgres, declared, value):
    postgres.sql(f"CREATE TABLE t (c {declared})")
    with pytest.raises(ConfigError, match=r"Column c of public\.t is of type .*, which PostgreSQL does not assign"):
        postgres.write("t", batch({"c": value}))


@pytest.mark.parametrize(("declared", "key"), [("uuid", 7), ("int[]", 7)])
def test_a_key_of_a_type_that_its_column_does_not_take_is_named(postgres, declared, key):
    postgres.sql(f"CREATE TABLE t (k {declared} PRIMARY KEY, v int)")
    with pytest.raises(
        ConfigError, match=r"Column k of public\.t is of type .* which PostgreSQL does not assign to it"
    ):
        postgres.write("t", batch({"k": key, "v": 1}), upsertKeys="k")


@pytest.mark.parametrize(
    ("declared", "keys"),
    [
        ("varchar(3)", ["abcdef", "abcxyz"]),
        ("varchar(3)", ["abc", "abc "]),
        ("numeric(10,2)", [1.001, 1.002]),
        ("int", [1.4, 1.3]),
        ("date", [pa.scalar(0, pa.timestamp("us")), pa.scalar(1, pa.timestamp("us"))]),
        ("timestamp(0)", [pa.scalar(0, pa.timestamp("us")), pa.scalar(1, pa.timestamp("us"))]),
        ("real", [0.1, 0.10000000001]),
    ],
)
@pytest.mark.parametrize("together", [True, False])
def test_two_keys_of_an_upsert_never_become_one(postgres, declared, keys, together):
    postgres.sql(f"CREATE TABLE t (k {declared} PRIMARY KEY, v int)")
    rows = [batch({"k": key, "v": nth}) for nth, key in enumerate(keys)]

    def upsert() -> None:
        for task in [rows] if together else [[row] for row in rows]:
            postgres.write("t", task, upsertKeys="k")

    with pytest.raises(ConfigError, match=r"Column k of public\.t is a key of the upsert"):
        upsert()
    assert len(postgres.sql("SELECT * FROM t")) <= 1


def test_an_upsert_without_a_value_in_its_key_is_refused(postgres):
    postgres.sql("CREATE TABLE t (k int UNIQUE, v int)")
    for rows in ([{"k": None, "v": 1}], [{"k": None, "v": 1}, {"k": 2, "v": 2}]):
        with pytest.raises(ConfigError, match=r"1 rows for public\.t have a null in k"):
            postgres.write("t", batch(*rows), upsertKeys="k")


@pytest.mark.parametrize(
    ("declared", "value", "shown"),
    [
        ("timestamp", "infinity", "'infinity'"),
        ("timestamptz", "-infinity", "'-infinity'"),
        ("timestamp", "294270-01-01", "a year after 294246"),
        ("date", "infinity", "'infinity'"),
        ("date[]", "{2024-01-01,-infinity}", "'-infinity'"),
        ("timestamptz[]", "{infinity}", "'infinity'"),
        ("numeric(9,2)", "NaN", "not a decimal128"),
        ("numeric", "1e22", "not a decimal128.*10000000000000000000000"),
        ("numeric", "-Infinity", "not a decimal128.*-Infinity"),
        ("numeric", "99999999999999999999.9999999999999999995", "not a decimal128"),
        ("numeric(1000,900)", "1e90", "not a decimal128"),
        ("int[]", "{{1,2},{3,4}}", "an array of several dimensions"),
    ],
)
def test_a_value_that_a_frame_cannot_hold_is_refused_on_reads(postgres, declared, value, shown):
    postgres.sql(f"CREATE TABLE t (id int, c {declared}); INSERT INTO t VALUES (1, '{value}'), (2, NULL)")
    with pytest.raises(PermanentError, match=f"Column c of public.t has .*{shown}"):
        postgres.read("t")


def test_the_first_and_last_times_of_postgresql_are_read_and_written(postgres):
    values = "('4714-11-24 BC', '4714-11-24 BC'), ('294247-01-10 04:00:54.775807', '5874897-12-31')"
    postgres.sql(f"CREATE TABLE t (at timestamp, day date); INSERT INTO t VALUES {values}; CREATE TABLE u (LIKE t)")
    endpoint = JdbcEndpoint.from_options(postgres.options)
    with open_relation(endpoint, Table("t")) as relation:
        source = PostgresqlSource(endpoint, relation.source, relation.columns)
    postgres.write("u", [chunk.batch for chunk in source.read(JdbcSplit(Sql()))])
    assert postgres.sql("SELECT count(*) FROM t JOIN u USING (at, day)") == [(2,)]


@pytest.mark.parametrize("days", [-(2**31), -2_440_589, 2_145_042_906, 2**31 - 1, 10_957 - 2**31])
def test_a_date_that_postgresql_cannot_store_is_refused(postgres, days):
    postgres.sql("CREATE TABLE t (day date)")
    with pytest.raises(PermanentError, match=f"Column day of public.t cannot hold {days} days from 1970-01-01"):
        postgres.write("t", pa.record_batch({"day": pa.array([days], pa.int32()).view(pa.date32())}))


@pytest.mark.parametrize("sent", [-(2**63), 946_684_800_000_000 - 2**63, 946_684_799_999_999 - 2**63])
def test_a_timestamp_does_not_become_infinite_in_postgresql(postgres, sent):
    postgres.sql("CREATE TABLE t (at timestamp)")
    with pytest.raises(PermanentError, match=r"Column at of public\.t cannot hold -\d+ microseconds"):
        postgres.write("t", pa.record_batch({"at": pa.array([sent], pa.timestamp("us"))}))


@pytest.mark.parametrize("declared", ["timestamptz", "date", "numeric", "float8"])
def test_a_bookmark_does_not_end_at_an_infinite_value(postgres, declared):
    last = "'NaN'" if declared == "float8" else "'infinity'"
    postgres.sql(f"CREATE TABLE t (k {declared}); INSERT INTO t VALUES ({last})")
    with open_relation(JdbcEndpoint.from_options(postgres.options), Table("t")) as relation:
        key = relation.key(["k"], descending=False)
        with pytest.raises(ConfigError, match=r"The bookmark key k of public\.t has the value"):
            plan(relation, relation.name, key, None, None)


VALUES = {
    "numeric(10,2)": "1.25 -0.75 0 -2 1e7 NaN",
    "numeric": "0.3333333333333333333 -1e-20 1e30 NaN Infinity",
    "float8": "1.5 -0.1 1e300 -1e-300 NaN Infinity -Infinity -0",
    "int8": "0 -1 9223372036854775807 -9223372036854775808",
    "text": "a b c NaN 1.5",
    "date": "2024-01-01 infinity 0044-03-15_BC",
    "timestamptz": "2024-01-01 -infinity 2024-01-01T00:00:00.5Z",
    "boolean": "t f",
    "interval": "1.5_hours -2_days",
    "int[]": "{1} {} {{1,2},{3,4}}",
}


@pytest.mark.parametrize(
    ("declared", "option"),
    [
        *((declared, option) for declared in VALUES for option in ("hashexpression", "hashfield")),
        *((declared, "partitionColumn") for declared in VALUES if declared.startswith(("numeric", "float", "int8"))),
    ],
)
def test_the_parts_of_a_read_hold_every_row_once(postgres, declared, option):
    postgres.sql(f"CREATE TABLE t (id serial, c {declared})")
    values = ", ".join(f"('{value.replace('_', ' ')}')" for value in VALUES[declared].split())
    postgres.sql(f"INSERT INTO t (c) VALUES {values}, (NULL)")
    partitions = {
        "hashexpression": HashPartitions(None, "c", 3),
        "hashfield": HashPartitions("c", None, 3),
        "partitionColumn": RangePartitions("c", -1, 2, 3),
    }[option]
    with open_relation(JdbcEndpoint.from_options(postgres.options), Table("t")) as relation:
        cuts = [cut.render(lambda _, bound: bound.text) for cut in relation.cuts(partitions)]
    ids = [n for cut in cuts for (n,) in postgres.sql(f"SELECT id FROM t WHERE {cut}")]
    assert sorted(ids) == [n for (n,) in postgres.sql("SELECT id FROM t ORDER BY id")]


@pytest.mark.parametrize(
    ("declared", "keys"),
    [("decimal(10,2)", [1.001, 1.002]), ("int", [1.4, 1.3]), ("varchar(3)", ["abc ", "abc  "])],
)
def test_a_key_that_mariadb_would_change_is_a_reject(mariadb, declared, keys):
    with new_schema(mariadb) as url:
        mariadb_sql(url, f"CREATE TABLE t (k {declared} PRIMARY KEY, v int)")
        rows = [{"k": key, "v": nth} for nth, key in enumerate(keys)]
        assert write({"url": url, "dbtable": "t", "upsertKeys": "k"}, batch(*rows)) == 0
        assert mariadb_sql(url, "SELECT COUNT(*), (SELECT COUNT(*) FROM gluepot_rejects) FROM t") == [(0, 2)]


@pytest.mark.parametrize("database", ["redshift"], indirect=True)
def test_a_key_that_redshift_would_round_is_refused(database):
    database.sql("CREATE TABLE t (k numeric(10,2) PRIMARY KEY, v int)")
    with pytest.raises(ConfigError, match=r"2 rows for public\.t have a value in k that the table would round"):
        database.write("t", batch({"k": 1.001, "v": 1}, {"k": 1.002, "v": 2}, {"k": 1.5, "v": 3}), upsertKeys="k")


@EACH
@pytest.mark.parametrize(
    "cuts", [[[None, [], [None], [1]]], [[None], [[]], [[None]], [[1]]]], ids=["together", "apart"]
)
def test_an_empty_list_stays_one_whatever_the_other_rows_are(database, cuts, request):
    kind = {"postgresql": "int[]", "mariadb": "text", "redshift": "jsonb"}[request.node.callspec.params["database"]]
    database.sql(f"CREATE TABLE t (id int, c {kind})")
    for nth, values in enumerate(cuts):
        database.write("t", batch(*({"id": nth * 10 + n, "c": one} for n, one in enumerate(values)), id=pa.int32()))
    found = [value for (value,) in database.sql("SELECT c FROM t ORDER BY id")]
    assert [one.replace(" ", "") if isinstance(one, str) else one for one in found] in (
        [None, [], [None], [1]],
        [None, "[]", "[null]", "[1]"],
    )
