"""python -m benchmarks.service [--database URL] [--jobs N] [--runs N]: how fast `gluepot serve` answers.

A service in a process of its own, on SQLite or on the database that is named (which has to be empty), is filled with
jobs and with runs that have ended. Then unmodified boto3 calls operations one after the other, a browser's requests
read pages of the console, and a hundred clients call at the same time. Times are those that the client sees. At the
end and at the begin the service is left alone, to see what it takes when nobody calls.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

import boto3
import httpx
import psutil
from cyclopts import App, Parameter
from sqlalchemy import create_engine, insert, make_url, text

from gluepot.core.clock import SystemClock
from gluepot.service.keys import KeyPair
from gluepot.service.server import client_environment
from gluepot.service.server import where_it_serves as where
from gluepot.service.store.database import store_url
from gluepot.service.store.tables import jobs, runs

GOAL_SECS = 0.1
CALLS, CLIENTS, CALLS_OF_EACH, IDLE_SECS = 300, 100, 20, 20
MOST_IDLE_MB, MOST_IDLE_CORES = 150, 0.01
DAY_MS = 24 * 3600 * 1000

app = App(help=__doc__)


@app.default
def main(
    *,
    database: Annotated[str | None, Parameter(help="URL of an empty database")] = None,
    number_of_jobs: Annotated[int, Parameter(name="--jobs")] = 10_000,
    number_of_runs: Annotated[int, Parameter(name="--runs")] = 1_000_000,
) -> int:
    """Measure and print; return 1 where a goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "GLUEPOT_STATE": folder}
        if database:
            environ["GLUEPOT_SERVICE"] = database
        command = [sys.executable, "-m", "gluepot", "serve", "--port", "0", "--max-runs", "1"]
        serving = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
        try:
            serving.stdout.readline()
            SystemClock().sleep(1)  # the file that says where it serves
            found = measured(environ, psutil.Process(serving.pid), number_of_jobs, number_of_runs)
        finally:
            serving.terminate()
            serving.wait()
    print(json.dumps(found, indent=2))
    return int(bool(found["missed"]))


def measured(environ: dict[str, str], process: psutil.Process, number_of_jobs: int, number_of_runs: int) -> dict:
    """Fill the database and call the service."""
    url, region, key = (one := where(environ)).url, one.region, one.key
    glue = client(url, region, key)
    idle = left_alone(process)
    glue.create_job(Name="job-00000", Role="any", Command={"Name": "glueetl", "ScriptLocation": "/no.py"})
    fill(environ, number_of_jobs, number_of_runs)

    def name(n: int) -> str:
        return f"job-{n * 7919 % number_of_jobs:05}"

    each = number_of_runs // number_of_jobs
    times = {
        "GetJobs": timed(lambda _: glue.get_jobs(MaxResults=100)),
        "GetJob": timed(lambda n: glue.get_job(JobName=name(n))),
        "GetJobRuns": timed(lambda n: glue.get_job_runs(JobName=name(n))),
        "GetJobRun": timed(lambda n: glue.get_job_run(JobName=name(0), RunId=f"jr_{n % each * number_of_jobs:064x}")),
        "StartJobRun": timed(lambda n: glue.start_job_run(JobName=name(n), JobRunQueuingEnabled=True)),
        **pages(environ, name),
    }

    def many(_: int) -> list[float]:
        own = client(url, region, key)
        return [took(lambda n: own.get_job_runs(JobName=name(n)), n) for n in range(CALLS_OF_EACH)]

    with ThreadPoolExecutor(CLIENTS) as pool:
        together = sorted(secs for each in pool.map(many, range(CLIENTS)) for secs in each)
    missed = [what for what, one in times.items() if one["p99_secs"] > GOAL_SECS]
    if idle["mb"] > MOST_IDLE_MB or idle["cores"] > MOST_IDLE_CORES:
        missed.append("idle")
    return {
        "jobs": number_of_jobs,
        "runs": number_of_runs,
        "idle": idle,
        "calls": times,
        f"{CLIENTS} clients": {
            "calls": len(together),
            "median_secs": at(together, 0.5),
            "p99_secs": at(together, 0.99),
        },
        "mb_at_the_end": round(process.memory_info().rss / 1e6),
        "missed": missed,
    }


