"""Jobs that write to and read from Redshift's stand-in, through Glue's own calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest
import structlog
from pyspark.sql import Row
from pyspark.sql.types import DecimalType, LongType, StringType, StructField, StructType

from awsglue import DynamicFrame
from awsglue.job import Job
from gluepot.bookmarks import jobrun
from gluepot.catalog.connect import open_catalog
from gluepot.catalog.values import Database, Table
from gluepot.core.clock import FakeClock, SystemClock
from gluepot.core.errors import ConfigError, PermanentError, TransientError
from gluepot.core.storage import open_storage
from gluepot.job import spark_redshift
from gluepot.streaming.query import session
from gluepot.streaming.query.session import StreamSession
from tests.redshift import RedshiftServer, redshift_server
from tests.spark.conftest import NumberStream

VARIABLES = ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


@pytest.fixture(scope="module")
def server(postgresql, kinesis) -> Iterator[RedshiftServer]:
    with redshift_server(postgresql, kinesis) as running:
        yield running


@pytest.fixture(scope="module")
def bucket(kinesis, glue_context) -> Iterator[str]:
    """The URL of a bucket; Spark's tasks find its server, too."""
    environment = {"AWS_ENDPOINT_URL": kinesis, "AWS_REGION": "us-east-1"}
    name = f"redshift-{uuid4().hex[:8]}"
    boto3.client("s3", endpoint_url=kinesis, region_name="us-east-1").create_bucket(Bucket=name)
    tasks = glue_context.spark_session.sparkContext.environment
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "AWS_DEFAULT_REGION"):
            patch.delenv(variable, raising=False)
        for variable, value in environment.items():
            patch.setenv(variable, value)
            patch.setitem(tasks, variable, value)
        yield f"s3://{name}"


@dataclass
class RedshiftJob:
    """A job that reads the table `orders` and writes the table `copies`."""

    glue_context: Any
    server: RedshiftServer
    folder: str
    runs: int = 0
    given: dict[str, Any] = field(default_factory=dict)

    def sql(self, statement: str) -> list[Any]:
        return self.server.sql(statement)

    def init(self, **arguments: Any) -> Job:
        self.runs += 1
        job = Job(self.glue_context)
        bookmarked = {"JOB_RUN_ID": f"jr_{self.runs}", "job_bookmark_option": "job-bookmark-enable"}
        job.init("orders", {**bookmarked, **arguments})
        return job

    def options(self, table: str, **options: Any) -> dict[str, Any]:
        return {**self.server.options, "dbtable": table, "redshiftTmpDir": self.folder, **options}

    def read(self, ctx: str = "source0", **options: Any) -> DynamicFrame:
        options = self.options("orders", **options)
        if "query" in options:
            del options["dbtable"]
        return self.glue_context.create_dynamic_frame.from_options("redshift", options, transformation_ctx=ctx)

    def write(self, frame: DynamicFrame, table: str = "copies", **options: Any) -> None:
        given = self.options(options.pop("dbtable", table), **options)
        self.glue_context.write_dynamic_frame.from_options(frame, "redshift", given, transformation_ctx="sink0")

    def frame(self, rows: list[Any], schema: Any = None) -> DynamicFrame:
        spark = self.glue_context.spark_session
        return DynamicFrame.fromDF(spark.createDataFrame(rows, schema), self.glue_context, "frame")

    def copy(self, rows: list[Any], **options: Any) -> None:
        """Write rows, by a run of its own."""
        run = self.init()
        self.write(self.frame(rows, "id long, name string"), **options)
        run.commit()

    def copied(self) -> list[Any]:
        return [row[0] for row in self.sql("SELECT id FROM copies ORDER BY id")]

    def files(self) -> list[str]:
        return list(open_storage(self.folder).list(""))


@pytest.fixture
def orders(glue_context, server, bucket, tmp_path: Path, monkeypatch) -> Iterator[RedshiftJob]:
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_LEDGER", raising=False)
    for (name,) in server.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
        server.sql(f'DROP TABLE "{name}"')
    server.statements.clear()
    yield RedshiftJob(glue_context, server, f"{bucket}/{uuid4().hex[:8]}")
    server.cut = lambda _: False
    jobrun.end("the test ended")


