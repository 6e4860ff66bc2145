"""The metrics of a real run, read by unmodified boto3 and the AWS command line; the service was away when it ended."""

import json
import os
import time
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.loaders import Loader

from gluepot.core.clock import SystemClock
from gluepot.service.server import ServeOptions, service
from tests.clients.environment import aws_command_line, shell_environment
from tests.service_answers import client_of

SECS = 120
ROWS = 1000
SCRIPT = """
import sys
import time
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "source", "target"])
glue = GlueContext(SparkContext.getOrCreate())
job = Job(glue)
job.init(args["JOB_NAME"], args)
rows = glue.create_dynamic_frame.from_options("s3", {"paths": [args["source"]]}, "json")
glue.write_dynamic_frame.from_options(rows, "s3", {"path": args["target"]}, "parquet")
assert glue.spark_session.sparkContext.parallelize(range(10), 2).map(lambda one: (one % 3, one)).groupByKey().count() == 3
job.commit()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def run_id(folder):
    """A run that ends while no service is there."""
    (folder / "source").mkdir()
    lines = [json.dumps({"id": number, "name": f"row {number}"}) for number in range(ROWS)]
    (folder / "source" / "rows.json").write_text("\n".join(lines) + "\n")
    (folder / "job.py").write_text(SCRIPT)
    with service(ServeOptions(port=0), environment(folder), SystemClock()) as serving:
        glue = client_of(serving)
        arguments = {"--enable-metrics": "", "--enable-observability-metrics": "true"}
        places = {"--source": str(folder / "source"), "--target": str(folder / "target")}
        command = {"Name": "glueetl", "ScriptLocation": str(folder / "job.py")}
        glue.create_job(Name="daily", Role="any", Command=command, DefaultArguments={**arguments, **places})
        run_id = glue.start_job_run(JobName="daily")["JobRunId"]
        awaited(lambda: glue.get_job_run(JobName="daily", RunId=run_id)["JobRun"]["JobRunState"] == "RUNNING")
    awaited((folder / "state" / "service" / "runs" / run_id / "ended.json").exists)
    return run_id


@pytest.fixture(scope="module")
def serving(folder, run_id):
    with service(ServeOptions(port=0), environment(folder), SystemClock()) as running:
        glue, metrics = client_of(running), client_of(running, "cloudwatch")
        awaited(lambda: glue.get_job_run(JobName="daily", RunId=run_id)["JobRun"]["JobRunState"] != "RUNNING")
        awaited(lambda: metrics.list_metrics(Namespace="Glue", MetricName="glue.driver.jvm.heap.used")["Metrics"])
        yield running


def environment(folder):
    return {**os.environ, "GLUEPOT_STATE": str(folder / "state")}


def awaited(there):
    until = time.monotonic() + SECS
    while not there():
        assert time.monotonic() < until
        time.sleep(0.1)


def dimensions(**pairs):
    return [{"Name": name, "Value": value} for name, value in pairs.items()]


def test_the_counts_of_a_run_are_those_of_its_data(serving, run_id, folder):
    metrics = client_of(serving, "cloudwatch")
    now = datetime.now(UTC)
    of_run = {"JobName": "daily", "JobRunId": run_id}
    wanted = {
        "read": ("glue.driver.aggregate.recordsRead", of_run | {"Type": "count"}),
        "all": ("glue.driver.aggregate.recordsRead", {"JobName": "daily", "JobRunId": "ALL", "Type": "count"}),
        "tasks": ("glue.driver.aggregate.numCompletedTasks", of_run | {"Type": "count"}),
        "stages": ("glue.driver.aggregate.numCompletedStages", of_run | {"Type": "count"}),
        "elapsed": ("glue.driver.aggregate.elapsedTime", of_run | {"Type": "count"}),
        "shuffled": ("glue.driver.aggregate.shuffleBytesWritten", of_run | {"Type": "count"}),
        "heap": ("glue.driver.jvm.heap.used", of_run | {"Type": "gauge"}),
        "source": (
            "glue.driver.recordsRead",
            of_run | {"Type": "gauge", "ObservabilityGroup": "throughput", "Source": str(folder / "source")},
        ),
        "sink": (
            "glue.driver.recordsWritten",
            of_run | {"Type": "gauge", "ObservabilityGroup": "throughput", "Sink": str(folder / "target")},
        ),
        "ok": ("glue.succeed.ALL", of_run | {"Type": "count", "ObservabilityGroup": "error"}),
    }
    queries = [
        {
            "Id": name,
            "MetricStat": {
                "Metric": {"Namespace": "Glue", "MetricName": metric, "Dimensions": dimensions(**pairs)},
                "Period": 3600,
                "Stat": "Sum",
            },
        }
        for name, (metric, pairs) in wanted.items()
    ]
    span = {"StartTime": now - timedelta(minutes=30), "EndTime": now + timedelta(minutes=5)}
    pages = metrics.get_paginator("get_metric_data").paginate(
        MetricDataQueries=queries, **span, PaginationConfig={"PageSize": 3}
    )
    found = {one["Id"]: one["Values"] for page in pages for one in page["MetricDataResults"]}
    assert [found[name] for name in ("read", "all", "source", "sink", "ok")] == [[ROWS]] * 4 + [[1]]
    # The two stages of the script's own work; so little data is read and written without Spark's tasks.
    assert (found["stages"], found["tasks"]) == ([2], [4])
    assert min(found["elapsed"] + found["shuffled"] + found["heap"]) > 0


def test_the_command_line_reads_metrics(serving, run_id):
    now = datetime.now(UTC)
    start, end = ((now + timedelta(minutes=one)).isoformat() for one in (-30, 5))
    with aws_command_line(shell_environment(serving)) as aws:
        listed = aws.json(
            f"aws cloudwatch list-metrics --namespace Glue --dimensions Name=JobRunId,Value={run_id} Name=Sink"
            " --query 'Metrics[].MetricName'"
        )
        assert sorted(listed) == ["glue.driver.bytesWrittten", "glue.driver.filesWritten", "glue.driver.recordsWritten"]
        points = aws.json(
            "aws cloudwatch get-metric-statistics --namespace Glue"
            " --metric-name glue.driver.aggregate.recordsRead --statistics Sum Maximum --period 3600"
            f" --dimensions Name=JobName,Value=daily Name=JobRunId,Value={run_id} Name=Type,Value=count"
            f" --start-time {start} --end-time {end}"
        )["Datapoints"]
        assert [(one["Sum"], one["Unit"]) for one in points] == [(ROWS, "Count")]
        aws("aws cloudwatch put-metric-data --namespace Shop --metric-name orders --value 3 --unit Count")
        refused = aws.refused(
            "aws cloudwatch get-metric-statistics --namespace Shop --metric-name orders --statistics Sum --period 60"
            f" --start-time {end} --end-time {start}"
        )
        assert "(InvalidParameterValue)" in refused


def test_large_requests_are_compressed_and_errors_are_those_of_the_model(serving):
    metrics = client_of(serving, "cloudwatch")
    data = [{"MetricName": f"sold {number}", "Value": number} for number in range(400)]
    metrics.put_metric_data(Namespace="Shop", MetricData=data)  # botocore compresses more than 10,240 bytes
    listed = metrics.get_paginator("list_metrics").paginate(Namespace="Shop", MetricName="sold 399")
    assert [one["MetricName"] for page in listed for one in page["Metrics"]] == ["sold 399"]
    with pytest.raises(metrics.exceptions.InvalidParameterValueException):
        metrics.put_metric_data(Namespace="AWS/Shop", MetricData=data[:1])


def test_an_older_boto3_which_sends_forms_reads_metrics(serving, run_id, tmp_path):
    loader = Loader(extra_search_paths=[str(tmp_path)])
    model = loader.load_service_model("cloudwatch", "service-2")
    model["metadata"] |= {"protocol": "query", "protocols": ["query"]}
    folder = tmp_path / "cloudwatch" / model["metadata"]["apiVersion"]
    folder.mkdir(parents=True)
    (folder / "service-2.json").write_text(json.dumps(model))
    session = boto3.Session()
    session._session.get_component("data_loader").search_paths.insert(0, str(tmp_path))
    metrics = session.client(
        "cloudwatch",
        endpoint_url=serving.url,
        region_name=serving.region,
        aws_access_key_id=serving.key.id,
        aws_secret_access_key=serving.key.secret,
    )
    assert metrics.meta.service_model.resolved_protocol == "query"
    now = datetime.now(UTC)
    points = metrics.get_metric_statistics(
        Namespace="Glue",
        MetricName="glue.driver.aggregate.recordsRead",
        Dimensions=dimensions(JobName="daily", JobRunId=run_id, Type="count"),
        StartTime=now - timedelta(minutes=30),
        EndTime=now + timedelta(minutes=5),
        Period=3600,
        Statistics=["Sum"],
    )["Datapoints"]
    assert [one["Sum"] for one in points] == [ROWS]
    with pytest.raises(metrics.exceptions.InvalidParameterValueException):
        metrics.put_metric_data(Namespace="AWS/Shop", MetricData=[{"MetricName": "orders", "Value": 1}])
    with pytest.raises(ClientError, match=r"InvalidAction.*docs/service.md lists the supported operations"):
        metrics.list_dashboards()
