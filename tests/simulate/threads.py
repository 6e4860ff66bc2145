"""Threads that a seed schedules: Python's `threading` on greenlets, on a clock that jumps from event to event.

The product's code runs unchanged. Its threads, locks, events, executors and sleeps all come down to a few functions of
the interpreter, and `install` replaces those. One operating system thread runs everything, so a run depends on nothing
but its seed. Import this module and call `install` before anything of the product is imported.
"""

from __future__ import annotations

import heapq
import os
import queue
import random
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import greenlet

_REAL_IDENT = threading.get_ident()
_FIRST_IDENT = 1 << 40

real_monotonic = time.monotonic
"""The machine's own clock, for measuring how fast a simulation is."""


class Killed(BaseException):
    """The process of this thread is dead; nothing that it does from here on has an effect."""


class Deadlock(AssertionError):
    """Nothing can happen any more, although somebody still waits."""


class Process:
    """A simulated process: its threads, what it looks like to others, and whether it lives.

    Args:
        scheduler: runs its threads.
        name: for the trace.
        host: name of its machine.
        pid: its number on that machine.
        clock_offset_secs: how far its machine's clock is from the simulated time.
    """

    def __init__(self, scheduler: Scheduler, name: str, host: str, pid: int) -> None:
        self.scheduler = scheduler
        self.name = name
        self.host = host
        self.pid = pid
        self.clock_offset_secs = 0.0
        self.alive = True
        self.stopped_until = 0.0
        self.changes = 0
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self.tasks: set[Task] = set()
        self.at_death: list[Callable[[], None]] = []

    def before_change(self, number: int, happens: Callable[[], None]) -> None:
        """Have something happen just before the process makes a change, counted from the next one, which is 1."""
        heapq.heappush(self._due, (self.changes + number, len(self._due), happens))

    def begins_change(self) -> None:
        """Count a change, and let happen what was to happen before it."""
        self.changes += 1
        while self._due and self._due[0][0] <= self.changes:
            heapq.heappop(self._due)[2]()

    def forget_due(self) -> None:
        """Let nothing happen any more that was to happen before a later change."""
        self._due.clear()

    @property
    def title(self) -> str:
        """A name that no other process of the story has."""
        return f"{self.name} ({self.pid})"

    def kill(self) -> None:
        """End all threads of the process, at once and without any of their clean-up."""
        if not self.alive:
            return
        self.alive = False
        for action in self.at_death:
            action()
        for task in list(self.tasks):
            self.scheduler.wake(task)

    def epoch(self) -> float:
        """Return the time by the clock of its machine."""
        return self.scheduler.now + self.clock_offset_secs


class Task(greenlet.greenlet):
    """One thread of a process."""

    process: Process
    ident: int
    turn: int
    sentinel: Lock | None


class Scheduler:
    """Runs tasks in the order of the simulated time; what happens at the same time happens in the order it was asked.

    Args:
        chance: for whatever is left to chance.
    """

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.now = 0.0
        self.steps = 0
        self.failures: list[tuple[Process, BaseException]] = []
        self._events: list[tuple[float, int, Task | None, int, Callable[[], None] | None]] = []
        self._asked = 0
        self._idents = _FIRST_IDENT
        self._hub = greenlet.getcurrent()

    def spawn(self, process: Process, work: Callable[[], object], after_secs: float = 0.0) -> Task:
        """Let a new thread of a process begin."""
        task = Task(lambda: self._run(task, work), self._hub)
        self._idents += 1
        task.process, task.ident, task.turn, task.sentinel = process, self._idents, 0, None
        process.tasks.add(task)
        self._push(self.now + after_secs, task)
        return task

    def at(self, secs: float, action: Callable[[], None]) -> None:
        """Have something done at a time, by nobody: it must not wait."""
        self._asked += 1
        heapq.heappush(self._events, (secs, self._asked, None, 0, action))

    def _run(self, task: Task, work: Callable[[], object]) -> None:
        try:
            if task.process.alive:
                work()
        except Killed:
            pass
        except BaseException as error:  # noqa: BLE001  whatever it is, the story has to tell it
            if task.process.alive:
                self.failures.append((task.process, error))
        finally:
            task.process.tasks.discard(task)
            if task.sentinel is not None:
                task.sentinel.free()

    def _push(self, secs: float, task: Task) -> None:
        self._asked += 1
        heapq.heappush(self._events, (secs, self._asked, task, task.turn, None))

    def wake(self, task: Task) -> None:
        """Let a parked task go on now."""
        self._push(self.now, task)

    def park(self, secs: float | None) -> None:
        """Stop the current task until it is woken, or until some time has passed; None waits for ever."""
        task = current()
        assert task is not None
        if not task.process.alive:
            raise Killed
        if secs is not None:
            self._push(self.now + max(secs, 0.0), task)
        self._hub.switch()
        if not task.process.alive:
            raise Killed

    def run(self, until_secs: float, done: Callable[[], bool] = lambda: False) -> None:
        """Let the time pass until something is done, or until a given time."""
        events = self._events
        while events and events[0][0] <= until_secs and not done():
            secs, _, task, turn, action = heapq.heappop(events)
            if action is not None:
                self.now = max(self.now, secs)
                action()
                continue
            assert task is not None
            if task.dead or turn != task.turn:
                continue
            if task.process.alive and task.process.stopped_until > secs:
                self._push(task.process.stopped_until, task)
                continue
            self.now = max(self.now, secs)
            self.steps += 1
            task.turn += 1
            task.switch()
        if not events and not done():
            raise Deadlock(f"nothing is left to happen at {self.now:.1f} s")

    def drain(self) -> None:
        """Let the threads of dead processes unwind; whatever else was to happen does not."""
        while self._events:
            _, _, task, turn, _ = heapq.heappop(self._events)
            if task is not None and not task.dead and turn == task.turn and not task.process.alive:
                task.turn += 1
                task.switch()


