"""A service that is killed at random moments while schedules, workflows, events and calls keep it busy.

It is a real one, with a database in a file and with processes; only its clock runs fast, and its jobs are shell scripts
(forked_service.py). At the end a reader that shares no code with it looks for what was lost, doubled or stuck.
"""

import json
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from threading import Thread

import botocore.auth
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from gluepot.servers.ports import free_port
from tests.integration.service_kills.checker import SCRIPT, Asked, Rules, is_quiet, problems, read
from tests.service_answers import client_with

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "not secret"}
SECS = 120
JOBS = [f"j{number:02}" for number in range(30)]
ALONE = ("j09", "j29")
"""Jobs that only calls start, with limits and queues."""
WORKFLOWS = [f"w{number}" for number in range(5)]
FIRED_BY_TIME = "SELECT 1 FROM service_firings WHERE trigger IN ('s0', 's1', 's2')"
S, F = "SUCCEEDED", "FAILED"
RULES = Rules(
    periods={"s0": (5, 0), "s1": (5, 1), "s2": (5, 2), "w0": (5, 3), "w1": (5, 4)},
    begins={
        "s0": ["j00"],
        "s1": ["j01"],
        "s2": ["j02"],
        "by-hand": ["j06", "j07"],
        "w0": ["j10"],
        "w1": ["j14", "j15"],
        "w2": ["j18", "j19"],
        "w3": ["j22"],
        "w4": ["j25", "j26"],
    },
    conditions={
        "c0": ("", "AND", [("j00", S)], ["j03"]),
        "c1": ("", "ANY", [("j01", F), ("j02", S)], ["j04", "j05"]),
        "c2": ("", "AND", [("j06", S), ("j07", S)], ["j08"]),
        "w0a": ("w0", "AND", [("j10", S)], ["j11", "j12"]),
        "w0b": ("w0", "AND", [("j11", S), ("j12", S)], ["j13"]),
        "w1a": ("w1", "ANY", [("j14", F), ("j15", F)], ["j16"]),
        "w1b": ("w1", "AND", [("j14", S), ("j15", S)], ["j17"]),
        "w2a": ("w2", "ANY", [("j18", S), ("j19", S)], ["j20"]),
        "w2b": ("w2", "AND", [("j20", F)], ["j21"]),
        "w3a": ("w3", "AND", [("j22", S)], ["j23"]),
        "w3b": ("w3", "ANY", [("j23", S), ("j23", F)], ["j24"]),
        "w4a": ("w4", "AND", [("j25", S), ("j26", S)], ["j27"]),
        "w4b": ("w4", "ANY", [("j25", F), ("j26", F)], ["j28"]),
    },
    workflows={name: name for name in WORKFLOWS},
)


class Services:
    """Services that work in a folder one after the other.

    Args:
        folder: of all their files.
    """

    def __init__(self, folder):
        self.folder, self.journal = folder, folder / "journal"
        self.database = folder / "state" / "service.db"
        self.journal.mkdir()
        (folder / "job.sh").write_text(SCRIPT.format(journal=self.journal))
        (folder / "clock").write_bytes(struct.pack("d", NOON))
        port = free_port(random.Random())
        environ = {**os.environ, **KEYS}
        command = [sys.executable, "-m", "tests.integration.service_kills.forked_service", str(folder), str(port)]
        with (folder / "service.log").open("wb") as log:
            self.forking = subprocess.Popen(
                command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        where = {"AWS_DEFAULT_REGION": "us-east-1", **KEYS}
        url = f"http://127.0.0.1:{port}"
        once = Config(retries={"total_max_attempts": 1}, connect_timeout=2, read_timeout=20)
        self.glue = client_with({**where, "AWS_ENDPOINT_URL_GLUE": url}, config=once)
        self.events = client_with({**where, "AWS_ENDPOINT_URL_GLUE": url}, "events", config=once)

    def start(self):
        self.forking.stdin.write("\n")
        self.forking.stdin.flush()
        self.pid = int(self.forking.stdout.readline())

    def kill(self):
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def kill_at(self, secs):
        """Kill the service when its clock says so: after so much work, however busy the machine is with others."""
        while self.now() < secs:
            time.sleep(0.002)
        self.kill()
        self.wait_until_killed()

    def wait_until_killed(self):
        with suppress(ProcessLookupError):
            while True:
                os.kill(self.pid, 0)
                time.sleep(0.002)

    def now(self):
        return struct.unpack("d", (self.folder / "clock").read_bytes())[0]

    def end(self):
        self.forking.stdin.close()
        self.forking.wait(SECS)


def answered(call, **request):
    """Make a call until a service answers that is still being started."""
    until = time.monotonic() + SECS
    while True:
        try:
            return call(**request)
        except BotoCoreError:
            assert time.monotonic() < until
            time.sleep(0.02)


@pytest.fixture
def services(tmp_path, monkeypatch):
    made = Services(tmp_path)
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda: datetime.fromtimestamp(made.now(), UTC))
    made.start()
    answered(made.glue.list_jobs)
    try:
        yield made
    finally:
        made.kill()
        made.end()


