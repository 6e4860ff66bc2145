"""What all parts of a simulation share: the time, chance, the trace, and what must never happen."""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.model.changes import Change
from tests.simulate import threads
from tests.simulate.threads import Killed, Process, Scheduler, pause

_STALL = 0.0005
_CHANGES = frozenset({"put", "create", "copy", "delete", "link", "rename", "unlink", "sync"})


class Violation(AssertionError):
    """A promise was broken: records are lost, doubled or invented, a reader saw half of a batch, nothing goes on."""


@dataclass(frozen=True, slots=True)
class _Run:
    """A batch that runs, or ran when its driver died.

    Args:
        number: counts the runs of all batches.
        batch_id: id of the batch.
        pid: of the driver; later drivers have greater ones.
    """

    number: int
    batch_id: int
    pid: int


class World:
    """The world of one story.

    Args:
        seed: decides everything that is left to chance.
        remembered: how many of the last actions are kept for the tale.
    """

    def __init__(self, seed: int, remembered: int = 60) -> None:
        self.seed = seed
        self.scheduler = Scheduler(random.Random(f"{seed}/ids"))
        self.latency = random.Random(f"{seed}/latency")
        self.faults = random.Random(f"{seed}/faults")
        self.flushes = True
        self.watchers: list[Callable[[Change], None]] = []
        self.commits_refused_until = 0.0
        self._runs = itertools.count()
        self._under_way: list[_Run] = []
        self.processes: list[Process] = []
        self.notes: list[tuple[float, str]] = []
        self.trace: deque[tuple[float, str]] = deque(maxlen=remembered)
        self.actions = 0
        self.digest = 0
        self._pids = 100

    @property
    def now(self) -> float:
        """The simulated time, in seconds since the story began."""
        return self.scheduler.now

    def start(self, name: str, host: str, work: Callable[[], object], clock_offset_secs: float = 0.0) -> Process:
        """Start a process."""
        self._pids += 1
        process = Process(self.scheduler, name, host, self._pids)
        process.clock_offset_secs = clock_offset_secs
        self.processes.append(process)
        self.note(process.name, "starts")
        self.scheduler.spawn(process, work)
        return process

    @contextmanager
    def during(self, batch_id: int) -> Iterator[None]:
        """Let a batch be under way while this is open; if it ends by an error, until a later run of the batch ends."""
        own = _Run(next(self._runs), batch_id, threads.process().pid)
        self._under_way.append(own)
        yield
        self._under_way = [one for one in self._under_way if one.batch_id != batch_id or one.number > own.number]

    def begin_function(self, batch_id: int) -> None:
        """The function is called for a batch: neither this driver nor an earlier one runs a batch before it again.

        A later driver may: it has replaced this one, which has not noticed that yet.
        """
        pid = threads.process().pid
        self._under_way = [one for one in self._under_way if one.batch_id >= batch_id or one.pid > pid]

    def is_under_way(self, batch_id: int) -> bool:
        """Tell whether a batch, or one before it, runs, or ran when its driver died.

        The tables of such a batch are between two attempts. A driver that does not know yet that it was replaced may
        have committed the batches behind it.
        """
        return any(one.batch_id <= batch_id for one in self._under_way)

    def is_any_under_way(self) -> bool:
        """Tell whether some batch has begun and not ended."""
        return bool(self._under_way)

    def start_over(self) -> None:
        """A new query begins with batch 0."""
        self._under_way.clear()

    def act(self, process: Process, what: str, where: str, longest_secs: float) -> None:
        """An action of a process is about to happen: it takes time, and the process may die instead."""
        self.actions += 1
        if what in _CHANGES:
            process.begins_change()
        if not process.alive:
            self.note(process.name, f"was killed before {what} {where}")
            raise Killed
        draw = self.latency.random()
        pause(draw * longest_secs if draw > _STALL else self.latency.uniform(1.0, 20.0))
        self.digest = hash((self.digest, process.pid, what, where))
        self.trace.append((self.now, f"{process.name}: {what} {where}"))

    def tell(self, change: Change) -> None:
        """Tell those who watch that something has changed."""
        for watcher in self.watchers:
            watcher(change)

    def note(self, who: str, what: str) -> None:
        """Keep an event for the tale."""
        self.notes.append((self.now, f"{who} {what}"))

    def tale(self) -> str:
        """Return what happened: all events, and every one of the last actions."""
        since = self.trace[0][0] if self.trace else self.now
        early = [one for one in self.notes if one[0] < since]
        late = sorted([*self.trace, *(one for one in self.notes if one[0] >= since)], key=lambda one: one[0])
        return "\n".join(f"{secs:12.3f}  {text}" for secs, text in [*early, *late])

    def end(self) -> None:
        """Kill what still runs, and let its threads end."""
        for process in self.processes:
            process.kill()
        self.scheduler.drain()
