"""The command that stands for a job on the host. Each process of tests has a host, which starts with the first job."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

RELAY = Path(__file__).with_name("relay.py")
ROOT = Path(__file__).parents[2]


def hosted_python() -> tuple[str, ...]:
    """Return a command that takes `-m MODULE ARGUMENTS` as Python does, and runs them on the host."""
    return (sys.executable, "-I", "-S", str(RELAY), _host())


@cache
def _host() -> str:
    """Start the host; return its socket. It ends with this process, because its standard input closes then."""
    from tests.job_host.__main__ import READY

    folder = tempfile.mkdtemp(prefix="gluepot-host-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = f"{folder}/socket"
    command = [sys.executable, "-m", "tests.job_host", path]
    with Path(folder, "stderr").open("wb") as errors:
        host = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        )
    assert host.stdout is not None
    assert host.stdout.readline() == READY, Path(folder, "stderr").read_text()
    atexit.register(_end, host)
    return path


def _end(host: subprocess.Popen[bytes]) -> None:
    assert host.stdin is not None
    host.stdin.close()
    host.wait()