def define(services):
    glue, events = services.glue, services.events
    for number, name in enumerate(JOBS):
        glue.create_job(
            Name=name,
            Role="any",
            Command={"Name": "glueetl", "ScriptLocation": "/job.py"},
            ExecutionProperty={"MaxConcurrentRuns": 1 + ALONE.index(name) if name in ALONE else 1000},
            MaxRetries=number % 2,
            JobRunQueuingEnabled=name in ALONE,
            Timeout=10_000,
        )
    for name in WORKFLOWS:
        glue.create_workflow(Name=name)
    # What follows runs comes first, as schedules fire while the rest is still being defined.
    for name, (workflow, logical, conditions, jobs) in RULES.conditions.items():
        about = [{"LogicalOperator": "EQUALS", "JobName": job, "State": state} for job, state in conditions]
        glue.create_trigger(
            Name=name,
            Type="CONDITIONAL",
            Predicate={"Logical": logical, "Conditions": about},
            Actions=[{"JobName": job} for job in jobs],
            StartOnCreation=True,
            **({"WorkflowName": workflow} if workflow else {}),
        )
    for name, jobs in RULES.begins.items():
        more = {"WorkflowName": name} if name in WORKFLOWS else {}
        if name in RULES.periods:
            period, first = RULES.periods[name]
            more |= {"Type": "SCHEDULED", "Schedule": f"cron({first}/{period} * * * ? *)", "StartOnCreation": True}
        elif name in {"w3", "w4"}:
            size = 1 if name == "w3" else 3
            more |= {"Type": "EVENT", "EventBatchingCondition": {"BatchSize": size, "BatchWindow": 60}}
            events.put_rule(Name=name, EventPattern=json.dumps({"source": [name]}))
            arn = f"arn:aws:glue:us-east-1:000000000000:workflow/{name}"
            events.put_targets(Rule=name, Targets=[{"Id": "1", "Arn": arn}])
        else:
            more |= {"Type": "ON_DEMAND"}
        glue.create_trigger(Name=name, Actions=[{"JobName": job} for job in jobs], **more)


class Client:
    """A client that notes what it asked for, and whether there was an answer."""

    def __init__(self, services, chance):
        self.glue, self.events, self.chance = services.glue, services.events, chance
        self.asked, self.number, self.runs = Asked(), 0, []

    def act_and_wait(self):
        self._act()
        time.sleep(self.chance.uniform(0, 0.1))

    def _act(self):
        self.number += 1
        number = self.number
        match self.chance.choice(("run", "run", "workflow", "firing", "event", "event", "event", "stop")):
            case "run":
                job, arguments = self.chance.choice(ALONE), {"--call": str(number)}
                answer = self._ask(self.asked.runs, self.glue.start_job_run, JobName=job, Arguments=arguments)
                self.runs += [(job, answer["JobRunId"])] if answer else []
            case "workflow":
                properties = {"call": str(number)}
                self._ask(self.asked.workflow_runs, self.glue.start_workflow_run, Name="w2", RunProperties=properties)
            case "firing":
                self._ask(self.asked.firings, self.glue.start_trigger, Name="by-hand")
            case "event":
                source = self.chance.choice(("w3", "w4", "w4"))
                entry = {"Source": source, "DetailType": "any", "Detail": json.dumps({"n": number})}
                self._ask(self.asked.events, self.events.put_events, Entries=[entry])
            case "stop" if self.runs:
                job, run_id = self.runs.pop()
                with suppress(BotoCoreError, ClientError):
                    answer = self.glue.batch_stop_job_run(JobName=job, JobRunIds=[run_id])
                    self.asked.stops[run_id] = not answer["Errors"]

    def _ask(self, asked, operation, **request):
        asked[self.number] = False
        answer = None
        with suppress(BotoCoreError, ClientError):
            answer = operation(**request)
            asked[self.number] = True
        return answer


