"""python -m benchmarks.service.logs [--database URL] [--runs N]: log queries, console pages and starts after many runs.

The database and the folders of runs are filled directly, each run with two small log files. Then unmodified boto3 and a
browser's requests call a service in a process of its own. Times are those that the client sees.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import boto3
import httpx
from cyclopts import App, Parameter
from sqlalchemy import create_engine, insert, make_url, select, text

from gluepot.core.clock import SystemClock
from gluepot.service.server import client_environment, own_place, service_folder
from gluepot.service.server import where_it_serves as where
from gluepot.service.store.database import store_url
from gluepot.service.store.tables import jobs, runs

JOBS, CALLS = 100, int(os.environ.get("CALLS", "7"))
DAY_MS = 24 * 3600 * 1000
GOALS = {"logs": 0.3, "console": 0.2, "start": 0.1}
WAIT_SECS = 900.0

app = App(help=__doc__)


@app.default
def main(
    *,
    database: Annotated[str | None, Parameter(help="URL of an empty database")] = None,
    number_of_runs: Annotated[int, Parameter(name="--runs")] = 100_000,
) -> int:
    """Measure and print; return 1 where a goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "GLUEPOT_STATE": folder, **({"GLUEPOT_SERVICE": database} if database else {})}
        with serving(environ):
            of_service(environ, "glue").create_job(
                Name="job-00", Role="any", Command={"Name": "glueetl", "ScriptLocation": "/no.py"}
            )
        fill(environ, number_of_runs)
        with serving(environ) as process_id:
            report = {"runs": number_of_runs, "indexed_secs": indexed(environ), **measured(environ, number_of_runs)}
            report["cpu_secs_of_service"] = cpu_secs(process_id)
    print(json.dumps(report, indent=2))
    return int(any(secs > GOALS[name.partition(" ")[0]] for name, secs in report["median_secs"].items()))


