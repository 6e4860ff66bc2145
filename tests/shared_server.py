"""A server that the processes of a test run share: the first that asks starts it, and ends it when nobody uses it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import psutil

POLL_SECS = 0.2


@contextmanager
def shared(folder: Path, start: Callable[[Path], AbstractContextManager[str]]) -> Iterator[str]:
    """Yield the endpoint of a server.

    Args:
        folder: the same one for all processes that share the server, and for no others.
        start: starts the server with its files in a new folder, and yields its endpoint until the server has to end.
    """
    folder.mkdir(exist_ok=True)
    running = folder / "running"
    with ExitStack() as server:
        with _alone(folder):
            owner, endpoint = _read(running)
            if not psutil.pid_exists(owner):
                owner = os.getpid()
                of_server = folder / f"server-{owner}"
                of_server.mkdir()
                endpoint = server.enter_context(start(of_server))
                running.write_text(f"{owner} {endpoint}")
            users = folder / f"users-{owner}"
            users.mkdir(exist_ok=True)
            user = users / str(os.getpid())
            user.touch()
        try:
            yield endpoint
        finally:
            with _alone(folder):
                user.unlink()
                if owner == os.getpid():
                    running.unlink()  # who asks from now on starts another one
            while owner == os.getpid() and _has_living(users):
                time.sleep(POLL_SECS)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes out meanwhile."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _read(running: Path) -> tuple[int, str]:
    """Return the process that has started the server, and the server's endpoint; -1 if there is none."""
    if not running.exists():
        return -1, ""
    owner, _, endpoint = running.read_text().partition(" ")
    return int(owner), endpoint


def _has_living(users: Path) -> bool:
    return any(psutil.pid_exists(int(one.name)) for one in users.iterdir())
