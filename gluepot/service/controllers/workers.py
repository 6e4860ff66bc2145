"""Threads of the service that work until they are told to end."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol


class Worker(Protocol):
    """What works in a thread of its own."""

    def run(self) -> None:
        """Work until `end` is called."""

    def end(self) -> None:
        """Have `run` return soon."""


@contextmanager
def working(workers: Mapping[str, Worker]) -> Iterator[None]:
    """Run workers in threads of their own, for as long as the context lasts.

    Args:
        workers: by the names of their threads.
    """
    threads = [threading.Thread(target=worker.run, name=name) for name, worker in workers.items()]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for worker in workers.values():
            worker.end()
        for thread in threads:
            thread.join()