def play(services, kills, life_secs, seed):
    """Kill services at random moments, while a client asks for this and that.

    Args:
        services: start one after the other.
        kills: how many are killed.
        life_secs: for how long one lives at most by its own clock, of which a minute is a second of work.
        seed: of what is asked for and of the moments.

    Returns:
        The rules, and what was asked for, when the last service has nothing left to do.
    """
    chance = random.Random(seed)
    client = Client(services, chance)
    define(services)
    for _ in range(kills):
        # A tenth of the kills falls into the start of a service.
        at_secs = services.now() + chance.uniform(0, 5 if chance.random() < 0.1 else life_secs)
        killing = Thread(target=services.kill_at, args=[at_secs])
        killing.start()
        while killing.is_alive():
            client.act_and_wait()
        killing.join()
        services.start()
    while not read(services.database, FIRED_BY_TIME):
        client.act_and_wait()
    answered(services.glue.list_jobs)
    before_ms = round(services.now() * 1000)
    for name in RULES.periods:
        services.glue.stop_trigger(Name=name)
    rules = replace(RULES, schedules_end_ms=(before_ms, round(services.now() * 1000)))
    until = time.monotonic() + SECS
    while not is_quiet(services.database):
        assert time.monotonic() < until, "something is stuck"
        time.sleep(0.1)
    return rules, client.asked


def test_nothing_is_lost_or_doubled_although_a_service_is_killed(services, tmp_path):
    rules, asked = play(services, kills=3, life_secs=40, seed=7)
    assert list(problems(services.database, services.journal, rules, asked)) == []
    services.kill()
    services.wait_until_killed()
    _check_the_checker(services, rules, asked, tmp_path / "wrong.db")


@pytest.mark.long
def test_nothing_is_lost_or_doubled_over_two_hundred_kills(services):
    began = time.monotonic()
    rules, asked = play(services, kills=200, life_secs=90, seed=20260302)
    found = list(problems(services.database, services.journal, rules, asked))
    answers = {kind: f"{sum(some.values())} of {len(some)} answered" for kind, some in vars(asked).items()}
    print(f"{time.monotonic() - began:.0f} s, {len(list(services.journal.iterdir()))} processes, {answers}")
    assert found == []


PLANTED = {
    "a run is stuck": "UPDATE service_runs SET state = 'RUNNING' WHERE number = 1",
    "an end is not followed": "UPDATE service_runs SET followed = 0 WHERE number = 1",
    "a run is forgotten": "DELETE FROM service_runs WHERE number = 1",
    "a run of a workflow is stuck": "UPDATE service_workflow_runs SET status = 'RUNNING' WHERE number = 1",
    "a firing is lost": "DELETE FROM service_firings WHERE trigger = (SELECT trigger FROM service_firings WHERE occasion < 'a' LIMIT 1) AND occasion < 'a'",
    "a firing is doubled": (
        "INSERT INTO service_runs (id, job, state, details, command, place, chain, followed) SELECT 'jr_f' || id, job,"
        " state, details, command, place, 'tf_other', followed FROM service_runs WHERE details LIKE '%\"trigger\": \"s%' LIMIT 1"
    ),
    "an event is lost": r"""UPDATE service_workflow_runs SET details = replace(details, '\"n\": ', '\"n\": 9')""",
    "a run of a workflow is lost": "DELETE FROM service_workflow_runs WHERE number = 1",
    "an outcome is wrong": "UPDATE service_runs SET state = CASE state WHEN 'FAILED' THEN 'SUCCEEDED' ELSE 'FAILED' END WHERE state <> 'STOPPED'",
}


def _check_the_checker(services, rules, asked, wrong):
    for what, statement in PLANTED.items():
        with closing(sqlite3.connect(services.database)) as real, closing(sqlite3.connect(wrong)) as copy:
            real.backup(copy)
            assert copy.execute(statement).rowcount, what
            copy.commit()
        assert list(problems(wrong, services.journal, rules, asked)), what
    shutil.copytree(services.journal, wrong.with_name("journal-without"))
    next(iter(wrong.with_name("journal-without").iterdir())).unlink()
    assert list(problems(services.database, wrong.with_name("journal-without"), rules, asked))
    (services.folder / "journal.twice").write_text("jr_1\n")
    assert list(problems(services.database, services.journal, rules, asked))