def numbered(*ids: int) -> list[Any]:
    return [(n, f"n{n}") for n in ids]


def test_a_table_that_is_not_there_is_made_with_types_of_redshift(orders):
    orders.init()
    row = Row(
        small=1,
        price=Decimal("1.50"),
        at=datetime(1969, 12, 31, 23, 59, 59, 123456, tzinfo=UTC),
        day=date(2026, 1, 2),
        raw=b"\x00\xff",
        right=True,
        share=0.1,
        text="it's a \\ tab\t, and é",
        tags=["a", "b"],
        nested=Row(x=1, y="z"),
    )
    orders.write(orders.frame([row]))
    made = orders.sql("SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'copies'")
    assert dict(made) == {
        "small": "bigint",
        "price": "numeric",
        "at": "timestamp without time zone",
        "day": "date",
        "raw": "bytea",
        "right": "boolean",
        "share": "double precision",
        "text": "character varying",
        "tags": "jsonb",
        "nested": "jsonb",
    }
    asked = 'SELECT small, price, at, day, raw, "right", share, text, tags, nested FROM copies'
    assert orders.sql(asked) == [
        (
            1,
            Decimal("1.50"),
            datetime(1969, 12, 31, 23, 59, 59, 123456),
            date(2026, 1, 2),
            b"\x00\xff",
            True,
            0.1,
            "it's a \\ tab\t, and é",
            ["a", "b"],
            {"x": 1, "y": "z"},
        )
    ]


def test_rows_are_appended_by_the_names_of_their_columns_and_take_the_tables_types(orders):
    orders.sql("CREATE TABLE copies (more int DEFAULT 7, NAME varchar(10), id smallint)")
    orders.copy(numbered(1))
    assert orders.sql("SELECT * FROM copies") == [(7, "n1", 1)]


def test_a_write_that_was_published_and_not_committed_is_not_written_again(orders):
    orders.init()
    orders.write(orders.frame(numbered(1, 2), "id long, name string"))
    jobrun.end("the driver died")
    orders.copy(numbered(1, 2))
    assert orders.copied() == [1, 2]


def read_and_copy(orders) -> None:
    orders.write(orders.read(jobBookmarkKeys=["id"]))


def filled(orders, *ids: int) -> None:
    orders.sql("CREATE TABLE IF NOT EXISTS orders (id bigint, name varchar(20))")
    for n in ids:
        orders.sql(f"INSERT INTO orders VALUES ({n}, 'n{n % 2}')")


def test_a_write_that_was_published_and_not_committed_is_replaced_by_one_of_more_rows(orders):
    filled(orders, 1, 2)
    orders.init()
    read_and_copy(orders)
    orders.sql("INSERT INTO copies VALUES (2, 'n0'), (9, NULL)")  # somebody else's, one of them equal to ours
    jobrun.end("the driver died")
    filled(orders, 3)
    run = orders.init()
    read_and_copy(orders)
    run.commit()
    assert orders.copied() == [1, 2, 2, 3, 9]


def test_the_files_of_a_published_append_go_with_the_write_after_it(orders):
    orders.copy(numbered(1))
    kept = orders.files()
    assert {Path(name).suffix for name in kept} == {".parquet", ".receipt"}
    orders.copy(numbered(2))
    orders.copy(numbered(3))
    assert not set(kept) & set(orders.files())
    assert orders.copied() == [1, 2, 3]


@pytest.mark.parametrize("change", ["UPDATE copies SET name = 'mine' WHERE id = 1", "DELETE FROM copies WHERE id = 1"])
def test_rows_that_somebody_changed_meanwhile_are_not_replaced_in_silence(orders, change):
    filled(orders, 1, 2)
    orders.init()
    read_and_copy(orders)
    jobrun.end("the driver died")
    orders.sql(change)
    before = orders.sql("SELECT * FROM copies ORDER BY id")
    filled(orders, 3)
    orders.init()
    with pytest.raises(PermanentError, match=r"put 2 rows into public\.copies, and of these only 1 are as it wrote"):
        read_and_copy(orders)
    assert orders.sql("SELECT * FROM copies ORDER BY id") == before


