"""What may wait until the next batch runs: in a thread, one action after the other."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

Action = Callable[[], None]

Later = Callable[[Action], None]
"""Has an action done, now or afterwards."""

# So many batches whose remains are not removed yet are a sign that the storage is slower at that than batches come.
_MOST_WAITING = 16


def at_once(action: Action) -> None:
    """Do an action now: a `Later` for whoever has nothing to do meanwhile."""
    action()


class Background:
    """A `Later` with a thread of its own. An action that fails is done again by whoever looks next, and fails for him.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._changing = Lock()
        self._thread: ThreadPoolExecutor | None = None
        self._waiting: list[tuple[Action, Future[None]]] = []

    def __call__(self, action: Action) -> None:
        """Have an action done; waits first if too many others have not been done yet."""
        if len(self._waiting) >= _MOST_WAITING:
            self.finish()
        with self._changing:
            self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="gluepot-clearing")
            self._waiting.append((action, self._thread.submit(action)))

    def look(self) -> None:
        """Do again what has failed meanwhile, and wait for nothing else.

        Raises:
            EtlError: it fails again; the next call tries again.
        """
        with self._changing:
            done = [one for one in self._waiting if one[1].done()]
        self._end(done)

    def finish(self) -> None:
        """Wait until everything has been done, and end the thread.

        Raises:
            EtlError: as `look` does.
        """
        with self._changing:
            waiting, thread, self._thread = list(self._waiting), self._thread, None
        if thread is not None:
            thread.shutdown()  # waits
        self._end(waiting)

    def _end(self, some: list[tuple[Action, Future[None]]]) -> None:
        for one in some:
            action, future = one
            if future.exception() is not None:
                action()
            with self._changing:
                if one in self._waiting:  # otherwise another thread was faster
                    self._waiting.remove(one)
