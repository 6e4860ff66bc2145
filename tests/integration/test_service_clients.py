"""Programs of others that call AWS Glue, unmodified, against a running service."""

import json
import os
import time

import boto3
import pytest

from gluepot.core.clock import SystemClock
from gluepot.service.server import ServeOptions, service
from tests.clients.environment import SECS, run_script, shell_environment
from tests.moto_server import moto_endpoint
from tests.service_answers import client_of

SCRIPT = """
import sys, time

day = sys.argv[sys.argv.index("--day") + 1]
print("orders of", day, flush=True)
if day == "sleep":
    time.sleep(60)
sys.exit(3 if day == "nothing" else 0)
"""


@pytest.fixture(scope="module")
def s3(aws_credentials):
    """URL of an S3 with a bucket `scripts`, where the service looks for scripts."""
    with moto_endpoint() as url, pytest.MonkeyPatch.context() as environment:
        boto3.client("s3", endpoint_url=url, region_name="us-east-1").create_bucket(Bucket="scripts")
        environment.setenv("AWS_ENDPOINT_URL_S3", url)
        yield url


@pytest.fixture(scope="module")
def serving(tmp_path_factory, s3):
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path_factory.mktemp("service"))}
    with service(ServeOptions(port=0), environ, SystemClock()) as running:
        yield running


def test_awswrangler_keeps_tables_and_partitions_in_the_catalog(serving):
    told = run_script("awswrangler_catalog.py", environ=shell_environment(serving))
    columns = [
        {"Column Name": "id", "Type": "bigint", "Partition": False, "Comment": "the key"},
        {"Column Name": "total", "Type": "double", "Partition": False, "Comment": ""},
        {"Column Name": "day", "Type": "string", "Partition": True, "Comment": ""},
        {"Column Name": "region", "Type": "string", "Partition": True, "Comment": ""},
    ]
    table = {
        "Database": "shop",
        "Table": "orders",
        "Description": "all orders",
        "TableType": "EXTERNAL_TABLE",
        "Columns": "id, total",
        "Partitions": "day, region",
    }
    assert told == [
        [{"Database": "shop", "Description": "the shop"}],
        [True, False],
        True,
        {"s3://lake/orders/day=7/region=eu/": ["7", "eu"]},
        119,
        119,
        [table],
        ["orders"],
        ["orders"],
        columns,
        {"id": "bigint", "total": "double", "day": "string", "region": "string"},
        {"id": "the key", "total": None, "day": None, "region": None},
        ["s3://lake/orders/", "all orders"],
        "till",
        {"classification": "parquet"},
        3,
        ["id", "total", "day", "region"],
        ["events", "log", "orders"],
        [True, False],
        0,
    ]


def test_tasks_of_airflow_run_await_and_stop_jobs_and_crawlers(serving, s3, tmp_path):
    script = tmp_path / "daily.py"
    script.write_text(SCRIPT)
    connection = {
        "conn_type": "aws",
        "login": serving.key.id,
        "password": serving.key.secret,
        "extra": {
            "endpoint_url": serving.url,
            "region_name": serving.region,
            "service_config": {"s3": {"endpoint_url": s3}},
        },
    }
    environ = {"AIRFLOW_CONN_AWS_DEFAULT": json.dumps(connection), "AIRFLOW_HOME": str(tmp_path / "airflow")}
    for day in (1, 2):
        (tmp_path / "orders" / f"day={day}").mkdir(parents=True)
        (tmp_path / "orders" / f"day={day}" / "x.json").write_text('{"id": 1}\n')
    glue = client_of(serving)
    glue.create_database(DatabaseInput={"Name": "web"})
    told = run_script(
        "airflow_tasks.py", str(script), "scripts", str(tmp_path / "orders"), environ={**os.environ, **environ}
    )
    started, sensed, shell, failed, killed, *of_crawlers = told

    uploaded = glue.get_job(JobName="uploaded")["Job"]
    assert uploaded["Command"] == {"Name": "glueetl", "ScriptLocation": "s3://scripts/artifacts/glue-scripts/daily.py"}
    assert uploaded["Role"] == "arn:aws:iam::000000000000:role/etl"
    assert started["glue_job_run_id"] == started["found"]
    assert sensed == {"found": None}
    run = glue.get_job_run(JobName="uploaded", RunId=started["found"])["JobRun"]
    assert (run["JobRunState"], run["Arguments"]) == ("SUCCEEDED", {"--day": "monday"})

    assert state_of(glue, "shell", shell["found"]) == "SUCCEEDED"
    assert failed["raised"].startswith("AirflowException: Exiting Job jr_")
    assert failed["raised"].endswith("Run State: FAILED")
    assert glue.get_job(JobName="shell")["Job"]["Timeout"] == 5
    arn = f"arn:aws:glue:{serving.region}:000000000000:job/shell"
    assert glue.get_tags(ResourceArn=arn)["Tags"] == {"team": "data"}
    deadline = time.monotonic() + SECS
    while (state := state_of(glue, "shell", killed["found"])) not in {"STOPPED", "SUCCEEDED"}:
        assert time.monotonic() < deadline, state
        time.sleep(0.1)
    assert state == "STOPPED"

    made, crawled, changed, again, watched, also_made, broken = of_crawlers
    assert (made, crawled, changed, again) == ({"found": "lake"},) * 4
    assert (watched, also_made) == ({"found": None}, {"found": "nowhere"})
    assert [one["Name"] for one in glue.get_tables(DatabaseName="web")["TableList"]] == ["orders", "raw_orders"]
    arn = f"arn:aws:glue:{serving.region}:000000000000:crawler/lake"
    assert glue.get_tags(ResourceArn=arn)["Tags"] == {"team": "web"}
    assert glue.get_crawler(Name="nowhere")["Crawler"]["LastCrawl"]["Status"] == "FAILED"
    assert "terminal failure state" in broken["raised"]


def state_of(glue, job, run_id):
    return glue.get_job_run(JobName=job, RunId=run_id)["JobRun"]["JobRunState"]
