"""Streams that a thread of the script has asked for and that did not run.

Python prints the traceback of an exception that ends a thread, and a pool of threads keeps it until somebody asks for
the result. In both cases the script ends as if all were well, although a stream was never read.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import thread as pools
from contextlib import contextmanager
from dataclasses import dataclass

from gluepot.core.errors import PermanentError
from gluepot.core.logging import get_logger

log = get_logger(__name__)

_LOOK_SECS = 0.1
_MOMENT_SECS = 0.01
"""How long a thread of a pool may take from one piece of work to the next."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """A stream that the script has opened; `in_thread` if another thread than the script's own did."""

    stream: str
    is_used: Callable[[], bool]
    in_thread: bool


class ThreadFailures:
    """The failures of one job's threads. What fails in the thread that makes this object ends the script by itself."""

    def __init__(self) -> None:
        self._main = threading.current_thread()
        self._failures: dict[str, BaseException] = {}
        self._asking: set[threading.Thread] = set()
        self._changing = threading.Lock()
        self._opened: list[_Opened] = []
        self._reading: Counter[threading.Thread] = Counter()
        self._before: frozenset[threading.Thread] = frozenset()

    def opened(self, stream: str, is_used: Callable[[], bool]) -> None:
        """Note a stream that this thread has opened.

        Args:
            stream: names it.
            is_used: tells whether a query, or a sample, has begun to read it.
        """
        with self._changing:
            self._opened.append(_Opened(stream, is_used, threading.current_thread() is not self._main))

    @contextmanager
    def watched(self, stream: str) -> Iterator[None]:
        """Note a failure of what a thread does with a stream; a later success of the same makes up for it.

        Args:
            stream: names the stream and what is done, equal for a repeated attempt.
        """
        thread = threading.current_thread()
        if thread is self._main:
            yield
            return
        with self._changing:
            self._asking.add(thread)
            self._reading[thread] += 1
        failure: BaseException | None = None
        try:
            yield
        except BaseException as error:
            failure = error
            raise
        finally:
            with self._changing:
                self._reading[thread] -= 1
                self._failures.pop(stream, None)
                if failure is not None:
                    self._failures[stream] = failure

    @contextmanager
    def uncaught(self, stop: Callable[[], None]) -> Iterator[None]:
        """While this is open, end the other streams when an exception ends a thread that has asked for a stream."""
        before = threading.excepthook
        self._before = frozenset(threading.enumerate())

        def hook(ended: threading.ExceptHookArgs) -> None:
            before(ended)
            if ended.thread in self._asking and ended.exc_value is not None and not _is_good_end(ended.exc_value):
                with self._changing:
                    if not any(known is ended.exc_value for known in self._failures.values()):
                        self._failures[f"thread {ended.thread.name}"] = ended.exc_value
                log.error("stream_thread_ended", thread=ended.thread.name, error=str(ended.exc_value))
                stop()

        threading.excepthook = hook
        try:
            yield
        finally:
            threading.excepthook = before

    def wait(self) -> None:
        """Wait for the threads that the script has started, as Python does at its end.

        A thread of a pool is waited for until it has nothing to do, and a daemon thread while it reads a stream.
        """
        told = False
        while left := [thread for thread in threading.enumerate() if self._is_awaited(thread)]:
            if not told:
                log.info("waiting_for_threads", threads=[thread.name for thread in left])
                told = True
            left[0].join(_LOOK_SECS)

    def _is_awaited(self, thread: threading.Thread) -> bool:
        if thread in self._before or thread is threading.current_thread():
            return False
        if self._reading[thread]:
            return True
        return not thread.daemon and not _is_idle(thread)

    def raise_first(self) -> None:
        """End the job if a stream did not run.

        A thread of a pool may fail after it has opened a stream and before it reads it, for example because a column
        is misspelt, and nobody may ask for the error. A script without such threads may open a stream only to see its
        columns.

        Raises:
            PermanentError: a thread asked for a stream that did not run.
        """
        for stream, error in list(self._failures.items()):
            raise PermanentError(
                f"A thread asked for a stream that did not run to its end ({stream}): {type(error).__name__}: {error}"
            ) from error
        for unused in [one for one in self._opened if not one.is_used()]:
            if unused.in_thread or self._asking:
                raise PermanentError(
                    f"The script opened a stream and never read it ({unused.stream}); if a thread failed between the"
                    " two, ask for its result, for example with future.result(). If the stream is not needed, do not"
                    " open it."
                )
            log.warning("stream_never_read", stream=unused.stream)


def _is_good_end(error: BaseException) -> bool:
    """Return whether `sys.exit` has ended a thread that has done its work."""
    return isinstance(error, SystemExit) and not error.code


def _is_idle(thread: threading.Thread) -> bool:
    """Return whether a thread of a pool waits for work; Python has no public way to ask."""
    if thread not in pools._threads_queues:  # noqa: SLF001
        return False
    if _works(thread):
        return False
    thread.join(_MOMENT_SECS)
    return not _works(thread)


def _works(thread: threading.Thread) -> bool:
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001
    return frame is not None and frame.f_code is not pools._worker.__code__  # noqa: SLF001
