"""Rows counted over runs that are killed, fail and try again: the metric, the manifests and the table agree.

GLUEPOT_COMMITTED_KILLS=20 kills as many runs.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from random import Random
from urllib.error import URLError

from gluepot.servers.ports import free_port
from tests.e2e.jobs import SCRIPTS, Job, arguments, column
from tests.scrape import scrape

KILLS = int(os.environ.get("GLUEPOT_COMMITTED_KILLS", "3"))
SENT_PER_RUN = 250
BATCH_ROWS = 100  # as the script limits them

# The first two are where a counter of a process goes wrong: published and not counted, counted and not committed.
ENDS = (
    ("publish.created", "kill"),
    ("batch.done", "kill"),
    ("publish.manifest_temp@2", "kill"),
    ("batch.staged", "kill"),
    ("batch.done@2", "kill"),
    ("publish.ended", "kill"),
)
FAILURES = ("publish.created", "batch.done", "publish.moved", "batch.staged")


def committed_rows(url: str) -> float | None:
    """What the job shows; None before it shows any."""
    with suppress(URLError, ConnectionError):
        shown = scrape(url).by("table", "rows_committed_total", job="numbers")
        return sum(shown.values()) if shown else None
    return None


def test_rows_committed_over_kills_and_retries_are_the_rows_of_the_table(launch, topic, tmp_path):
    chance = Random(KILLS)
    table = tmp_path / "table"
    (tmp_path / "temp").mkdir()
    sent, shown = 0, [0.0]

    def run(failpoint: str, action: str) -> tuple[Job, str]:
        port = free_port(chance)
        job = launch.hosted(
            "run", SCRIPTS / "number_stream.py", f"--metrics-port={port}", "--master=local[2]", "--",
            *arguments(JOB_NAME="numbers", TempDir=tmp_path / "temp", output_path=table),
            *arguments(bootstrap=topic.bootstrap, topic=topic.name, pause=0),
            env={"GLUEPOT_FAILPOINT": failpoint, "GLUEPOT_FAILPOINT_ACTION": action},
        )  # fmt: skip
        return job, f"http://127.0.0.1:{port}/metrics"

    def look(url: str) -> float:
        if (rows := committed_rows(url)) is not None:
            shown.append(rows)
        return shown[-1]

    for n in range(KILLS):
        topic.send_numbers(range(sent, sent + SENT_PER_RUN))
        sent += SENT_PER_RUN
        job, url = run(*ENDS[n % len(ENDS)])
        job.wait_until(lambda job=job, url=url: look(url) < 0 or not job.runs(), "the kill")
        assert job.exit_code() == 137, job.err

    # The last run fails once and tries again, and then does all that is left.
    topic.send_numbers(range(sent, sent + SENT_PER_RUN))
    sent += SENT_PER_RUN
    job, url = run(chance.choice(FAILURES), "raise")
    job.wait_until(lambda: look(url) >= sent, "every row")
    assert job.said("batch_failed")
    assert look(url) == sent
    assert shown == sorted(shown)  # a counter over all runs, which Prometheus never sees begin anew
    job.process.terminate()
    assert job.exit_code() == 0, job.err

    assert column(table, "n") == list(range(sent))
    listed = launch.hosted("table", "history", table, "--output", "json")
    assert listed.exit_code() == 0, listed.err
    rows_by_run: Counter[int] = Counter()
    for commit in json.loads(listed.out):
        if commit["live"]:
            rows_by_run[commit["token"]] += commit["rows"]
    assert sum(rows_by_run.values()) == shown[-1] == sent
    assert len(rows_by_run) > 1
