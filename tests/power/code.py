"""Cuts of the code that keeps state, without Spark: hundreds a minute.

A process lives (`life`), the power is cut at a random action, the process is killed, what has survived is mounted, and
the tables are read without the product's help. Then the next process lives on it.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from gluepot.core.storage import LocalStorage
from tests.power.disk import Mode
from tests.power.life import MOST_ROWS, Place, live
from tests.power.machine import Machine, machine
from tests.power.postgres import Postgres, postgres, restart
from tests.unit.commit.explore import Violation, manifest_rows
from tests.unit.commit.worlds import leftovers, visible

# The first actions of a process are its start; an action more often lies in a batch or a run.
MOST_ACTIONS = 600
START_ACTIONS = 80
START_SHARE = 0.3
MANY_BATCHES = 1000
PATIENCE_SECS = 120.0
KILL_SHARE = 0.25
"""Of lives, how many end by a kill alone before the power is cut in the life after them, as what a dead process left
without a flush may be lost only then."""


@dataclass
class Told:
    """What processes have told of what they had done.

    Args:
        rows: by `batch` or `run`, the number of rows up to the end of the newest one.
        numbers: by the same, the newest one's number.
    """

    rows: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)


@dataclass
class CodeOutcome:
    """What some cuts of the code alone have shown.

    Args:
        name: of the series.
        mode: rules of the file system.
        ledger: `sqlite` or `postgresql`.
        seed: of everything.
        cuts: how many there were.
        kills: lives that were killed and whose unflushed data stayed, for the next cut.
        batches: published, as told.
        runs: committed to the ledger, as told.
        faults: everything that was not as it must be, in words.
    """

    name: str
    mode: Mode
    ledger: str
    seed: str
    cuts: int = 0
    kills: int = 0
    batches: int = 0
    runs: int = 0
    secs: float = 0.0
    faults: list[str] = field(default_factory=list)

    @property
    def right(self) -> bool:
        return not self.faults


def cut_code(name: str, mode: Mode, ledger: str, seed: str, cuts: int, folder: Path, until: float) -> CodeOutcome:
    """Cut the power so many times.

    Args:
        name: for reports.
        mode: rules of the file system.
        ledger: `sqlite` or `postgresql`; its data are on the same file system.
        seed: of everything.
        cuts: how many.
        folder: where to mount.
        until: on the monotonic clock; cuts that have not been done by then are left out.
    """
    outcome, began = CodeOutcome(name, mode, ledger, seed), time.monotonic()
    with machine(folder, mode) as mounted, ExitStack() as stack:
        server = stack.enter_context(postgres(folder)) if ledger == "postgresql" else None
        url = server.url if server else f"sqlite:///{folder / 'job' / 'state' / 'ledger.db'}"
        series = _Series(mounted, Place(folder, url), server, Random(seed), outcome)
        while outcome.cuts < cuts and not outcome.faults and time.monotonic() < until:
            series.cut_once()
        series.end()
    outcome.batches, outcome.runs = series.told.numbers["batch"] + 1, series.told.numbers["run"]
    outcome.secs = time.monotonic() - began
    return outcome


class _Series:
    """Lives that follow each other on one file system."""

    def __init__(
        self, mounted: Machine, place: Place, server: Postgres | None, chance: Random, outcome: CodeOutcome
    ) -> None:
        self.told = Told(numbers=Counter(batch=-1))
        self._machine = mounted
        self._place = place
        self._server = server
        self._chance = chance
        self._outcome = outcome

    def cut_once(self) -> None:
        while self._chance.random() < KILL_SHARE:
            self._live_and_die(None)
            self._outcome.kills += 1
        self._live_and_die(str(self._chance.randrange(10**9)))
        self._outcome.cuts += 1
        self._look()

    def _live_and_die(self, seed: str | None) -> None:
        """Let a process live up to a random action; `seed` says what survives, None: all."""
        most = START_ACTIONS if self._chance.random() < START_SHARE else MOST_ACTIONS
        self._machine.cut_after(self._chance.randrange(most))
        with process(self._place, self._chance.randrange(10**9), MANY_BATCHES) as (pid, said):
            self._listen(said)
            self._machine.cut()
            os.kill(pid, signal.SIGKILL)
            restart(self._machine, self._server, seed)

    def end(self) -> None:
        """Let a process do its work to the end, and look at what a reader finds who lists the folders."""
        with process(self._place, self._chance.randrange(10**9), 1) as (_, said):
            self._listen(said)
        if self._outcome.faults:
            return
        self._look(settled=True)
        for name in ("all", "runs"):
            table = self._place.table(name)
            if visible(table) != manifest_rows(table):
                self._fault(f"the folder of {name} holds other rows than its manifests say")
        for name in ("all", "runs", "even", "odd"):
            if left := leftovers(self._place.table(name)):
                self._fault(f"left over in {name}: {left}")

    def _listen(self, said: int) -> None:
        """Read what the process tells until it ends or the power is cut."""
        text, deadline = b"", time.monotonic() + PATIENCE_SECS
        while time.monotonic() < deadline:
            ready, _, _ = select.select([said], [], [], 0.01)
            if ready:
                part = os.read(said, 65536)
                if not part:
                    break
                text += part
            elif self._machine.has_lost_power:
                break
        else:
            self._fault(f"a process did not end within {PATIENCE_SECS:.0f} s")
        for line in text.decode().splitlines():
            self._hear(*json.loads(line))

    def _hear(self, what: str, number: int, rows: int, error: str = "") -> None:
        if error:
            self._fault(f"after {self._outcome.cuts} cuts a process ended with: {error}")
        elif what == "bookmark":
            if rows < self.told.rows["run"]:
                self._fault(
                    f"the ledger ends run {number} at row {rows}; {self.told.rows['run']} were told to be saved"
                )
        else:
            self.told.rows[what] = max(rows, self.told.rows[what])
            self.told.numbers[what] = max(number, self.told.numbers[what])

    def _look(self, *, settled: bool = False) -> None:
        """Check what a reader of the manifests finds."""
        try:
            batches = self._rows("all")
            self._complete("all", batches, "batch", self.told.rows["batch"])
            self._complete("runs", self._rows("runs"), "run", self.told.rows["run"])
            self._either([*self._rows("even"), *self._rows("odd")], settled=settled)
        except (Violation, OSError, ValueError) as error:
            self._fault(f"after {self._outcome.cuts} cuts: {error!r}")

    def _rows(self, name: str) -> list[str]:
        table: LocalStorage = self._place.table(name)
        return manifest_rows(table) if table.root.exists() else []

    def _complete(self, name: str, rows: Sequence[str], shard: str, told: int) -> None:
        """What was told is there, once, and nothing else but perhaps one that was not told."""
        if sorted(rows) != sorted(f"{shard}:{row}" for row in range(len(rows))):
            self._fault(f"after {self._outcome.cuts} cuts {name} holds {sorted(rows)}")
        if len(rows) < told:
            self._fault(f"after {self._outcome.cuts} cuts {name} holds {len(rows)} rows; {told} were told")

    def _either(self, rows: Sequence[str], *, settled: bool) -> None:
        """What was told is in one of two tables; while the newest batch is repeated, its rows may be in both."""
        held, told = Counter(rows), self.told.rows["batch"]
        once = told if settled else told - MOST_ROWS
        wrong = [row for row in range(told) if held[f"batch:{row}"] != 1 and (row < once or not held[f"batch:{row}"])]
        if wrong:
            self._fault(f"after {self._outcome.cuts} cuts even and odd hold not at all or twice: rows {wrong}")

    def _fault(self, text: str) -> None:
        self._outcome.faults.append(text)


@contextmanager
def process(place: Place, seed: int, batches: int) -> Iterator[tuple[int, int]]:
    """Fork a process that lives; yields its id and what it tells. It is dead afterwards."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            _live(place, seed, batches, writing)
        finally:
            os._exit(0)
    os.close(writing)
    with ExitStack() as stack:
        stack.callback(os.close, reading)
        stack.callback(os.waitpid, pid, 0)
        stack.callback(os.kill, pid, signal.SIGKILL)
        yield pid, reading


def _live(place: Place, seed: int, batches: int, writing: int) -> None:
    def say(what: str, number: int, rows: int, error: str = "") -> None:
        os.write(writing, json.dumps([what, number, rows, error]).encode() + b"\n")

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the log of many hundred lives
    try:
        live(place, Random(seed), say, batches)
    except BaseException:  # noqa: BLE001  told to the parent, who counts it
        say("", 0, 0, traceback.format_exc())