@contextmanager
def serving(environ: Mapping[str, str]) -> Iterator[int]:
    """Run a service; yield the id of its process."""
    command = [sys.executable, "-m", "gluepot", "serve", "--port", "0", "--max-runs", "1"]
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        SystemClock().sleep(1)  # the file that says where it serves
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def fill(environ: Mapping[str, str], number_of_runs: int) -> None:
    """Add runs that have ended in the last 80 days, and their log files."""
    place = own_place(service_folder(environ) / "place")
    now_ms = round(SystemClock().epoch() * 1000)
    with connected(environ) as connection:
        job = connection.execute(jobs.select()).mappings().one()
        connection.execute(insert(jobs), [{**job, "name": f"job-{n:02}"} for n in range(1, JOBS)])
        for begin in range(0, number_of_runs, 10_000):
            numbers = range(begin, min(begin + 10_000, number_of_runs))
            times = [now_ms - 80 * DAY_MS * (number_of_runs - n) // number_of_runs for n in numbers]
            rows = [row(n, at_ms, job["definition"], place) for n, at_ms in zip(numbers, times, strict=True)]
            connection.execute(insert(runs), rows)
            for n, at_ms in zip(numbers, times, strict=True):
                write_logs(service_folder(environ) / "runs" / f"jr_{n:064x}", n, at_ms)
        if connection.dialect.name == "postgresql":  # which does that by itself, later; SQLite never does
            connection.execute(text("ANALYZE"))


def row(n: int, at_ms: int, definition: str, place: str) -> dict[str, Any]:
    """Return the row of a run."""
    times = {"started_ms": at_ms, "running_ms": at_ms + 1, "modified_ms": at_ms + 9000, "completed_ms": at_ms + 9000}
    details = json.dumps({"definition": json.loads(definition), **times})
    fixed = {"id": f"jr_{n:064x}", "job": f"job-{n % JOBS:02}", "command": "glueetl", "chain": "", "followed": True}
    return {**fixed, "details": details, "state": "SUCCEEDED" if n % 50 else "FAILED", "place": place}


def write_logs(folder: Path, n: int, at_ms: int) -> None:
    """Write the log files of a run."""
    folder.mkdir(parents=True)
    (folder / "output.log").write_text(f"rows of run {n}\ndone\n")
    lines = [
        {"ts": datetime.fromtimestamp((at_ms + 1000 * second) / 1000, UTC).isoformat(), "msg": f"step {second} of {n}"}
        for second in range(4)
    ]
    (folder / "error.log").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def indexed(environ: Mapping[str, str]) -> float:
    """Wait until the index of log streams has all runs; return how long that took."""
    began = time.perf_counter()
    if "logged" in runs.c:
        while time.perf_counter() - began < WAIT_SECS:
            with connected(environ) as connection:
                if connection.execute(select(runs.c.id).where(~runs.c.logged).limit(1)).first() is None:
                    break
            SystemClock().sleep(1)
    return round(time.perf_counter() - began, 1)


def measured(environ: Mapping[str, str], number_of_runs: int) -> dict[str, Any]:
    """Call the service."""
    logs, glue = of_service(environ, "logs"), of_service(environ, "glue")
    now_ms = round(SystemClock().epoch() * 1000)
    group = {"logGroupName": "/aws-glue/jobs/error"}
    hour = {"startTime": now_ms - 40 * DAY_MS, "endTime": now_ms - 40 * DAY_MS + 3_600_000}
    middle = f"jr_{number_of_runs // 2:064x}"

    def paged(**request: Any) -> int:
        return sum(len(page["events"]) for page in logs.get_paginator("filter_log_events").paginate(**group, **request))

    calls: dict[str, Callable[[], object]] = {
        "logs filter, a page": lambda: logs.filter_log_events(**group),
        "logs filter, a page, no match": lambda: logs.filter_log_events(**group, filterPattern="nowhere"),
        "logs filter, limit 100": lambda: logs.filter_log_events(**group, limit=100),
        "logs filter, an hour 40 days ago, all pages": lambda: paged(**hour),
        "logs filter, last hour, all pages": lambda: paged(startTime=now_ms - 3_600_000),
        "logs filter, one stream": lambda: logs.filter_log_events(**group, logStreamNames=[middle]),
        "logs get events": lambda: logs.get_log_events(**group, logStreamName=middle, startFromHead=True),
        "logs describe streams": lambda: logs.describe_log_streams(**group),
        "logs describe streams, newest": lambda: logs.describe_log_streams(
            **group, orderBy="LastEventTime", descending=True
        ),
        "logs describe streams, prefix": lambda: logs.describe_log_streams(**group, logStreamNamePrefix=middle),
        "start of a run": lambda: glue.start_job_run(JobName="job-07", JobRunQueuingEnabled=True),
        **pages(environ, middle, number_of_runs),
    }
    median, most = {}, {}
    for name, call in calls.items():
        ordered = sorted(took(call) for _ in range(CALLS))
        median[name], most[name] = round(ordered[CALLS // 2], 4), round(ordered[-1], 4)
        print(name, median[name], most[name], file=sys.stderr)
    return {"median_secs": median, "most_secs": most}


def pages(environ: Mapping[str, str], run_id: str, number_of_runs: int) -> dict[str, Callable[[], object]]:
    """Return what opens pages of the console."""
    command = [sys.executable, "-m", "gluepot", "serve", "console"]
    link = subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout.strip()
    browser = httpx.Client(base_url=link.partition("/console")[0], follow_redirects=True)
    browser.get(link).raise_for_status()
    job = f"job-{number_of_runs // 2 % JOBS:02}"
    paths = {
        "overview": "",
        "jobs": "jobs",
        "job": f"job?name={job}",
        "runs": "runs",
        "failed runs": "runs?state=failed",
        "run": f"run?job={job}&id={run_id}",
        "log": f"whole-log?job={job}&id={run_id}&stream=error",
        "costs": "costs",
    }
    return {
        f"console {name}": lambda path=path: browser.get(f"/console/{path}").raise_for_status()
        for name, path in paths.items()
    }


@contextmanager
def connected(environ: Mapping[str, str]) -> Iterator[Any]:
    """Connect to the service's database."""
    url = make_url(store_url(environ))
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    engine = create_engine(url)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def of_service(environ: Mapping[str, str], name: str) -> Any:
    """Return a client."""
    found = where(environ)
    keys = client_environment(found.url, found.region, found.key)
    return boto3.client(
        name,
        endpoint_url=found.url,
        region_name=found.region,
        aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=keys["AWS_SECRET_ACCESS_KEY"],
    )


def took(call: Callable[[], object]) -> float:
    """Return how long a call took."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def cpu_secs(process_id: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(app(result_action="return_value"))