def test_without_the_kept_files_rows_are_not_replaced_in_silence(orders):
    filled(orders, 1, 2)
    orders.init()
    read_and_copy(orders)
    jobrun.end("the driver died")
    open_storage(orders.folder).delete([name for name in orders.files() if name.endswith(".receipt")])
    filled(orders, 3)
    orders.init()
    with pytest.raises(PermanentError, match=r"the files that tell which ones are not in s3://"):
        read_and_copy(orders)
    assert orders.copied() == [1, 2]


def test_an_upsert_replaces_rows_by_key_and_the_last_one_counts(orders):
    orders.sql("CREATE TABLE copies (id int PRIMARY KEY, name varchar(10), n int)")
    orders.sql("INSERT INTO copies VALUES (1, 'old', 5), (5, 'kept', 6)")
    run = orders.init()
    frame = orders.frame([(1, "a"), (2, "b"), (1, "c")], "id long, name string")
    orders.write(DynamicFrame.fromDF(frame.toDF().coalesce(1), orders.glue_context, "f"), mode="upsert")
    run.commit()
    assert orders.sql("SELECT * FROM copies ORDER BY id") == [(1, "c", 5), (2, "b", None), (5, "kept", 6)]


def test_an_upsert_of_rows_without_a_key_is_refused(orders):
    orders.sql("CREATE TABLE copies (id int, name varchar(10))")
    orders.init()
    with pytest.raises(ConfigError, match=r"1 rows for public\.copies have a null in id"):
        orders.write(orders.frame([(None, "a"), (2, "b")], "id long, name string"), upsertKeys=["id"])
    assert orders.copied() == []


def test_overwrite_leaves_only_what_the_run_wrote(orders):
    orders.copy(numbered(1), mode="overwrite")
    orders.copy(numbered(2), mode="overwrite")
    assert orders.copied() == [2]


# What Glue Studio generates for "merge data into the target table".
MERGE = {
    "preactions": "CREATE TABLE IF NOT EXISTS public.target (id BIGINT, name VARCHAR); DROP TABLE IF EXISTS"
    " public.target_temp_ab12cd; CREATE TABLE public.target_temp_ab12cd (id BIGINT, name VARCHAR);",
    "postactions": "BEGIN; MERGE INTO public.target USING public.target_temp_ab12cd ON target.id ="
    " target_temp_ab12cd.id WHEN MATCHED THEN UPDATE SET id = target_temp_ab12cd.id, name = target_temp_ab12cd.name"
    " WHEN NOT MATCHED THEN INSERT VALUES (target_temp_ab12cd.id, target_temp_ab12cd.name);"
    " DROP TABLE public.target_temp_ab12cd; END;",
}


def test_the_upsert_that_studio_generates_runs_and_is_repeated_without_harm(orders):
    orders.sql("CREATE TABLE target (id bigint, name varchar)")
    orders.sql("INSERT INTO target VALUES (1, 'old')")
    filled(orders, 1, 2)
    for more in ([3], [4]):
        orders.init()
        orders.write(orders.read(jobBookmarkKeys=["id"]), "public.target_temp_ab12cd", **MERGE)
        jobrun.end("the driver died")
        filled(orders, *more)
    run = orders.init()
    orders.write(orders.read(jobBookmarkKeys=["id"]), "public.target_temp_ab12cd", **MERGE)
    run.commit()
    assert orders.sql("SELECT * FROM target ORDER BY id") == [(1, "n1"), (2, "n0"), (3, "n1"), (4, "n0")]
    assert orders.sql("SELECT to_regclass('target_temp_ab12cd')") == [(None,)]


