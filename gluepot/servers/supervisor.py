"""Runs one command for as long as another process lives: `python supervisor.py OWNER_PID COMMAND...`.

It is started as a file, by an interpreter without our packages on its path, so that it imports none of them and takes
only 10 MB. It asks for its parent's number instead of holding a pipe to it: a pipe would stay open in every process
that the owner forks, and would keep the command alive after the owner's death.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys

POLL_SECS = 0.25
GRACE_SECS = 10.0
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def die_with_parent() -> None:
    """Make Linux kill this process when its parent ends, as the supervisor itself may be killed without warning."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end(child: subprocess.Popen[bytes]) -> int:
    """Stop the command, gently at first; return its exit code."""
    child.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return child.wait(timeout=GRACE_SECS)
    child.kill()
    return child.wait()


def supervise(owner_pid: int, command: list[str]) -> int:
    """Run the command until it ends, until a SIGTERM arrives, or until the owner is no longer our parent.

    Returns:
        The command's exit code.
    """
    asked_to_end = False

    def on_sigterm(_signal: int, _frame: object) -> None:
        nonlocal asked_to_end
        asked_to_end = True

    signal.signal(signal.SIGTERM, on_sigterm)
    # die_with_parent is one system call; this process has one thread, so nothing can hold a lock across the fork.
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)  # noqa: PLW1509
    while not asked_to_end and os.getppid() == owner_pid:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.wait(timeout=POLL_SECS)
    return end(child)


if __name__ == "__main__":
    ended = supervise(int(sys.argv[1]), sys.argv[2:])
    sys.exit(ended if ended >= 0 else 128 - ended)  # as a shell tells a signal
