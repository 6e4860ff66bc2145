"""What runs cost on AWS, beside the same jobs here."""

import json

import pytest

from gluepot.cli.cost import by_job, usd_of
from gluepot.cli.main import app, outcome

RUN = {"Id": "jr_1", "JobName": "orders", "JobRunState": "SUCCEEDED", "ExecutionTime": 1800}
WORKERS = {"WorkerType": "G.1X", "NumberOfWorkers": 10}


@pytest.mark.parametrize(
    ("run", "usd"),
    [
        ({**RUN, **WORKERS}, 2.2),
        ({**RUN, **WORKERS, "ExecutionClass": "FLEX"}, 1.45),
        ({**RUN, "WorkerType": "G.025X", "NumberOfWorkers": 2}, 0.11),
        ({**RUN, "MaxCapacity": 10.0}, 2.2),
        ({**RUN, **WORKERS, "DPUSeconds": 3600.0}, 0.44),
        ({**RUN, **WORKERS, "ExecutionTime": 6}, 10 * 60 / 3600 * 0.44),
    ],
)
def test_a_run_costs_its_workers_for_at_least_a_minute(run, usd):
    assert usd_of(run) == pytest.approx(usd)


def test_runs_that_failed_or_still_run_do_not_count():
    running = {"JobName": "orders", "JobRunState": "RUNNING", "ExecutionTime": 5}
    failed = {"JobName": "orders", "JobRunState": "FAILED", "ExecutionTime": 5}
    assert by_job([RUN, running, failed, {"JobName": "clicks", "ExecutionTime": 0}]) == {"orders": [RUN]}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    (tmp_path / "aws.json").write_text(json.dumps({"JobRuns": [{**RUN, **WORKERS}]}))
    (tmp_path / "here.json").write_text(json.dumps({"JobRuns": [{**RUN, "ExecutionTime": 600}]}))
    (tmp_path / "jobs.json").write_text(json.dumps({"Jobs": []}))


def test_a_run_on_aws_is_compared_with_one_here(here, capsys):
    told = ["cost", "aws.json", "--here", "here.json", "--usd-per-hour", "0.3", "--output", "json"]
    assert outcome(app, told) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row == {
        "job": "orders",
        "aws_runs": 1,
        "aws_secs": 1800,
        "aws_usd_a_run": 2.2,
        "here_runs": 1,
        "here_secs": 600,
        "here_usd_a_run": 0.05,
        "times_as_much": 44,
    }


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("cost aws.json --usd-per-hour -1", "0 or more"),
        ("cost aws.json --usd-per-hour nan", "0 or more"),
        ("bench job.py --rate inf", "Use a number"),
        ("produce clicks --bootstrap a:1 --rate nan", "Use a number"),
        ("run job.py --lease-secs nan", "use 1 or more"),
        ("run job.py --after-secs nan", "use 0 or more"),
    ],
)
def test_numbers_that_nothing_can_be_counted_with_are_refused(here, capsys, command, said):
    assert outcome(app, command.split()) == 2
    assert said in capsys.readouterr().err


def test_a_job_that_the_ledger_does_not_know_has_no_cost_here(here, capsys):
    assert outcome(app, ["cost", "aws.json", "--output", "json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["here_runs"], row["here_usd_a_run"], row["times_as_much"]) == (0, None, None)


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (["cost"], "cost needs runs; make a file with `aws glue get-job-runs --job-name NAME > runs.json`."),
        (["cost", "jobs.json"], "jobs.json has no JobRuns; make it with `aws glue get-job-runs --job-name NAME`."),
        (["cost", "here.json"], "Run jr_1 of orders names neither workers nor MaxCapacity."),
    ],
)
def test_what_cannot_be_compared_is_refused(here, capsys, tokens, said):
    assert outcome(app, tokens) == 2
    assert capsys.readouterr().err == f"error: {said}\n"
