"""Jobs as their users start them: processes of their own, watched from outside."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gluepot.core.clock import SystemClock
from tests.duck import duck
from tests.job_host.client import hosted_python

GLUEPOT = (sys.executable, "-m", "gluepot")
SCRIPTS = Path(__file__).parent / "scripts"
EXAMPLES = Path(__file__).parents[2] / "examples"
WAIT_SECS = 180.0
POLL_SECS = 0.1

_clock = SystemClock()


def wait_until(reached: Callable[[], Any], what: str, secs: float = WAIT_SECS) -> None:
    """Return once something is true; AssertionError with `what` when it is not in time."""
    deadline = _clock.monotonic() + secs
    while not reached():
        assert _clock.monotonic() < deadline, f"{what}: not within {secs:.0f} s"
        _clock.sleep(POLL_SECS)


def rest(secs: float) -> None:
    """Let time pass for the job under test."""
    _clock.sleep(secs)


@dataclass(frozen=True)
class Job:
    """A started job; `process` leads a process group that holds all of it."""

    process: subprocess.Popen[bytes]
    folder: Path

    @property
    def out(self) -> str:
        return (self.folder / "stdout").read_text()

    @property
    def err(self) -> str:
        return (self.folder / "stderr").read_text()

    def log(self) -> list[dict[str, Any]]:
        """The job's own log lines; Spark's are text and left out."""
        return [json.loads(line) for line in self.err.splitlines() if line.startswith("{")]

    def said(self, msg: str) -> list[dict[str, Any]]:
        return [line for line in self.log() if line["msg"] == msg]

    def sentences(self) -> list[str]:
        """What stderr has for a person: no log lines, no lines of the script, and not Java's notice about modules."""
        notices = re.compile(r"\{|  |WARNING: Using incubator modules|Run again with -v")
        return [line for line in self.err.splitlines() if line and not notices.match(line)]

    def runs(self) -> bool:
        return self.process.poll() is None

    def wait_until(self, reached: Callable[[], Any], what: str) -> None:
        """Wait for something the job does; fails with its stderr when the job ends before, or it takes too long."""
        try:
            wait_until(lambda: reached() or not self.runs(), what)
        except AssertionError as late:
            raise AssertionError(f"{late}\n{self.err[-6000:]}") from None
        assert reached(), f"{what}: the job ended with {self.exit_code()}\n{self.err[-3000:]}"

    def exit_code(self, secs: float = WAIT_SECS) -> int:
        """The exit code as a shell shows it: 128 plus the signal for a process that a signal ended."""
        code = self.process.wait(secs)
        return code if code >= 0 else 128 - code

    def kill(self) -> None:
        """Kill all processes of the job at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)


@dataclass
class Launcher:
    """Starts jobs, each in a folder of its own below `folder`; what still runs at the end is killed."""

    folder: Path
    jobs: list[Job] = field(default_factory=list)

    def __call__(self, *command: str | Path, env: dict[str, str] | None = None) -> Job:
        folder = self.folder / f"job-{len(self.jobs)}"
        folder.mkdir()
        with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
            process = subprocess.Popen(
                [str(part) for part in command],
                cwd=folder,
                env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        self.jobs.append(Job(process, folder))
        return self.jobs[-1]

    def gluepot(self, *arguments: str | Path, env: dict[str, str] | None = None) -> Job:
        return self(*GLUEPOT, *arguments, env=env)

    def hosted(self, *arguments: str | Path, env: dict[str, str] | None = None) -> Job:
        """Do the same as `gluepot` for less processor time, where start, signals and Spark's own log do not matter.

        A job that kills itself at a failpoint is a real one.
        """
        if (env or {}).get("GLUEPOT_FAILPOINT"):
            return self.gluepot(*arguments, env=env)
        return self(*hosted_python(), *GLUEPOT[1:], *arguments, env=env)

    def end(self) -> None:
        for job in self.jobs:
            if job.runs():
                job.kill()


@contextmanager
def launcher(folder: Path) -> Iterator[Launcher]:
    started = Launcher(folder)
    try:
        yield started
    finally:
        started.end()
    for job in started.jobs:  # also of jobs that were killed: the balances of the batches that they committed
        assert "records_unaccounted" not in job.err, job.err[-3000:]


def _data_files(table: Path) -> Iterator[str]:
    # Not rglob: it fails when a staging folder goes while it looks, as they do under a running job.
    for folder, subfolders, names in os.walk(table):
        subfolders[:] = [name for name in subfolders if name != "_gluepot"]
        yield from (f"{folder}/{name}" for name in names if name.endswith(".parquet"))


def column(table: Path, name: str) -> list[Any]:
    """The values of a column in all published files of a table, sorted, as DuckDB reads them."""
    files = sorted(_data_files(table))
    if not files:
        return []
    query = f"SELECT {name} FROM read_parquet(?, union_by_name=true, hive_partitioning=true) ORDER BY 1"
    return [row[0] for row in duck().execute(query, [files]).fetchall()]


def connections_file(folder: Path, bootstrap: str, name: str = "clickstream") -> Path:
    """Write a connections file with one Kafka connection; `examples/clickstream.py` needs the one of the default."""
    path = folder / "connections.yaml"
    properties = f'{{KAFKA_BOOTSTRAP_SERVERS: "{bootstrap}", KAFKA_SSL_ENABLED: "false"}}'
    path.write_text(f"connections:\n  {name}:\n    type: kafka\n    properties: {properties}\n")
    return path


def arguments(**values: object) -> Sequence[str]:
    """Return `--name value` for each, as Glue passes a script's arguments."""
    return [token for name, value in values.items() for token in (f"--{name}", str(value))]
