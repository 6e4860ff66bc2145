"""Definitions of jobs: what is refused, and what is added."""

import pytest

from gluepot.service.decisions.definitions import capacity, complete, for_run
from gluepot.service.errors import ServiceError

GIVEN = {"Role": "any", "Command": {"Name": "glueetl", "ScriptLocation": "s3://b/job.py"}}

SHELL = {"Command": {"Name": "pythonshell", "ScriptLocation": "s3://b/job.py"}}


def test_defaults_are_added():
    made = complete({**GIVEN, "GlueVersion": "5.0"})
    assert made["Timeout"] == 480
    assert made["MaxRetries"] == 0
    assert made["ExecutionProperty"] == {"MaxConcurrentRuns": 1}
    assert complete({**GIVEN, "GlueVersion": "4.0"})["Timeout"] == 2880


def test_a_stream_has_no_timeout_of_its_own():
    command = {"Name": "gluestreaming", "ScriptLocation": "s3://b/job.py"}
    assert "Timeout" not in complete({**GIVEN, "Command": command})
    assert complete({**GIVEN, "Command": command, "Timeout": 60})["Timeout"] == 60


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"Command": {"Name": "glueray", "ScriptLocation": "s3://b/j.py"}}, "Ray jobs cannot run here"),
        ({**SHELL, "WorkerType": "G.1X", "NumberOfWorkers": 2}, "A Python shell job has no workers"),
        ({"AllocatedCapacity": 0}, "AllocatedCapacity is 0; use 1 or more"),
        ({**SHELL, "MaxCapacity": 2.0}, "MaxCapacity is 2.0; a Python shell job has 0.0625 or 1"),
        ({"Command": {"Name": "etl", "ScriptLocation": "s3://b/j.py"}}, "Command.Name is 'etl'"),
        ({"Command": {"Name": "glueetl"}}, "Command.ScriptLocation is missing"),
        ({"Role": ""}, "Role is missing"),
        ({"GlueVersion": "0.9"}, "GlueVersion is '0.9'"),
        ({"MaxRetries": 11}, "MaxRetries is 11; use 0 to 10."),
        ({"Timeout": 10080}, "Timeout is 10080; use 1 to 10079."),
        ({"ExecutionProperty": {"MaxConcurrentRuns": 0}}, "MaxConcurrentRuns is 0; use 1 or more."),
        ({"WorkerType": "G.1X", "NumberOfWorkers": 2, "MaxCapacity": 2.0}, "Please do not set Max Capacity"),
        ({"WorkerType": "G.1X"}, "belong together"),
        ({"WorkerType": "G.9X", "NumberOfWorkers": 2}, "WorkerType is 'G.9X'"),
        ({"WorkerType": "G.1X", "NumberOfWorkers": 0}, "NumberOfWorkers is 0"),
        (
            {"ExecutionClass": "FLEX", "Command": {"Name": "gluestreaming", "ScriptLocation": "s3://b/j.py"}},
            "ExecutionClass is FLEX",
        ),
    ],
)
def test_what_cannot_run_is_refused_with_a_sentence(changes, part):
    with pytest.raises(ServiceError, match=part.replace(".", r"\.").replace("'", ".")) as refused:
        complete({**GIVEN, **changes})
    assert refused.value.code == "InvalidInputException"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, {"MaxCapacity": 10.0, "AllocatedCapacity": 10}),
        (SHELL, {"MaxCapacity": 0.0625, "AllocatedCapacity": 0}),
        ({"MaxCapacity": 2.5}, {"MaxCapacity": 2.5, "AllocatedCapacity": 2}),
        ({"AllocatedCapacity": 3}, {"MaxCapacity": 3.0, "AllocatedCapacity": 3}),
        ({"AllocatedCapacity": 3, "MaxCapacity": 2.0}, {"MaxCapacity": 2.0, "AllocatedCapacity": 2}),
        ({**SHELL, "AllocatedCapacity": 1}, {"MaxCapacity": 1.0, "AllocatedCapacity": 1}),
        (
            {"WorkerType": "G.025X", "NumberOfWorkers": 3},
            {"MaxCapacity": 0.75, "AllocatedCapacity": 0, "WorkerType": "G.025X", "NumberOfWorkers": 3},
        ),
        (
            {"WorkerType": "R.4X", "NumberOfWorkers": 2},
            {"MaxCapacity": 8.0, "AllocatedCapacity": 8, "WorkerType": "R.4X", "NumberOfWorkers": 2},
        ),
    ],
)
def test_capacity_follows_from_workers(given, found):
    assert capacity(complete({**GIVEN, **given})) == found


def test_a_run_may_have_another_size_than_its_job():
    job = complete({**GIVEN, "WorkerType": "G.1X", "NumberOfWorkers": 2})
    assert capacity(for_run(job, {"MaxCapacity": 4.0})) == {"MaxCapacity": 4.0, "AllocatedCapacity": 4}
    assert capacity(for_run(job, {"AllocatedCapacity": 4})) == {"MaxCapacity": 4.0, "AllocatedCapacity": 4}
    with pytest.raises(ServiceError, match="only Allocated Capacity or Max Capacity"):
        for_run(job, {"AllocatedCapacity": 4, "MaxCapacity": 4.0})
    assert for_run(job, {"NumberOfWorkers": 5})["WorkerType"] == "G.1X"
    by_capacity = complete({**GIVEN, "MaxCapacity": 4.0})
    assert "MaxCapacity" not in for_run(by_capacity, {"WorkerType": "G.2X", "NumberOfWorkers": 2})
    with pytest.raises(ServiceError, match="Timeout"):
        for_run(job, {"Timeout": 20_000})
