"""Spark's UI after a run: a run of the service leaves an event log on S3, and the history server shows it."""

import json
import os
import time

import boto3
import httpx
import psutil
import pytest

from gluepot.cli.servers import down, status, up
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.core.sockets import LOOPBACK
from gluepot.servers.ports import is_free
from gluepot.servers.s3 import S3Server
from gluepot.service.server import ServeOptions, service
from tests.service_answers import client_of
from tests.spark_cluster import JAVA

SECS = 120
SCRIPT = """
from pyspark.context import SparkContext

sc = SparkContext.getOrCreate()
assert sc.parallelize(range(4), 2).sum() == 6
"""


@pytest.fixture
def bucket(tmp_path, monkeypatch, aws_credentials):
    with S3Server(tmp_path / "s3") as server:
        server.make_bucket("logs")
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_REGION"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", server.url)
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield "s3://logs/spark/"


@pytest.fixture
def history(bucket, tmp_path, monkeypatch, capsys):
    """The URL of the history server that `gluepot up` starts."""
    monkeypatch.setenv("GLUEPOT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SPARK_DAEMON_JAVA_OPTS", JAVA)
    up("history", logs=bucket)
    try:
        capsys.readouterr()
        status(output="json")
        [running] = json.loads(capsys.readouterr().out)
        yield running["address"]
        port = int(running["address"].rpartition(":")[2])
        listening = [one.laddr for one in psutil.net_connections("tcp") if one.status == psutil.CONN_LISTEN]
        assert [one.ip.removeprefix("::ffff:") for one in listening if one.port == port] == [LOOPBACK]
    finally:
        down()
    assert is_free(port)


def awaited(look):
    until = time.monotonic() + SECS
    while not (found := look()):
        assert time.monotonic() < until
        time.sleep(0.2)
    return found


@pytest.mark.long
def test_a_run_of_the_service_leaves_a_log_that_the_history_server_lists(bucket, history, tmp_path):
    assert httpx.get(f"{history}/api/v1/applications").json() == []
    (tmp_path / "job.py").write_text(SCRIPT)
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path / "state")}
    with service(ServeOptions(port=0), environ, SystemClock()) as running:
        glue = client_of(running)
        glue.create_job(
            Name="counted",
            Role="any",
            Command={"Name": "glueetl", "ScriptLocation": str(tmp_path / "job.py")},
            DefaultArguments={"--enable-spark-ui": "true", "--spark-event-logs-path": bucket},
        )
        run_id = glue.start_job_run(JobName="counted")["JobRunId"]
        ended = awaited(lambda: _ended(glue.get_job_run(JobName="counted", RunId=run_id)["JobRun"]))
    assert ended["JobRunState"] == "SUCCEEDED", ended
    keys = [one["Key"] for one in boto3.client("s3").list_objects_v2(Bucket="logs")["Contents"]]
    assert keys
    assert not any(key.endswith(".inprogress") for key in keys), keys
    [application] = awaited(lambda: httpx.get(f"{history}/api/v1/applications").json())
    assert application["name"] == "counted"
    assert application["attempts"][0]["completed"]
    jobs = httpx.get(f"{history}/api/v1/applications/{application['id']}/jobs").json()
    assert [job["status"] for job in jobs] == ["SUCCEEDED"]


def _ended(run):
    return run if "CompletedOn" in run and run["JobRunState"] not in {"RUNNING", "STARTING"} else None


def test_what_up_cannot_show_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("GLUEPOT_HOME", str(tmp_path / "home"))
    with pytest.raises(ConfigError, match=r"--logs is for history, not for kafka"):
        up("kafka", logs="/logs")
    with pytest.raises(ConfigError, match=r"There is no folder /nowhere with event logs"):
        up("history", logs="/nowhere")


def test_a_bucket_that_does_not_exist_is_told(bucket, tmp_path, monkeypatch):
    monkeypatch.setenv("GLUEPOT_HOME", str(tmp_path / "home"))
    with pytest.raises(PermanentError, match="no-such-bucket"):
        up("history", logs="s3://no-such-bucket/logs")
