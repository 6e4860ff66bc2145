"""`gluepot serve --demo` as a user sees it: a schedule starts a workflow, a stream runs beside it, and logs are there."""

import os
import signal
import time

import pytest

from tests.service_answers import client_with, shell_of, started

SECS = 120


def awaited(what, secs=SECS):
    until = time.monotonic() + secs
    while not (found := what()):
        assert time.monotonic() < until
        time.sleep(0.5)
    return found


@pytest.mark.long
def test_within_two_minutes_a_workflow_has_run_and_a_stream_runs(tmp_path):
    running, _ = started(dict(os.environ), "--demo", cwd=tmp_path)
    try:
        state = next(line for line in running.stdout if "GLUEPOT_STATE" in line).strip().partition("=")[2]
        keys = shell_of({**os.environ, "GLUEPOT_STATE": state})
        glue, logs = client_with(keys), client_with(keys, "logs")

        def completed():
            runs = glue.get_workflow_runs(Name="orders")["Runs"]
            return runs and runs[-1]["Status"] == "COMPLETED" and runs[-1]

        assert awaited(completed)["Statistics"]["SucceededActions"] == 3
        assert glue.get_job_bookmark(JobName="load-orders")["JobBookmarkEntry"]["Run"] >= 1
        assert glue.get_job_runs(JobName="clicks")["JobRuns"][0]["JobRunState"] == "RUNNING"
        for job in ("new-orders", "load-orders", "report-orders"):
            run = glue.get_job_runs(JobName=job)["JobRuns"][-1]
            group = f"{run['LogGroupName']}/output"
            lines = logs.get_log_events(logGroupName=group, logStreamName=run["Id"], startFromHead=True)["events"]
            assert any("orders" in one["message"] for one in lines), job
    finally:
        running.send_signal(signal.SIGINT)
        assert running.wait(SECS) == 0
