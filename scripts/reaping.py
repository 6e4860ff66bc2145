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
from collections.abc import Sequence
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of descendants whose parent ends. Elsewhere than on Linux nothing happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def used_secs() -> float:
    """Return the processor time of all children that ended and were waited for, with their descendants."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


class Children:
    """The processes of a run. Only one thread may use it, and nothing else in the process may start one meanwhile."""

    def __init__(self) -> None:
        self._running: dict[int, subprocess.Popen[bytes]] = {}

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
            pid, status = os.wait()
            if ended := self._running.pop(pid, None):
                ended.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode

    def terminate(self) -> None:
        """Ask all that still run to end, and wait for them."""
        for process in list(self._running.values()):
            process.terminate()
        for process in list(self._running.values()):
            self.wait(process)
