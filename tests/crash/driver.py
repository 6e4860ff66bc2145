"""One start of a job: its processes, and the ways to end them without asking."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

import psutil

POLL_SECS = 0.05
GONE_SECS = 30.0

Victim = Literal["group", "driver", "jvm", "worker"]

# A quick start matters more than a fast job: hundreds of them follow each other.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
LAUNCHER = "org.apache.spark.launcher.Main"


# Jobs lead sessions of their own, so nothing but this takes them along when a run is ended from outside.
_started: list[Driver] = []
_ended = threading.Event()


class NotInTime(AssertionError):
    """Something the run waits for did not happen."""


@dataclass(frozen=True)
class Driver:
    """A started job. The process leads a session, which also holds the workers that leave its process group.

    Args:
        process: the driver.
        log: what it prints.
        in_workers: whether its batches run in workers.
    """

    process: subprocess.Popen[bytes]
    log: Path
    in_workers: bool = True

    @classmethod
    def start(
        cls,
        command: Sequence[str | Path],
        folder: Path,
        log: Path,
        env: Mapping[str, str] | None = None,
        *,
        in_workers: bool = True,
    ) -> Driver:
        if _ended.is_set():
            raise NotInTime("the run was ended from outside")
        folder.mkdir(parents=True, exist_ok=True)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "GLUEPOT_FAIL"))}
        with log.open("ab") as output:
            process = subprocess.Popen(
                [str(part) for part in command],
                cwd=folder,
                env={**inherited, "SPARK_LOCAL_IP": "127.0.0.1", "JDK_JAVA_OPTIONS": JAVA, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        _started.append(cls(process, log, in_workers))
        return _started[-1]

    def runs(self) -> bool:
        return self.process.poll() is None

    def members(self) -> list[psutil.Process]:
        """Every living process of the session, also those whose parent is dead."""
        # psutil keeps what it knows of a process id. When the id is used again, it would refuse to kill the new process.
        psutil.process_iter.cache_clear()
        return [one for one in psutil.process_iter(["cmdline"], ad_value=[]) if self._holds(one)]

    def _holds(self, one: psutil.Process) -> bool:
        try:
            return os.getsid(one.pid) == self.process.pid and one.status() != psutil.STATUS_ZOMBIE
        except (ProcessLookupError, psutil.NoSuchProcess):
            return False

    def jvm(self) -> list[psutil.Process]:
        """Spark's own: neither the short-lived one that only prints its command line, nor what it is about to start.

        A process that it has forked looks like it until it becomes another program; the job outlives its death.
        """
        spark = [one for one in self.members() if any("SparkSubmit" in part for part in one.info["cmdline"])]
        alike = {one.pid: one for one in spark if LAUNCHER not in one.info["cmdline"]}
        return [one for one in alike.values() if _parent(one) not in alike]

    def workers(self) -> list[psutil.Process]:
        """Python workers that run tasks: children of the daemon that Spark forks them from, and named as it is."""
        alike = {one.pid: one for one in self.members() if "pyspark.worker" in one.info["cmdline"]}
        return [one for one in alike.values() if _parent(one) in alike]

    def kill(self, victim: Victim, chance: Random) -> bool:
        """SIGKILL one process, or the job's whole process group; False if there is no such process now."""
        match victim:
            case "group":
                return _sent(lambda: os.killpg(self.process.pid, signal.SIGKILL))
            case "driver":
                return _sent(self.process.kill)
            case "jvm" | "worker":
                found = self.jvm() if victim == "jvm" else self.workers()
                return bool(found) and _sent(chance.choice(found).kill)

    def strike_all(self) -> None:
        """SIGKILL every process of the session, and do not wait for their end."""
        for one in self.members():
            _sent(one.kill)

    def kill_all(self) -> None:
        """SIGKILL every process of the session."""
        self.strike_all()
        self.process.kill()  # again, so that the wait ends
        self.process.wait()

    def wait(self, secs: float) -> int | None:
        """The exit code, None if it has not ended in time."""
        try:
            return self.process.wait(secs)
        except subprocess.TimeoutExpired:
            return None

    def outlived(self, secs: float = GONE_SECS) -> list[str]:
        """Command lines of processes that are still there so long after the driver died; killed by then."""
        try:
            wait_until(lambda: not self.members(), "the end of the job's processes", secs)
        except NotInTime:
            left = [" ".join(one.info["cmdline"])[:200] for one in self.members()]
            self.kill_all()
            return left
        return []


def end_all() -> None:
    """Kill every job of this process, and let it start no more."""
    _ended.set()
    for driver in _started:
        driver.kill_all()


def job_command(
    script: Path, arguments: Mapping[str, object], *options: str, module: str = "gluepot"
) -> list[str | Path]:
    given = [token for name, value in arguments.items() for token in (f"--{name}", str(value))]
    return [sys.executable, "-m", module, "run", script, "--master", "local[2]", *options, "--", *given]


def wait_until(reached: Callable[[], object], what: str, secs: float) -> None:
    """Return once something is true.

    Raises:
        NotInTime: it is not, in time.
    """
    deadline = time.monotonic() + secs
    while not reached():
        if time.monotonic() > deadline:
            raise NotInTime(f"{what}: not within {secs:.0f} s")
        time.sleep(POLL_SECS)


def _parent(one: psutil.Process) -> int:
    try:
        return one.ppid()
    except psutil.NoSuchProcess:
        return 0


def _sent(kill: Callable[[], object]) -> bool:
    try:
        kill()
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False
    return True