def test_a_repeated_write_whose_postactions_only_add_rows_is_refused(orders):
    orders.sql("CREATE TABLE target (id bigint, name varchar)")
    adds = {"postactions": "INSERT INTO target SELECT * FROM stage; DROP TABLE stage"}
    filled(orders, 1)
    orders.init()
    orders.write(orders.read(jobBookmarkKeys=["id"]), "stage", **adds)
    jobrun.end("the driver died")
    filled(orders, 2)
    orders.init()
    with pytest.raises(PermanentError, match="after postactions that only add rows"):
        orders.write(orders.read(jobBookmarkKeys=["id"]), "stage", **adds)
    assert orders.sql("SELECT id FROM target") == [(1,)]


def test_truncate_in_preactions_is_undone_with_the_write(orders):
    orders.copy(numbered(1))
    orders.init()
    with pytest.raises(ConfigError, match="no_such_table"):
        orders.write(
            orders.frame(numbered(2), "id long, name string"),
            preactions="TRUNCATE TABLE copies",
            postactions="DELETE FROM no_such_table",
        )
    assert orders.copied() == [1]
    orders.copy(numbered(2), preactions="truncate copies;")
    assert orders.copied() == [2]


def test_a_text_that_is_too_long_for_its_column_is_refused_or_cut_where_that_is_asked_for(orders):
    orders.sql("CREATE TABLE copies (id bigint, name varchar(3))")
    orders.init()
    with pytest.raises(ConfigError, match="too long"):
        orders.write(orders.frame([(1, "abcdef")], "id long, name string"))
    assert orders.copied() == []
    jobrun.end("the test goes on")
    orders.copy([(1, "abcdef")], extracopyoptions="TRUNCATECOLUMNS")
    assert orders.sql("SELECT * FROM copies") == [(1, "abc")]


def test_values_that_redshift_cannot_hold_are_kept_as_rejects(orders):
    orders.init()
    long = "é" * 32_768
    orders.write(orders.frame([(1, "fits"), (2, long), (3, "a\0b"), (4, None)], "id long, name string"))
    assert orders.copied() == [1, 4]
    rejects = orders.sql("SELECT reason, message, convert_from(raw, 'UTF8') FROM gluepot_rejects ORDER BY reason")
    assert [row[:2] for row in rejects] == [
        ("nul_character", "name has a NUL character, which Redshift cannot hold"),
        ("value_too_large", "name has 65536 bytes, and Redshift holds at most 65535"),
    ]
    assert [json.loads(row[2]) for row in rejects] == [{"id": 3, "name": "a\0b"}, {"id": 2, "name": long}]


