"""Jobs that write to Redshift's stand-in: published examples, and a job that is killed around its write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import boto3
import psycopg
import pytest

from gluepot.catalog.connect import open_catalog
from gluepot.catalog.formats import new_storage
from gluepot.catalog.values import Database, Table
from gluepot.core.clock import SystemClock
from tests.e2e.jobs import SCRIPTS, Job, rest
from tests.postgresql import new_database
from tests.redshift import RedshiftServer, redshift_server

KILLED = 128 + 9
BUCKETS = ("redshift_tmp_dir_path", "my-temp-bucket", "staged")


@pytest.fixture
def server(postgresql: str, kinesis: str) -> Iterator[RedshiftServer]:
    client = boto3.client("s3", endpoint_url=kinesis, region_name="us-east-1")
    for bucket in BUCKETS:
        client.create_bucket(Bucket=bucket)
    with redshift_server(postgresql, kinesis) as running:
        yield running
    for bucket in BUCKETS:
        for entry in client.list_objects_v2(Bucket=bucket).get("Contents", []):
            client.delete_object(Bucket=bucket, Key=entry["Key"])


def environment(server: RedshiftServer, folder: Path, **more: str) -> dict[str, str]:
    return {
        "GLUEPOT_STATE": str(folder / "state"),
        "AWS_ENDPOINT_URL": server.s3,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        **more,
    }


def described(folder: Path, database: str, name: str, columns: dict[str, str], rows: list[dict[str, Any]]) -> None:
    """Put a table of JSON files into the catalog."""
    (folder / name).mkdir()
    (folder / name / "part-0").write_text("".join(json.dumps(row) + "\n" for row in rows))
    storage = new_storage("json", str(folder / name)).body
    described = [{"Name": column, "Type": kind} for column, kind in columns.items()]
    catalog = open_catalog(f"sqlite:///{folder}/state/catalog.db", SystemClock())
    catalog.add_database(Database(database))
    body = {"StorageDescriptor": {**storage, "Columns": described}, "Parameters": {"classification": "json"}}
    assert catalog.add_table(Table(database, name, body))
    catalog.close()


def connection_file(folder: Path, name: str, server: RedshiftServer) -> Path:
    """Write the connections file; its URL names a database that the script overrides."""
    at = urlsplit(server.url.removeprefix("jdbc:"))
    path = folder / "connections.yaml"
    properties = {"JDBC_CONNECTION_URL": f"jdbc:redshift://{at.netloc}/dev?ssl=false", "USERNAME": "awsuser"}
    password = folder / "password"
    password.write_text("secret")
    properties["PASSWORD"] = f"file:{password}"
    path.write_text(json.dumps({"connections": {name: {"type": "jdbc", "properties": properties}}}))
    path.chmod(0o600)
    return path


def test_the_published_example_of_firehose_files_runs_unchanged(launch, tmp_path, server):
    server.database = "kinesis_db"
    rows = [{"col0": f"n{n}", "col1": str(n)} for n in range(10)]
    described(tmp_path, "firehose_s3_db", "firehose_s3_raw_table", {"col0": "string", "col1": "string"}, rows)
    env = environment(server, tmp_path, GLUEPOT_CONNECTIONS=str(connection_file(tmp_path, "redshift", server)))

    job = launch.hosted(
        *("run", SCRIPTS / "published" / "firehose_to_redshift.py", "--master", "local[1]", "--"),
        *("--JOB_NAME", "glue-job-incremental", "--job-bookmark-option", "job-bookmark-enable"),
        env=env,
    )

    assert job.exit_code() == 0, job.err
    assert server.sql("SELECT name, number FROM name ORDER BY name") == [(f"n{n}", str(n)) for n in range(10)]


def test_the_published_example_of_revenues_runs_unchanged(launch, tmp_path, server):
    server.database = "warehouse"
    server.sql("CREATE SCHEMA analytics")
    rows = [
        {
            "order_id": f"o{n}",
            "customer_id": n % 2,
            "order_timestamp": f"2026-0{1 + n % 3}-15 10:00:00",
            "total_amount": n,
        }
        for n in range(12)
    ]
    columns = {"order_id": "string", "customer_id": "bigint", "order_timestamp": "string", "total_amount": "double"}
    described(tmp_path, "curated_data", "orders", columns, rows)
    env = environment(server, tmp_path, GLUEPOT_CONNECTIONS=str(connection_file(tmp_path, "redshift-prod", server)))

    job = launch.hosted(
        *("run", SCRIPTS / "published" / "revenue_to_redshift.py", "--master", "local[1]", "--"),
        *("--JOB_NAME", "revenue"),
        env=env,
    )

    assert job.exit_code() == 0, job.err
    made = server.sql(
        "SELECT customer_id, month::text, monthly_revenue, order_count, avg_order_value"
        " FROM analytics.monthly_revenue ORDER BY 2, 1"
    )
    assert made == [
        (0, "2026-01-01 00:00:00", 6.0, 2, 3.0),
        (1, "2026-01-01 00:00:00", 12.0, 2, 6.0),
        (0, "2026-02-01 00:00:00", 14.0, 2, 7.0),
        (1, "2026-02-01 00:00:00", 8.0, 2, 4.0),
        (0, "2026-03-01 00:00:00", 10.0, 2, 5.0),
        (1, "2026-03-01 00:00:00", 16.0, 2, 8.0),
    ]


# Each start reads one row more than the start before it, finishes or replaces what that start left, and is killed one
# step later. Beside each place stands whether the rows of that start are visible then.
KILLS = {
    "jdbc.staged": False,
    "jdbc.publishing": False,
    "jdbc.published": True,
    "job.commit_called": True,
}


class Copying:
    """A job that copies a growing table to Redshift."""

    def __init__(self, launch: Any, folder: Path, source: str, server: RedshiftServer) -> None:
        self.launch, self.folder, self.source, self.server = launch, folder, source, server

    def start(self, **env: str) -> Job:
        return self.launch.hosted(
            *("run", SCRIPTS / "copy_redshift_table.py", "--master", "local[1]", "--"),
            *("--JOB_NAME", "copy", "--source", self.source, "--target", self.server.url),
            *("--TempDir", "s3://staged/tmp", "--job-bookmark-option", "job-bookmark-enable"),
            env=environment(self.server, self.folder, **env),
        )

    def copied(self) -> list[int]:
        if self.server.sql("SELECT to_regclass('copies')") == [(None,)]:
            return []
        return [row[0] for row in self.server.sql("SELECT id FROM copies ORDER BY id")]

    def staged(self) -> set[str]:
        """The suffixes of the files that are left in the temporary folder."""
        client = boto3.client("s3", endpoint_url=self.server.s3, region_name="us-east-1")
        return {
            entry["Key"].rpartition(".")[2] for entry in client.list_objects_v2(Bucket="staged").get("Contents", [])
        }


@pytest.mark.parametrize("places", [["jdbc.published"], pytest.param(list(KILLS), marks=pytest.mark.long)])
def test_a_job_killed_between_its_write_and_its_commit_has_copied_every_row_once(
    launch, tmp_path, postgresql, server, places
):
    with new_database(postgresql) as url, psycopg.connect(url, autocommit=True) as database:
        job = Copying(launch, tmp_path, url, server)
        database.execute("CREATE TABLE orders AS SELECT n::bigint AS id FROM generate_series(1, 100) AS n")
        for rows, place in enumerate(places, start=100):
            killed = job.start(GLUEPOT_FAILPOINT=place)
            assert killed.exit_code() == KILLED, (place, killed.err)
            assert job.copied() == (list(range(1, rows + 1)) if KILLS[place] else []), place
            database.execute("INSERT INTO orders VALUES (%s)", [rows + 1])
        again = job.start()
        assert again.exit_code() == 0, again.err
    assert job.copied() == list(range(1, 101 + len(places)))
    assert job.staged() == {"parquet", "receipt"}  # of the last append


@pytest.mark.long
def test_a_job_killed_twenty_times_at_random_has_copied_every_row_once(launch, tmp_path, postgresql, server):
    chance = Random(7)
    with new_database(postgresql) as url, psycopg.connect(url, autocommit=True) as database:
        job = Copying(launch, tmp_path, url, server)
        database.execute("CREATE TABLE orders AS SELECT n::bigint AS id FROM generate_series(1, 1000) AS n")
        rows, kills = 1000, 0
        while kills < 20:
            running = job.start()
            running.wait_until(lambda running=running: running.said("rows_planned"), "the plan of a run")
            rest(chance.random() * 4)
            if running.runs():
                launch.end()
                kills += 1
            database.execute("INSERT INTO orders VALUES (%s)", [rows + 1])
            rows += 1
            assert len(set(job.copied())) == len(job.copied())
        again = job.start()
        assert again.exit_code() == 0, again.err
    assert job.copied() == list(range(1, rows + 1))
