"""The batch function of a simulated job. Each call draws anew what it does, within what its tables promise.

Groups of tables, each with a rule that holds however often a batch is repeated, and whatever each attempt does:

- `all`: every record once.
- `split`: every record once in `split/odd` or `split/even`; which of the two, each attempt decides.
- `hour`: every record once, in a folder named after the time.
- `halves`: every record once; two writes with one `transformation_ctx`, in any order.
- `both`: every record twice; two writes with a `transformation_ctx` of their own.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from gluepot.core.errors import TransientError
from gluepot.engine.file_target import FileTarget
from gluepot.engine.pipeline import Pipeline
from gluepot.engine.writer import TableWriter, Writing
from gluepot.frames.transforms.python_steps import FilterRows
from gluepot.streaming.micro_batch.context import current_batch
from tests.simulate.world import Violation

PARTLY = frozenset({"split", "hour"})
"""Groups of several tables, of which none holds every batch."""


def table_of(path: str) -> str:
    """Return the table, or the checkpoint, that a file of the job lies in."""
    _, group, inner = path.split("/", 2)
    return f"{group}/{inner.split('/', 1)[0]}" if group in PARTLY else group


def root_of(path: str) -> str:
    """Return the folder of the table, or of the checkpoint, that a file of the job lies in."""
    return f"{path.split('/', 1)[0]}/{table_of(path)}"


MOST_CALLS = 4
"""How often one driver may call the function for one batch: once, and `batchMaxRetries` times more."""


@dataclass(frozen=True, slots=True)
class Parity:
    """Keeps the records whose number has a parity after some bits are cut off; picklable."""

    shift: int
    keeps: int

    def __call__(self, record: Any) -> bool:
        return (int(record["id"]) >> self.shift) % 2 == self.keeps


@dataclass(frozen=True, slots=True)
class Step:
    """One write: where to, under which ctx, and which records."""

    table: str
    ctx: str
    keeps: Parity | None = None


def steps(groups: Sequence[str], chance: random.Random, hour: int) -> list[Step]:
    """Draw the writes of one attempt."""
    found: list[Step] = []
    for group in groups:
        shift = chance.randrange(3)
        parts = [Parity(shift, 0), Parity(shift, 1)]
        match group:
            case "split":
                chance.shuffle(parts)
                if chance.random() < 0.3:
                    found.append(Step(chance.choice(("split/odd", "split/even")), "split"))
                else:
                    names = ("split/odd", "split/even")
                    found += [Step(name, "split", part) for name, part in zip(names, parts, strict=True)]
            case "hour":
                found.append(Step(f"hour/{hour}", "hour"))
            case "halves":
                chance.shuffle(parts)
                found += [Step("halves", "halves", part) for part in parts]
            case "both":
                found += [Step("both", "first"), Step("both", "second")]
            case _:
                found.append(Step(group, "sink"))
    chance.shuffle(found)
    return found


class Function:
    """The batch function of one start of a job.

    Args:
        root: the folder or URL of the tables.
        groups: which groups it writes.
        chance: for what each call does.
        now: returns the time, in seconds.
        hour_secs: how long a folder named after the time keeps its name.
        fails: the share of calls that raise after some of their writes.
        written: gets the name of each table that is written to.
        called: gets the number of the batch at each call.
    """

    def __init__(
        self,
        root: str,
        groups: Sequence[str],
        chance: random.Random,
        now: Callable[[], float],
        hour_secs: float,
        fails: float,
        written: set[str],
        called: Callable[[int], None],
    ) -> None:
        self._root = root
        self._groups = groups
        self._chance = chance
        self._now = now
        self._hour_secs = hour_secs
        self._fails = fails
        self._written = written
        self._called = called
        self._calls: Counter[int] = Counter()

    def __call__(self, frame: Any, batch_id: int) -> None:
        chance = self._chance
        self._calls[batch_id] += 1
        self._called(batch_id)
        if self._calls[batch_id] > MOST_CALLS:
            raise Violation(f"batch {batch_id} is tried for the {self._calls[batch_id]}th time by one driver")
        todo = steps(self._groups, chance, int(self._now() // self._hour_secs))
        until = chance.randrange(len(todo) + 1) if chance.random() < self._fails else None
        way = chance.choice(("in turn", "in turn", "threads", "executor", "left to the batch"))
        if chance.random() < 0.2:
            frame.count()
        works = [lambda step=step: self._write(frame, step) for step in todo[:until]]
        if way == "in turn":
            for work in works:
                work()
        elif way == "executor":
            with ThreadPoolExecutor(2) as pool:
                for done in [pool.submit(work) for work in works]:
                    done.result()
        else:
            self._in_threads(works, waits=way == "threads")
        if until is not None:
            raise TransientError("the function fails, as it does now and then")

    @staticmethod
    def _in_threads(works: Sequence[Callable[[], None]], *, waits: bool) -> None:
        errors: list[BaseException] = []

        def one(work: Callable[[], None]) -> None:
            try:
                work()
            except BaseException as error:
                errors.append(error)
                raise

        threads = [threading.Thread(target=one, args=(work,), daemon=True) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads if waits else threads[:-1]:
            thread.join()
        if errors:
            raise errors[0]

    def _write(self, frame: Any, step: Step) -> None:
        given: Pipeline = frame.pipeline()
        if step.keeps is not None:
            given = given.then(FilterRows(step.keeps))
        batch = current_batch()
        # What Glue's API does outside of a batch function: a write of its own, once.
        writer = batch.writer if batch is not None else TableWriter(Writing("outside of a batch", id(step)))
        self._written.add(step.table)
        target = FileTarget(f"{self._root}/{step.table}", "glueparquet")
        writer.write(frame.sparkSession, given, target, step.ctx)
