"""A folder whose power can be cut, for tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.power.disk import Mode
from tests.power.fuse import DEVICE

ROOT = Path(__file__).parents[2]


def missing() -> str:
    """Why no file system of ours can be mounted here; empty if one can."""
    if not DEVICE.exists():
        return f"power cuts need {DEVICE}, which this machine lacks: load the kernel's module fuse"
    if os.geteuid() != 0:
        return f"power cuts need root, who alone may mount what {DEVICE} offers: run the tests as root"
    return ""


@dataclass
class Machine:
    """A mounted file system that forgets what was not flushed when its power is cut.

    Args:
        folder: where it is mounted.
        mode: its rules, see `disk`.
    """

    folder: Path
    mode: Mode
    _server: subprocess.Popen[str]
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def cut(self) -> None:
        """Cut the power now: each process that asks for a file from now on waits until it is killed."""
        self._ask({"do": "cut"})

    def cut_after(self, actions: int) -> None:
        """Cut the power before the action after so many more: a write, a flush or a change of names."""
        self._ask({"do": "cut_after", "actions": actions})

    def leave(self) -> None:
        """Take the mount away, which ends whoever waits for an answer."""
        self._ask({"do": "leave"})

    def restart(self, seed: str | None) -> None:
        """Mount what has survived; who used the files before must be killed first, their handles are dead.

        Args:
            seed: of what survives; None: all does, as after a kill, but what was not flushed is still at stake.
        """
        self._ask({"do": "restart", "seed": seed})

    @property
    def has_lost_power(self) -> bool:
        return bool(self._ask({"do": "state"})["lost_power"])

    @property
    def actions(self) -> int:
        """How many since the last restart."""
        return int(self._ask({"do": "state"})["actions"])

    def _ask(self, command: Mapping[str, object]) -> dict[str, Any]:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        with self._one_at_a_time:
            self._server.stdin.write(json.dumps(command) + "\n")
            self._server.stdin.flush()
            return dict(json.loads(self._server.stdout.readline()))


@contextmanager
def machine(folder: Path, mode: Mode) -> Iterator[Machine]:
    """Mount a new, empty file system on a folder, which is made."""
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "tests.power.server", str(folder), mode]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True, start_new_session=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        if error := json.loads(server.stdout.readline()).get("error"):
            raise OSError(f"{folder} cannot be mounted: {error}")
        try:
            yield Machine(folder, mode, server)
        finally:
            server.stdin.close()
            server.wait()
