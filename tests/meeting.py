"""Threads that meet where two of them must not be at once, so that a race happens in each run of a test."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

# Where a lock lets only one thread through, that thread waits in vain for the other one.
_VAIN_SECS = 0.2


class Meeting:
    """A place where threads wait for each other.

    Args:
        threads: how many meet.
    """

    def __init__(self, threads: int = 2) -> None:
        self._barrier = threading.Barrier(threads)

    def __call__(self) -> bool:
        """Wait for the other threads; return whether all were here at once. Only the first meeting is waited for."""
        try:
            self._barrier.wait(_VAIN_SECS)
        except threading.BrokenBarrierError:
            return False
        return True


def at_once(*functions: Callable[[], Any]) -> list[Any]:
    """Run functions in threads that begin together; return their results, or raise the first error."""
    beginning = threading.Barrier(len(functions))

    def run(function: Callable[[], Any]) -> Any:
        beginning.wait()
        return function()

    with ThreadPoolExecutor(len(functions)) as pool:
        running = [pool.submit(run, function) for function in functions]
    return [one.result() for one in running]
