"""Two services on one PostgreSQL database: one is killed, the database goes away, and each run begins once."""

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress

import psycopg
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tests.postgresql import new_database
from tests.service_answers import client_with, started, url_in

SECS = 120
KEYS = {"AWS_ACCESS_KEY_ID": "shared", "AWS_SECRET_ACCESS_KEY": "of both services"}


class Replica:
    """A service in a process of its own, with a state folder of its own."""

    def __init__(self, folder, url):
        self.environ = {**os.environ, **KEYS, "GLUEPOT_STATE": str(folder), "GLUEPOT_SERVICE": url}
        self.start()

    def start(self):
        self.process, said = started(self.environ)
        where = {"AWS_ENDPOINT_URL_GLUE": url_in(said), "AWS_DEFAULT_REGION": "us-east-1"}
        # What fails while a service or the database is away is tried again, as every user of boto3 does.
        patient = Config(retries={"mode": "standard", "max_attempts": 10}, connect_timeout=5, read_timeout=60)
        self.glue = client_with({**where, **KEYS}, config=patient)
        self.logs = client_with({**where, **KEYS}, "logs", config=patient)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        self.process.terminate()
        assert self.process.wait(SECS) == 0


@pytest.fixture
def replicas(postgresql, tmp_path):
    with new_database(postgresql) as url:
        both = [Replica(tmp_path / name, url) for name in ("a", "b")]
        try:
            yield both, url
        finally:
            for one in both:
                one.end()


def away(server, url, secs):
    """Refuse connections to a database, and end those that there are, for a while."""
    name = url.partition("?")[0].rsplit("/", 1)[1]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        time.sleep(secs)
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


def states(glue, job):
    return {run["Id"]: run["JobRunState"] for run in glue.get_job_runs(JobName=job)["JobRuns"]}


def await_logs(logs, runs):
    """Wait until a service has the output of all runs, also of those that another one started."""
    until, said = time.monotonic() + SECS, set()
    while said != {f"started {run}" for run in runs}:
        assert time.monotonic() < until, said
        time.sleep(0.2)
        pages = logs.get_paginator("filter_log_events").paginate(
            logGroupName="/aws-glue/jobs/output", filterPattern="started"
        )
        said = {event["message"] for page in pages for event in page["events"]}


def play(replicas, server, tmp_path, runs, kills, away_secs):
    both, url = replicas
    chance = random.Random(7)
    script, starts = tmp_path / "job.py", tmp_path / "starts"
    script.write_text(
        "import os, sys, time\n"
        "from awsglue.utils import getResolvedOptions\n"
        "run = getResolvedOptions(sys.argv, [])['JOB_RUN_ID']\n"
        f"file = os.open({str(starts)!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)\n"
        "os.write(file, (run + '\\n').encode())\n"
        "print('started', run, flush=True)\n"
        "time.sleep(1)\n"
    )
    both[0].glue.create_job(
        Name="small",
        Role="any",
        Command={"Name": "glueetl", "ScriptLocation": str(script)},
        ExecutionProperty={"MaxConcurrentRuns": 3},
        JobRunQueuingEnabled=True,
    )
    asked = set()
    acts = ["start"] * runs + ["kill"] * kills + ["away"]
    chance.shuffle(acts)
    for act in acts:
        one = chance.choice(both)
        match act:
            case "start":
                with suppress(BotoCoreError, ClientError):  # whether it was carried out is found out below
                    asked.add(one.glue.start_job_run(JobName="small")["JobRunId"])
            case "kill":
                time.sleep(chance.uniform(0, 2))
                one.kill()
                one.start()
            case "away":
                away(server, url, away_secs)
    until = time.monotonic() + SECS
    while set((found := states(both[1].glue, "small")).values()) != {"SUCCEEDED"}:
        assert time.monotonic() < until, found
        assert set(found.values()) <= {"SUCCEEDED", "RUNNING", "STARTING", "WAITING"}, found
        time.sleep(0.2)
    assert asked <= set(found)
    assert Counter(starts.read_text().split()) == dict.fromkeys(found, 1)
    for one in both:
        await_logs(one.logs, found)


def test_each_run_begins_once_although_a_service_is_killed_and_the_database_goes_away(replicas, postgresql, tmp_path):
    play(replicas, postgresql, tmp_path, runs=6, kills=2, away_secs=3)


@pytest.mark.long
def test_sixty_runs_begin_once_over_two_hundred_kills_and_a_minute_without_database(replicas, postgresql, tmp_path):
    play(replicas, postgresql, tmp_path, runs=60, kills=200, away_secs=60)