def test_a_field_that_the_table_lacks_is_named(orders):
    orders.sql("CREATE TABLE copies (id int, title varchar)")
    orders.init()
    with pytest.raises(ConfigError, match=r"public\.copies has no column 'name'; it has id, title"):
        orders.write(orders.frame(numbered(1), "id long, name string"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dbtable": "wrong_types"}, "invalid input syntax for type integer"),
        ({"dbtable": "no_such_schema.t"}, r"no_such_schema.*does not exist"),
        ({"redshiftTmpDir": "s3://no-such-bucket/x"}, "no-such-bucket"),
        ({"postactions": "VACUUM copies"}, "postactions has VACUUM"),
        ({"mode": "upsert"}, "needs upsertKeys: the table has no primary key"),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(orders, options, said):
    orders.sql("CREATE TABLE wrong_types (id bigint, name int)")
    orders.sql("CREATE TABLE copies (id bigint, name varchar(20))")
    orders.init()
    with pytest.raises(ConfigError, match=said):
        orders.write(orders.frame(numbered(1), "id long, name string"), **options)
    assert orders.sql("SELECT * FROM copies") == orders.sql("SELECT * FROM wrong_types") == []
    assert orders.files() == []


def test_a_commit_whose_answer_was_lost_is_recognised(orders):
    orders.init()
    orders.server.cut = lambda statement: statement == "COMMIT"
    frame = orders.frame(numbered(1, 2), "id long, name string")
    with pytest.raises(TransientError):
        orders.write(frame)
    orders.server.cut = lambda _: False
    jobrun.end("the driver gave up")
    orders.copy(numbered(1, 2))
    assert orders.copied() == [1, 2]


def test_a_load_that_fails_leaves_nothing(orders):
    orders.init()
    orders.server.cut = lambda statement: statement.startswith("INSERT INTO public.copies")
    with pytest.raises(TransientError):
        orders.write(orders.frame(numbered(1, 2), "id long, name string"))
    orders.server.cut = lambda _: False
    assert orders.files() == []
    assert orders.sql("SELECT to_regclass('copies')") == [(None,)]


def test_a_wrong_password_and_a_server_that_is_not_there_are_told_apart(orders):
    orders.init()
    frame = orders.frame(numbered(1), "id long, name string")
    with pytest.raises(ConfigError, match="password authentication failed"):
        orders.write(frame, user="nobody")
    with pytest.raises(TransientError):
        orders.write(frame, url="jdbc:redshift://127.0.0.1:9/dev?ssl=false")


def test_a_missing_right_to_the_folder_is_named(orders, monkeypatch):
    orders.init()
    frame = orders.frame(numbered(1), "id long, name string")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "without-rights")  # which the S3 server itself does not check
    with pytest.raises(ConfigError, match="Access Denied, Status 403; let aws_iam_role, or the job's AWS credentials"):
        orders.write(frame)
    assert orders.files() == []


def test_the_folder_of_the_job_is_the_folder_for_staging(orders):
    job = orders.init(TempDir=orders.folder)
    options = orders.options("copies")
    del options["redshiftTmpDir"]
    orders.glue_context.write_dynamic_frame.from_options(
        orders.frame(numbered(1), "id long, name string"), "redshift", options, transformation_ctx="sink0"
    )
    job.commit()
    assert orders.copied() == [1]
    with pytest.raises(ConfigError, match="Redshift has no redshiftTmpDir"):
        orders.glue_context.write_dynamic_frame.from_options(
            orders.frame(numbered(1), "id long, name string"), "redshift", options
        )


def test_every_type_is_read(orders):
    orders.sql(
        "CREATE TABLE orders (s smallint, i int, b bigint, d numeric(10,2), r real, f double precision, o boolean,"
        " c char(3), v varchar(20), at timestamp, tz timestamptz, day date, doc jsonb, raw bytea, hour time)"
    )
    orders.sql(
        "INSERT INTO orders VALUES (1, 2, 3, 4.50, 0.5, 0.1, true, 'abc', 'it''s \\', '1900-01-02 03:04:05.678901',"
        " '2026-01-02 03:04:05+02', '2026-01-02', '{\"a\": [1]}', '\\x00ff', '12:30')"
    )
    orders.sql("INSERT INTO orders DEFAULT VALUES")
    orders.init()
    rows = orders.read().toDF().orderBy("s").collect()
    assert tuple(rows[0]) == (None,) * 15
    assert tuple(rows[1])[:9] == (1, 2, 3, Decimal("4.50"), 0.5, 0.1, True, "abc", "it's \\")
    assert tuple(rows[1])[9:] == (
        datetime(1900, 1, 2, 3, 4, 5, 678901),
        datetime(2026, 1, 2, 1, 4, 5),
        date(2026, 1, 2),
        '{"a": [1]}',
        bytearray(b"\x00\xff"),
        "12:30:00",
    )


def test_a_table_without_rows_has_its_columns(orders):
    orders.sql("CREATE TABLE orders (id bigint, price numeric(9,3))")
    orders.init()
    frame = orders.read().toDF()
    assert frame.count() == 0
    assert frame.schema == StructType([StructField("id", LongType()), StructField("price", DecimalType(9, 3))])


def test_a_query_is_read_whatever_is_quoted_in_it(orders):
    filled(orders, 1, 2, 3)
    orders.init()
    query = r"SELECT id, 'it''s \\ x' AS text FROM orders WHERE name = 'n1';"
    rows = orders.read(query=query).toDF().orderBy("id").collect()
    assert [tuple(row) for row in rows] == [(1, "it's \\ x"), (3, "it's \\ x")]
    assert rows[0].__fields__ == ["id", "text"]
    assert isinstance(orders.read(query=query).toDF().schema["text"].dataType, StringType)


def test_a_table_of_the_catalog_is_read_and_written_through_its_connection(orders, tmp_path, monkeypatch):
    filled(orders, 1, 2)
    properties = {
        "JDBC_CONNECTION_URL": orders.server.url.replace("/dev", "/other"),
        "SECRET_ID": "shop/warehouse",
    }
    secret = json.dumps({"username": orders.server.user, "password": "secret"})
    secrets = boto3.client("secretsmanager", endpoint_url=orders.server.s3, region_name="us-east-1")
    secrets.create_secret(Name="shop/warehouse", SecretString=secret)
    (tmp_path / "connections.yaml").write_text(
        json.dumps({"connections": {"warehouse": {"type": "jdbc", "properties": properties}}})
    )
    (tmp_path / "connections.yaml").chmod(0o600)
    monkeypatch.setenv("GLUEPOT_CONNECTIONS", str(tmp_path / "connections.yaml"))
    monkeypatch.setenv("GLUEPOT_CATALOG", f"sqlite:///{tmp_path}/catalog.db")
    catalog = open_catalog(f"sqlite:///{tmp_path}/catalog.db", SystemClock())
    catalog.add_database(Database("shop"))
    described = {
        "StorageDescriptor": {"Location": "dev.public.orders", "Columns": [{"Name": "id", "Type": "bigint"}]},
        "Parameters": {"classification": "redshift", "connectionName": "warehouse"},
    }
    assert catalog.add_table(Table("shop", "orders", described))
    catalog.close()
    run = orders.init()
    frame = orders.glue_context.create_dynamic_frame.from_catalog(
        database="shop", table_name="orders", redshift_tmp_dir=orders.folder, transformation_ctx="source0"
    )
    with structlog.testing.capture_logs() as lines:
        one = orders.glue_context.create_dynamic_frame.from_catalog(
            database="shop",
            table_name="orders",
            redshift_tmp_dir=orders.folder,
            push_down_predicate="id = 1",
            additional_options={"pushDownPredicate": "id = 2", "hashfield": "name", "hashpartitions": "2"},
        )
    assert "push_down_predicate" in {line.get("option") for line in lines if line["log_level"] == "warning"}
    assert [row["id"] for row in one.toDF().collect()] == [2]
    orders.glue_context.write_dynamic_frame.from_options(
        frame,
        "redshift",
        {"connectionName": "warehouse", "useConnectionProperties": "true", "database": "dev", "dbtable": "public.copies",
         "redshiftTmpDir": orders.folder, "aws_iam_role": "arn:aws:iam::123456789012:role/copy"},
        transformation_ctx="sink0",
    )  # fmt: skip
    orders.glue_context.write_dynamic_frame.from_catalog(
        frame, "shop", "orders", redshift_tmp_dir=orders.folder, transformation_ctx="sink1"
    )
    run.commit()
    assert orders.copied() == [1, 2]
    assert orders.sql("SELECT id FROM orders ORDER BY id") == [(1,), (1,), (2,), (2,)]
    (copied,) = [one for one in orders.server.statements if one.startswith("COPY")][:1]
    assert "IAM_ROLE 'arn:aws:iam::123456789012:role/copy'" in copied


def test_a_bookmark_remembers_the_rows_that_were_read(orders):
    def run() -> list[int]:
        job = orders.init()
        ids = sorted(row["id"] for row in orders.read(jobBookmarkKeys=["id"]).toDF().collect())
        job.commit()
        return ids

    filled(orders, 1, 2)
    assert run() == [1, 2]
    assert run() == []
    filled(orders, 3)
    assert run() == [3]
    some = orders.read("", pushDownPredicate="id = 0 OR name = 'n1' -- odd", jobBookmarkKeys=["id"])
    assert sorted(row["id"] for row in some.toDF().collect()) == [1, 3]


def test_a_table_that_is_not_there_and_a_query_that_is_wrong_are_refused(orders):
    orders.init()
    with pytest.raises(ConfigError, match="The table 'orders' is not there"):
        orders.read()
    with pytest.raises(ConfigError, match="no_such_column"):
        orders.read(query="SELECT no_such_column FROM pg_class")


@pytest.fixture
def number_stream(glue_context, tmp_path) -> Iterator[NumberStream]:
    yield NumberStream(glue_context, tmp_path / "checkpoint")
    session.install(StreamSession())


def test_a_micro_batch_that_fails_after_its_write_is_written_once(orders, number_stream):
    calls = []

    def function(frame, batch_id):
        orders.write(DynamicFrame.fromDF(frame, orders.glue_context, "f"))
        calls.append(batch_id)
        if len(calls) == 1:
            raise OSError("trouble after the write")

    number_stream.run(function, clock=FakeClock(), max_batches=2)
    assert calls == [0, 0, 1]
    assert orders.sql("SELECT value FROM copies ORDER BY value") == [(n,) for n in range(20)]


def test_rows_that_another_attempt_has_written_elsewhere_go(orders, number_stream):
    orders.sql("CREATE TABLE sometimes (value bigint)")
    orders.sql("INSERT INTO sometimes VALUES (3), (100)")  # somebody else's
    tries = []

    def function(frame, batch_id):
        tries.append(batch_id)
        rows = DynamicFrame.fromDF(frame, orders.glue_context, "f")
        orders.write(rows, "always")
        if len(tries) == 1:
            orders.write(rows, "sometimes")
            assert orders.sql("SELECT count(*) FROM sometimes") == [(12,)]
            raise RuntimeError("trouble after both writes")

    number_stream.run(function, clock=FakeClock(), max_batches=1)
    assert orders.sql("SELECT count(*) FROM always") == [(10,)]
    assert orders.sql("SELECT value FROM sometimes ORDER BY value") == [(3,), (100,)]


SPARK_FORMAT = "io.github.spark_redshift_community.spark.redshift"


def test_sparks_format_reads_and_writes_as_our_own_source_and_target_do(orders):
    spark = orders.glue_context.spark_session
    given = {
        **orders.server.options,
        "tempdir": orders.folder.replace("s3:", "s3a:"),
        "forward_spark_s3_credentials": True,
    }
    orders.sql("CREATE TABLE orders (id bigint, name varchar(20))")
    orders.sql("INSERT INTO orders VALUES (1, 'n1'), (2, 'n2'), (3, 'n3')")
    with spark_redshift.served():
        frame = spark.read.format(SPARK_FORMAT).options(**given).option("dbTable", "orders").load()
        assert sorted(row["id"] for row in frame.collect()) == [1, 2, 3]
        few = spark.read.load(
            format="com.databricks.spark.redshift", query="SELECT id FROM orders WHERE id > 1", **given
        )
        assert sorted(map(tuple, few.collect())) == [(2,), (3,)]
        writer = few.write.format(SPARK_FORMAT).options(**given)
        for name, mode, ids in [
            ("copies", None, [2, 3]),
            ("copies", "append", [2, 2, 3, 3]),
            ("copies", "overwrite", [2, 3]),
            ("copies", "ignore", [2, 3]),
        ]:
            run = orders.init()
            (writer if mode is None else writer.mode(mode)).option("dbtable", name).save()
            run.commit()
            assert orders.copied() == ids, mode
        run = orders.init()
        for _ in range(2):
            writer.mode("append").save()
        run.commit()
        assert orders.copied() == [2, 2, 2, 3, 3, 3], "two writes of one run are two writes"
        with pytest.raises(ConfigError, match="copies is there already"):
            few.write.format(SPARK_FORMAT).options(**given).save(dbtable="copies")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tmpdir": "s3://x/y", "dbtable": "t"}, "option 'tmpdir' .* Did you mean 'tempdir'"),
        ({"dbtable": "t"}, "redshiftTmpDir"),
        ({"dbtable": "t", "query": "SELECT 1", "tempdir": "s3://x/y"}, "more than one of"),
    ],
)
def test_wrong_options_of_sparks_format_are_refused(orders, options, said):
    reader = orders.glue_context.spark_session.read.format(SPARK_FORMAT)
    with spark_redshift.served(), pytest.raises(ConfigError, match=said):
        reader.load(format=SPARK_FORMAT, **{**orders.server.options, **options})
