"""Starts processes and waits for them and their orphans, so that the processor time of a run is complete.

On Linux, a process whose parent has ended becomes a child of the nearest ancestor that asked for such processes. The
system adds its processor time to that ancestor's when it is waited for.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
CURRENT_TEST = b"PYTEST_CURRENT_TEST="
"""The variable by which pytest names the test that runs; the processes that the test starts inherit it."""
LOOK_SECS = 0.05
"""How often new orphans are looked up. A JVM takes longer to end."""


def adopt_orphans() -> None:
    """Become the parent of descendants whose parent ends. Elsewhere than on Linux nothing happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def used_secs() -> float:
    """Return the processor time of all children that ended and were waited for, with their descendants."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def file_of_test(environ: bytes) -> str | None:
    """Return the file of the test that started a process, from its environment as Linux shows it; None if none did."""
    for variable in environ.split(b"\0"):
        if variable.startswith(CURRENT_TEST):
            return variable.removeprefix(CURRENT_TEST).partition(b"::")[0].decode()
    return None


class Children:
    """The processes of a run. Only one thread may use it, and nothing else in the process may start one meanwhile.

    Attributes:
        orphan_secs: the processor time of orphans that have ended, by the file of tests that started them.
    """

    def __init__(self) -> None:
        self.orphan_secs: Counter[str] = Counter()
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._files: dict[int, str | None] = {}
        self._has_ended = threading.Event()
        self._lookups = threading.Thread(target=self._look_up, args=(threading.get_native_id(),), daemon=True)
        self._lookups.start()

    def start(self, command: Sequence[str], output: Path | None = None) -> subprocess.Popen[bytes]:
        """Start a command; what it prints goes to a file if there is one."""
        if output is None:
            process = subprocess.Popen(command)
        else:
            with output.open("wb") as file:
                process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        self._running[process.pid] = process
        return process

    def wait(self, process: subprocess.Popen[bytes]) -> int:
        """Wait for the end of a process, and for all others that end meanwhile; return its exit code."""
        while process.pid in self._running:
            self._take(*os.wait4(-1, 0))
        return process.returncode

    def wait_for_orphans(self, secs: float) -> None:
        """Wait until orphans have ended, too, but no longer than some seconds."""
        deadline = time.monotonic() + secs
        with suppress(ChildProcessError):  # there are none
            while time.monotonic() < deadline:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if pid:
                    self._take(pid, status, usage)
                else:
                    self._has_ended.wait(LOOK_SECS)

    def _take(self, pid: int, status: int, usage: resource.struct_rusage) -> None:
        if ended := self._running.pop(pid, None):
            ended.returncode = os.waitstatus_to_exitcode(status)
        elif file := self._files.pop(pid, None):
            self.orphan_secs[file] += usage.ru_utime + usage.ru_stime

    def terminate(self) -> None:
        """Ask all that still run to end, and wait for them."""
        for process in list(self._running.values()):
            process.terminate()
        for process in list(self._running.values()):
            self.wait(process)
        self._has_ended.set()
        self._lookups.join()

    def _look_up(self, thread_id: int) -> None:
        """Note who started the orphans while they still run; what has ended shows no environment."""
        children = Path(f"/proc/self/task/{thread_id}/children")
        while children.exists() and not self._has_ended.wait(LOOK_SECS):
            for pid in map(int, children.read_text().split()):
                if pid not in self._running and pid not in self._files:
                    with suppress(OSError):
                        self._files[pid] = file_of_test(Path(f"/proc/{pid}/environ").read_bytes())