def pages(environ: dict[str, str], name: Callable[[int], str]) -> dict[str, dict[str, float]]:
    """Open pages of the console."""
    link = subprocess.run(
        [sys.executable, "-m", "gluepot", "serve", "console"], env=environ, capture_output=True, text=True, check=True
    ).stdout.strip()
    with httpx.Client(base_url=link.partition("/console")[0], follow_redirects=True) as browser:
        browser.get(link).raise_for_status()
        paths: dict[str, Callable[[int], str]] = {
            "console": lambda _: "/console/",
            "console/jobs": lambda _: "/console/jobs",
            "console/job": lambda n: f"/console/job?name={name(n)}",
            "console/runs": lambda _: "/console/runs",
        }
        return {
            what: timed(lambda n, path=path: browser.get(path(n)).raise_for_status()) for what, path in paths.items()
        }


def fill(environ: dict[str, str], number_of_jobs: int, number_of_runs: int) -> None:
    """Copy the first job, and make runs of all jobs that have ended in the last 80 days."""
    url = make_url(store_url(environ))
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    now_ms = round(SystemClock().epoch() * 1000)
    with create_engine(url).begin() as connection:
        one = connection.execute(jobs.select()).mappings().one()
        rows = [{**one, "name": f"job-{n:05}"} for n in range(1, number_of_jobs)]
        if rows:
            connection.execute(insert(jobs), rows)
        for chunk in chunks(one["definition"], number_of_jobs, number_of_runs, now_ms):
            connection.execute(insert(runs), chunk)
        if url.get_backend_name() == "postgresql":  # which does that by itself, later; SQLite never does
            connection.execute(text("ANALYZE"))


def chunks(definition: str, number_of_jobs: int, number_of_runs: int, now_ms: int) -> Iterator[list[dict]]:
    """Yield rows of runs."""
    for begin in range(0, number_of_runs, 20_000):
        chunk = []
        for n in range(begin, min(begin + 20_000, number_of_runs)):
            at_ms = now_ms - 80 * DAY_MS * (number_of_runs - n) // number_of_runs
            times = {"started_ms": at_ms, "running_ms": at_ms + 1, "modified_ms": at_ms + 9, "completed_ms": at_ms + 9}
            details = {"definition": json.loads(definition), **times}
            run = {"id": f"jr_{n:064x}", "job": f"job-{n % number_of_jobs:05}", "details": json.dumps(details)}
            chunk.append({**run, "state": "SUCCEEDED" if n % 50 else "FAILED", "chain": "", "followed": True})
        yield chunk


def client(url: str, region: str, key: KeyPair) -> object:
    """Return a client of the service."""
    environ = client_environment(url, region, key)
    return boto3.client(
        "glue",
        endpoint_url=url,
        region_name=region,
        aws_access_key_id=environ["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environ["AWS_SECRET_ACCESS_KEY"],
    )


def timed(call: Callable[[int], object]) -> dict[str, float]:
    """Call one after the other."""
    return quantiles(sorted(took(call, n) for n in range(CALLS)))


def quantiles(ordered: list[float]) -> dict[str, float]:
    """Return the median and the 99th percentile."""
    return {"median_secs": at(ordered, 0.5), "p99_secs": at(ordered, 0.99)}


def took(call: Callable[[int], object], n: int) -> float:
    """Return how long a call took."""
    began = time.perf_counter()
    call(n)
    return time.perf_counter() - began


def at(ordered: list[float], share: float) -> float:
    """Return a quantile."""
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 4)


def left_alone(process: psutil.Process) -> dict[str, float]:
    """Return what the service takes when nobody calls."""
    before = process.cpu_times()
    SystemClock().sleep(IDLE_SECS)
    after = process.cpu_times()
    cores = (after.user + after.system - before.user - before.system) / IDLE_SECS
    return {"mb": round(process.memory_info().rss / 1e6), "cores": round(cores, 4)}


if __name__ == "__main__":
    sys.exit(app(result_action="return_value"))
