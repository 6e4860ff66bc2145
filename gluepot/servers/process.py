"""Identifies operating system processes reliably, even if their number is used again for another process."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from gluepot.core.clock import Clock

POLL_SECS = 0.05
STATE_FIELD = 0
START_TICKS_FIELD = 19


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process: its number, and its start time in the system's own format."""

    pid: int
    started: str


def parse_proc_stat(text: str) -> str | None:
    """Return the start time in a `/proc/PID/stat` line, or None for a process that has ended but was not waited for.

    The fields are counted from after the command, which is in parentheses and may contain anything (proc(5)).
    """
    fields = text.rpartition(")")[2].split()
    return None if fields[STATE_FIELD] in "ZX" else fields[START_TICKS_FIELD]


def identify(pid: int) -> ProcessId | None:
    """Return the process that has this number now, or None."""
    if Path("/proc/self/stat").exists():
        try:
            started = parse_proc_stat(Path(f"/proc/{pid}/stat").read_text())
        except (FileNotFoundError, ProcessLookupError):
            return None
    else:
        asked = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, check=False, text=True)
        started = asked.stdout.strip() or None
    return ProcessId(pid, started) if started else None


def is_alive(process: ProcessId) -> bool:
    """Tell whether exactly this process still runs."""
    return identify(process.pid) == process


def terminate(process: ProcessId, grace_secs: float, clock: Clock) -> None:
    """End a process: SIGTERM, and SIGKILL to its group if it still runs after `grace_secs`.

    Return when it has ended, or at once if it had ended before. The process must lead its group.
    """
    if not is_alive(process):
        return
    os.kill(process.pid, signal.SIGTERM)
    if not _ended_within(process, grace_secs, clock):
        os.killpg(process.pid, signal.SIGKILL)
        _ended_within(process, grace_secs, clock)


def _ended_within(process: ProcessId, secs: float, clock: Clock) -> bool:
    deadline = clock.monotonic() + secs
    while is_alive(process):
        if clock.monotonic() >= deadline:
            return False
        clock.sleep(POLL_SECS)
    return True
