"""`gluepot serve --launcher spark-submit` on a real standalone cluster of two workers with one core each."""

import os
import re
import signal
import time
import zipfile

import pytest

from tests.e2e.jobs import SCRIPTS, arguments, column
from tests.service_answers import client_with, shell_of, started, url_in
from tests.spark_cluster import spark_cluster

SECS = 120
SIZE = {"WorkerType": "G.1X", "NumberOfWorkers": 3}
FITS = {"--executor-cores": "1", "--conf": "spark.executor.memory=512m"}
ALL_AT_ONCE = " --conf spark.scheduler.minRegisteredResourcesRatio=1.0 --conf spark.task.maxFailures=1"
ON_EXECUTORS = """
import sys
import words
from pyspark.context import SparkContext

sc = SparkContext.getOrCreate()

def told(number):
    import os
    import words
    return os.getcwd(), words.word, words.__file__, open("greeting.txt").read()

found = sorted(set(sc.parallelize(range(40), 4).map(told).collect()))
print(len(found), open("greeting.txt").read(), found)
print(sc.getConf().get("spark.master"), sc.getConf().get("spark.cores.max"))
sc.parallelize([0], 1).map(lambda number: 1 // number).collect()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def master(folder):
    with spark_cluster(folder / "spark", 2) as url:
        yield url


class Service:
    """A service in a process of its own."""

    def __init__(self, folder, master):
        self.environ = {
            **os.environ,
            "GLUEPOT_STATE": str(folder / "state"),
            "GLUEPOT_MASTER": master,
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        self.start()

    def start(self):
        self.process, said = started(self.environ, "--launcher", "spark-submit")
        self.glue = client_with({**shell_of(self.environ), "AWS_ENDPOINT_URL_GLUE": url_in(said)})

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait()

    def define(self, name, script, kind="glueetl", **given):
        command = {"Name": kind, "ScriptLocation": str(script)}
        self.glue.create_job(Name=name, Role="any", Command=command, DefaultArguments={**FITS, **given}, **SIZE)
        return self.glue.start_job_run(JobName=name)["JobRunId"]

    def awaited(self, name, run_id, *states):
        until = time.monotonic() + SECS
        while (run := self.glue.get_job_run(JobName=name, RunId=run_id)["JobRun"])["JobRunState"] not in states:
            assert time.monotonic() < until, run
            assert "ErrorMessage" not in run, run
            time.sleep(0.1)
        return run

    def log(self, run_id, stream="output"):
        logs = client_with(shell_of(self.environ), "logs")
        pages = logs.get_paginator("filter_log_events").paginate(
            logGroupName=f"/aws-glue/jobs/{stream}", logStreamNames=[run_id]
        )
        return [one["message"] for page in pages for one in page["events"]]


@pytest.fixture(scope="module")
def serving(folder, master):
    serving = Service(folder, master)
    yield serving
    serving.end()


def test_an_unchanged_script_reads_and_bookmarks_although_the_service_is_killed_meanwhile(serving, tmp_path):
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "a.json").write_text("".join(f'{{"id": {number}}}\n' for number in range(100)))
    given = {"--input_path": str(tmp_path / "input"), "--output_path": str(tmp_path / "table")}
    run_id = serving.define(
        "copy", SCRIPTS / "copy_files.py", **given, **{"--job-bookmark-option": "job-bookmark-enable"}
    )
    serving.awaited("copy", run_id, "RUNNING")
    serving.end(signal.SIGKILL)
    serving.start()
    serving.awaited("copy", run_id, "SUCCEEDED")
    assert column(tmp_path / "table", "id") == list(range(100))
    assert serving.glue.get_job_bookmark(JobName="copy")["JobBookmarkEntry"]["RunId"] == run_id
    assert [run["Id"] for run in serving.glue.get_job_runs(JobName="copy")["JobRuns"]] == [run_id]


@pytest.mark.long
def test_files_and_modules_reach_the_executors_and_what_fails_there_is_told(serving, folder, master, tmp_path):
    (tmp_path / "job.py").write_text(ON_EXECUTORS)
    (tmp_path / "greeting.txt").write_text("hello")
    with zipfile.ZipFile(tmp_path / "modules.zip", "w") as made:
        made.writestr("words.py", "word = 'own'\n")
    given = {"--extra-files": str(tmp_path / "greeting.txt"), "--extra-py-files": str(tmp_path / "modules.zip")}
    run_id = serving.define("spread", tmp_path / "job.py", **given, **{"--conf": FITS["--conf"] + ALL_AT_ONCE})
    assert serving.awaited("spread", run_id, "FAILED")["ErrorMessage"].startswith("Py4JJavaError: ")
    assert any("ZeroDivisionError" in line for line in serving.log(run_id, "error"))
    found, conf = serving.log(run_id)
    assert re.match(r"2 hello \[", found), "two executors"
    assert found.count(str(folder / "spark" / "work-")) == 2, "each in a folder of its own"
    assert found.count("'own', './modules.zip/words.py'") == 2
    assert conf == f"{master} 2"


@pytest.mark.long
def test_a_stream_is_stopped_between_two_batches(serving, topic, tmp_path):
    topic.send_json(*({"n": number} for number in range(300)))
    (tmp_path / "temp").mkdir()
    words = arguments(TempDir=tmp_path / "temp", output_path=tmp_path / "table", bootstrap=topic.bootstrap)
    words = [*words, *arguments(topic=topic.name, pause=3)]
    given = dict(zip(words[::2], words[1::2], strict=True))
    run_id = serving.define("numbers", SCRIPTS / "number_stream.py", "gluestreaming", **given)
    until = time.monotonic() + SECS
    while not (tmp_path / "temp" / "in-batch-0").exists():
        assert time.monotonic() < until
        time.sleep(0.1)
    serving.glue.batch_stop_job_run(JobName="numbers", JobRunIds=[run_id])
    serving.awaited("numbers", run_id, "STOPPED")
    assert len(column(tmp_path / "table", "n")) == 100
    assert serving.log(run_id) == ["committed"]
