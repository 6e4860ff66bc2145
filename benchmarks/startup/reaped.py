"""`python benchmarks/startup/reaped.py COMMAND...`: run a command and tell the processor time of all its processes.

The driver does not wait for its JVM, nor the JVM for every worker. Linux gives processes without a parent to the next
ancestor that asks for them, so this one waits for them all and prints one line of JSON: `wall_secs` until the command
ended, `cpu_secs` of it and everything that it started.
"""

from __future__ import annotations

import ctypes
import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from os import wait

_ADOPT_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER of Linux's prctl."""


def main(command: Sequence[str]) -> int:
    """Run it with its output put aside; return its exit code."""
    ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)
    began = time.monotonic()
    ended = subprocess.run(command, check=False, stdout=sys.stderr)
    wall_secs = time.monotonic() - began
    with suppress(ChildProcessError):
        while True:
            wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({"wall_secs": wall_secs, "cpu_secs": used.ru_utime + used.ru_stime}))
    return ended.returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
