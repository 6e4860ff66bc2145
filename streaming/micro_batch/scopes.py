"""Finds the micro-batch that a thread works for: the one whose batch function runs in the thread or started it.

Python's threads do not inherit context variables (before 3.14 never, since then only on request), and an executor's
thread may be older than the task that it runs. So a thread remembers the query of the thread that started it, and a
task submitted to an executor or a thread pool works for the query of the thread that submitted it. Threads and tasks
inherit the query, not the batch, because a pool may live longer than a batch.
"""

from __future__ import annotations

import sysconfig
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from functools import partial, wraps
from multiprocessing.pool import AsyncResult, ThreadPool
from typing import Any
from weakref import WeakSet

from gluepot.core.logging import get_logger

_ATTRIBUTE = "_gluepot_scope"
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
# The longest time that a batch waits for a thread of its function that is not writing. Later writes of it are refused.
LONGEST_WAIT_SECS = 5.0

log = get_logger(__name__)

_POOL_METHODS = ("apply_async", "_map_async", "imap", "imap_unordered")


@dataclass(eq=False, slots=True)
class Scope:
    """The threads, tasks and writes of one query's batch function.

    Args:
        batch: the running batch; None between two batches.
        late: the error raised for a write that came when no batch was running any more.
        threads: the threads that the running function started, without threads of libraries.
        tasks: the unfinished tasks that the function submitted to executors.
        results: the results of calls to thread pools. The set is weak; the pools keep unfinished results alive.
        failed_writes: the errors that writes raised.
        uncaught: the errors that ended threads and tasks of the function.
        writing: number of writes in progress.
        changed: held while that number changes.
    """

    batch: object = None
    late: BaseException | None = None
    threads: list[threading.Thread] = field(default_factory=list)
    tasks: set[Future[Any]] = field(default_factory=set)
    results: WeakSet[AsyncResult[Any]] = field(default_factory=WeakSet)
    failed_writes: list[BaseException] = field(default_factory=list)
    uncaught: list[BaseException] = field(default_factory=list)
    writing: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def write(self) -> Iterator[None]:
        """Count a write of this thread as in progress, and keep the error that it raises."""
        with self.changed:
            self.writing += 1
        try:
            yield
        except BaseException as error:
            if self.batch is not None:  # outside of a batch nothing reads the list
                self.failed_writes.append(error)
            raise
        finally:
            with self.changed:
                self.writing -= 1
                self.changed.notify_all()

    def give(self, task: Future[Any]) -> None:
        """Remember a task that was submitted to an executor until the task ends."""
        self.tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: Future[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.uncaught.append(error)
        self.tasks.discard(task)

    def wait(self) -> None:
        """Wait for the threads and tasks that the function left running, and for writes in progress.

        The wait for a thread that is not writing, or for tasks of which none ends, is at most `LONGEST_WAIT_SECS`.

        Raises:
            BaseException: the error of a write in one of them that the script did not catch.
        """
        while self.threads:
            thread = self.threads.pop()
            thread.join(LONGEST_WAIT_SECS)
            while thread.is_alive() and self._wait_for_writes():
                # Only when the thread ends do we know whether it caught the error of its write.
                thread.join(LONGEST_WAIT_SECS)
            if thread.is_alive():
                log.warning("thread_outlives_its_batch", thread=thread.name)
        while tasks := set(self.tasks):
            ended = wait(tasks, LONGEST_WAIT_SECS, FIRST_COMPLETED).done
            if not ended and not self._wait_for_writes():
                log.warning("tasks_outlive_their_batch", tasks=len(tasks))
                break
        for result in list(self.results):
            result.wait(LONGEST_WAIT_SECS)
            while not result.ready() and self._wait_for_writes():
                result.wait(LONGEST_WAIT_SECS)
            if not result.ready():
                log.warning("tasks_outlive_their_batch", tasks="of a thread pool")
        self._wait_for_writes()
        lost = [error for error in self.uncaught if any(error is one for one in self.failed_writes)]
        self.forget()
        if lost:
            raise lost[0]

    def _wait_for_writes(self) -> bool:
        """Wait until no write is in progress; return False if none was."""
        with self.changed:
            waits = self.writing > 0
            self.changed.wait_for(lambda: self.writing == 0)
        return waits

    def refuse_late_writes(self) -> None:
        """Raise again the error of a late write; it was first raised in a thread where it may have gone unnoticed."""
        if self.late is not None:
            raise self.late

    def forget(self) -> None:
        """Drop all references to the function's threads, tasks, results and errors."""
        for references in (self.threads, self.tasks, self.results, self.failed_writes, self.uncaught):
            references.clear()


_scope: ContextVar[Scope | None] = ContextVar("gluepot_scope", default=None)
_installing = threading.Lock()
_installed = False


def current() -> Scope | None:
    """Return the scope of the query that this thread works for; None if no batch function started the thread."""
    scope: Scope | None = _scope.get() or getattr(threading.current_thread(), _ATTRIBUTE, None)
    return scope


@contextmanager
def running(scope: Scope, batch: object) -> Iterator[None]:
    """Let this thread, and all threads that work for the same query, write as part of a batch while this is open.

    On exit, wait for the threads and tasks that were started meanwhile (see `Scope.wait`), so that none of them writes
    into the next attempt or batch.
    """
    _install()
    token = _scope.set(scope)
    scope.batch = batch
    try:
        try:
            yield
        except BaseException:
            with suppress(BaseException):  # the function's own error is the one to report
                scope.wait()
            raise
        scope.wait()
    finally:
        scope.batch = None
        scope.forget()
        _scope.reset(token)


def _install() -> None:
    """Patch the thread and pool classes of this process, once, so that new threads and tasks inherit the query."""
    global _installed  # noqa: PLW0603  the patched classes are global, too
    with _installing:
        if _installed:
            return
        _installed = True
        _pass_on_at_start()
        _pass_on_to_executors()
        _pass_on_to_pools()


def _pass_on_at_start() -> None:
    start = threading.Thread.start

    @wraps(start)
    def started(self: threading.Thread) -> None:
        if (scope := current()) is not None:
            setattr(self, _ATTRIBUTE, scope)
            if scope.batch is not None and _is_of_script(self):
                self.run = _watched(scope, self.run)  # type: ignore[method-assign]
                scope.threads.append(self)
        start(self)

    threading.Thread.start = started  # type: ignore[method-assign]


def _pass_on_to_executors() -> None:
    submit: Callable[..., Future[Any]] = ThreadPoolExecutor.submit

    @wraps(submit)
    def submitted(self: ThreadPoolExecutor, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        scope = current()
        task = submit(self, _working_for(scope, fn), *args, **kwargs)
        if scope is not None and scope.batch is not None:
            scope.give(task)
        return task

    ThreadPoolExecutor.submit = submitted  # type: ignore[assignment, method-assign]


def _pass_on_to_pools() -> None:
    for name in _POOL_METHODS:
        method: Callable[..., Any] = getattr(ThreadPool, name)

        def passed(
            self: ThreadPool,
            func: Callable[..., Any],
            *args: Any,
            _method: Callable[..., Any] = method,
            **kwargs: Any,
        ) -> Any:
            scope = current()
            if scope is None or scope.batch is None:
                return _method(self, _working_for(scope, func), *args, **kwargs)
            result = _method(self, _working_for(scope, _watched(scope, func)), *args, **kwargs)
            if isinstance(result, AsyncResult):  # the iterators of `imap` do not report their end
                scope.results.add(result)
            return result

        setattr(ThreadPool, name, wraps(method)(passed))


def _working_for(scope: Scope | None, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that it works for a query in any thread that calls it."""
    if scope is None:
        return function

    def working(*args: Any, **kwargs: Any) -> Any:
        token: Token[Scope | None] = _scope.set(scope)
        try:
            return function(*args, **kwargs)
        finally:
            _scope.reset(token)

    return working


def _is_of_script(thread: threading.Thread) -> bool:
    """Tell whether a thread runs a function of the script, and not the loop of an executor or a library.

    The daemon flag does not help: threads inherit it from Spark's thread, in which batch functions run.
    """
    work: Any = getattr(thread, "_target", None) or type(thread).run
    while isinstance(work, partial):
        work = work.func
    code = getattr(work, "__code__", None)
    return code is not None and not code.co_filename.startswith(_LIBRARIES)


def _watched(scope: Scope, work: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the work of a thread or a pool so that its query learns of the error that ended it."""

    def watched(*args: Any, **kwargs: Any) -> Any:
        try:
            return work(*args, **kwargs)
        except BaseException as error:
            scope.uncaught.append(error)
            raise

    return watched