def current() -> Task | None:
    """Return the running task; None outside of a simulation."""
    here = greenlet.getcurrent()
    return here if isinstance(here, Task) else None


def process() -> Process:
    """Return the process of the running task."""
    task = current()
    assert task is not None
    return task.process


def pause(secs: float) -> None:
    """Wait, in simulated time."""
    task = current()
    assert task is not None
    task.process.scheduler.park(secs)


class Lock:
    """A lock of the interpreter, for tasks."""

    def __init__(self) -> None:
        self._held = False
        self._waiting: deque[Task] = deque()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock; see `threading.Lock.acquire`."""
        me = current()
        if me is not None and not me.process.alive:
            raise Killed
        if not self._held:
            self._held = True
            return True
        if not blocking:
            return False
        if me is None:
            raise Deadlock("a lock that a task holds is waited for outside of the simulation")
        scheduler = me.process.scheduler
        deadline = None if timeout < 0 else scheduler.now + timeout
        while self._held:
            left = None if deadline is None else deadline - scheduler.now
            if left is not None and left <= 0:
                return False
            self._waiting.append(me)
            try:
                scheduler.park(left)
            finally:
                if me in self._waiting:
                    self._waiting.remove(me)
        self._held = True
        return True

    def release(self) -> None:
        """Give the lock back; see `threading.Lock.release`."""
        if not self._held:
            me = current()
            if me is not None and not me.process.alive:
                return
            raise RuntimeError("release unlocked lock")
        self.free()

    def free(self) -> None:
        """Open the lock if it is held, and let one of those who wait go on."""
        self._held = False
        while self._waiting:
            task = self._waiting.popleft()
            if not task.dead:
                task.process.scheduler.wake(task)
                break

    def locked(self) -> bool:
        """Tell whether it is held."""
        return self._held

    def _at_fork_reinit(self) -> None:
        self._held = False

    __enter__ = acquire

    def __exit__(self, *_: object) -> None:
        self.release()


def _start_new_thread(
    function: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> int:
    here = current()
    if here is None:
        raise Deadlock("a thread is started outside of the simulation")
    if not here.process.alive:
        raise Killed
    scheduler = here.process.scheduler
    return scheduler.spawn(here.process, lambda: function(*args, **(kwargs or {}))).ident


def _set_sentinel() -> Lock:
    lock, here = Lock(), current()
    if here is not None:
        here.sentinel = lock
    return lock


def _get_ident() -> int:
    here = current()
    return _REAL_IDENT if here is None else here.ident


def install() -> None:
    """Replace what the interpreter's threads, locks and clocks are made of, for this whole process."""
    threaded: Any = threading
    threaded._start_new_thread = _start_new_thread
    threaded._allocate_lock = threaded.Lock = Lock
    threaded._CRLock = None  # the one in Python is made of the lock above
    threaded._set_sentinel = _set_sentinel
    threaded.get_ident = _get_ident
    threaded.excepthook = lambda _: None  # a thread of the script may end with an error; its batch tells it
    sys.unraisablehook = lambda _: None  # the garbage of dead processes may want to wake their threads
    queued: Any = queue
    queued.SimpleQueue = queued._PySimpleQueue
    real_time, real_sleep = time.time, time.sleep
    real_pid, real_host, real_random = os.getpid, socket.gethostname, os.urandom

    def monotonic() -> float:
        here = current()
        return real_monotonic() if here is None else here.process.scheduler.now

    def epoch() -> float:
        here = current()
        return real_time() if here is None else here.process.epoch()

    def sleep(secs: float) -> None:
        if current() is None:
            real_sleep(secs)
        else:
            pause(secs)

    def getpid() -> int:
        here = current()
        return real_pid() if here is None else here.process.pid

    def gethostname() -> str:
        here = current()
        return real_host() if here is None else here.process.host

    def urandom(size: int) -> bytes:
        here = current()
        return real_random(size) if here is None else here.process.scheduler.chance.randbytes(size)

    clocks: Any = time
    clocks.monotonic = clocks.perf_counter = monotonic
    clocks.time, clocks.sleep = epoch, sleep
    system: Any = os
    system.getpid, system.urandom = getpid, urandom
    network: Any = socket
    network.gethostname = gethostname
