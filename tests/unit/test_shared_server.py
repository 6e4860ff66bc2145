"""A server of tests is shared by processes: started once, ended when the last one that uses it has ended."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from tests.repository import REPOSITORY
from tests.shared_server import shared

USER = """
import sys
from contextlib import contextmanager
from pathlib import Path
from tests.shared_server import shared

@contextmanager
def server(folder):
    yield f"{sys.argv[2]}:1"
    (folder / "ended").touch()

with shared(Path(sys.argv[1]), server) as endpoint:
    print(endpoint, flush=True)
    sys.stdin.read()
"""


def process(folder: Path, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", USER, str(folder), name]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(command, cwd=REPOSITORY, text=True, **pipes)  # type: ignore[call-overload, no-any-return]


def test_the_first_starts_it_and_ends_it_after_all_others(tmp_path):
    folder = tmp_path / "shared"
    with process(folder, "first") as first:
        assert first.stdout.readline() == "first:1\n"
        with process(folder, "second") as second:
            assert second.stdout.readline() == "first:1\n"
            first.stdin.close()
            while (folder / "running").exists():
                assert first.poll() is None
            with process(folder, "third") as third:  # what ends is not given to anybody any more
                assert third.stdout.readline() == "third:1\n"
            assert first.poll() is None
            assert not (folder / f"server-{first.pid}" / "ended").exists()
        assert first.wait() == 0
        assert (folder / f"server-{first.pid}" / "ended").exists()


def test_the_server_of_a_process_that_was_killed_is_not_given_to_others(tmp_path):
    folder = tmp_path / "shared"
    with process(folder, "killed") as killed:
        killed.stdout.readline()
        killed.kill()
    with shared(folder, started) as endpoint:
        assert endpoint == "started:1"


@contextmanager
def started(_: Path):
    yield "started:1"
