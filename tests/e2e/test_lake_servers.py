"""An Iceberg table whose catalog is a PostgreSQL database and whose files lie in S3: a driver killed after its append."""

from __future__ import annotations

from uuid import uuid4

import boto3
import psycopg
import pytest
from pyiceberg.table import StaticTable

from tests.e2e.jobs import SCRIPTS, arguments
from tests.e2e.lake import glue_catalog
from tests.moto_server import moto_endpoint
from tests.postgresql import new_database

KILLED = 128 + 9
EACH = 20


@pytest.fixture
def database(postgresql):
    with new_database(postgresql) as url:
        yield url


@pytest.fixture
def s3(aws_credentials):
    """URL of a server with an empty bucket, and the bucket."""
    with moto_endpoint() as url:
        bucket = f"lake-{uuid4().hex[:8]}"
        boto3.client("s3", endpoint_url=url, region_name="us-east-1").create_bucket(Bucket=bucket)
        yield url, bucket


def test_a_batch_appended_by_a_driver_that_was_killed_is_not_appended_again(launch, tmp_path, topic, database, s3):
    url, bucket = s3
    env = {
        "GLUEPOT_STATE": str(tmp_path / "state"),
        "GLUEPOT_CATALOG": database,
        "AWS_ENDPOINT_URL": url,
        "AWS_REGION": "us-east-1",
    }

    def append(failpoint=""):
        given = arguments(
            JOB_NAME="append", TempDir=tmp_path / "temp", bootstrap_servers=topic.bootstrap, topic=topic.name,
            format="iceberg", output_path=tmp_path,
        )  # fmt: skip
        run = ("run", SCRIPTS / "append_to_lake.py", "--master", "local[2]", "--until-caught-up")
        limit = ("--stream-option", f"maxOffsetsPerTrigger={EACH}", "--")
        formats = ("--datalake-formats", "iceberg", *glue_catalog(f"s3://{bucket}/warehouse"))
        return launch.hosted(*run, *limit, *formats, *given, env={**env, "GLUEPOT_FAILPOINT": failpoint})

    topic.send_numbers(range(3 * EACH))
    assert append("lake.appended@2").exit_code() == KILLED

    again = append()

    assert again.exit_code() == 0, again.err
    assert len(again.said("batch_already_in_table")) == 1
    with psycopg.connect(database) as opened:
        query = "SELECT metadata_location FROM iceberg_tables WHERE table_name = 'numbers'"
        (location,) = opened.execute(query).fetchone()
    assert location.startswith(f"s3://{bucket}/warehouse/")
    table = StaticTable.from_metadata(location, {"s3.endpoint": url, "s3.region": "us-east-1"})
    assert sorted(table.scan().to_arrow()["n"].to_pylist()) == list(range(3 * EACH))
    # The second driver confirms the batch of the first one by a snapshot without rows.
    assert [int(one.summary["added-records"] or 0) for one in table.snapshots()] == [EACH, EACH, 0, EACH]
