"""Plays stories in several processes, and says what they came to.

python -m tests.simulate --hours 30              until 30 hours have been simulated
python -m tests.simulate --seeds 7               one story
python -m tests.simulate --wrong no_intent       until a version that is wrong on purpose is noticed
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class Sum:
    """What all stories together came to."""

    stories: int = 0
    hours: float = 0.0
    batches: int = 0
    records: int = 0
    actions: int = 0
    looks: int = 0
    starts: int = 0
    cpu_secs: float = 0.0
    violations: list[dict[str, Any]] = field(default_factory=list)

    def add(self, line: dict[str, Any]) -> None:
        """Add one story."""
        self.stories += 1
        self.cpu_secs += line["cpu_secs"]
        if "violation" in line:
            self.violations.append(line)
            return
        outcome = line["outcome"]
        self.hours += outcome["simulated_secs"] / 3600
        for name in ("batches", "records", "actions", "looks", "starts"):
            setattr(self, name, getattr(self, name) + outcome[name])

    def __str__(self) -> str:
        return (
            f"{self.stories} stories, {self.hours:.1f} simulated hours, {self.batches} batches, {self.records} records,"
            f" {self.starts} starts, {self.actions} actions, {self.looks} looks, {len(self.violations)} violations;"
            f" {self.cpu_secs:.0f} s of processor time"
        )


def _players(first: int, at_once: int, options: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the lines of all players as they come; ends them when the caller wants no more."""
    lines: SimpleQueue[dict[str, Any] | int] = SimpleQueue()  # or the code with which a player has ended
    command = [sys.executable, "-m", "tests.simulate.player", "--step", str(at_once), *options]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    players = [
        subprocess.Popen([*command, "--first", str(first + n)], stdout=subprocess.PIPE, cwd=ROOT, env=environment)
        for n in range(at_once)
    ]

    def read(player: subprocess.Popen[bytes]) -> None:
        assert player.stdout is not None
        for line in player.stdout:
            lines.put(json.loads(line))
        lines.put(player.wait())

    with ThreadPoolExecutor(at_once) as readers:
        for player in players:
            readers.submit(read, player)
        left = at_once
        try:
            while left:
                line = lines.get()
                if isinstance(line, dict):
                    yield line
                elif line:
                    raise RuntimeError(f"a player ended with code {line} in the middle of a story")
                else:
                    left -= 1
        finally:
            for player in players:
                player.kill()
            for player in players:
                player.wait()


def simulate(
    *,
    first: int = 0,
    stories: int | None = None,
    hours: float | None = None,
    secs: float | None = None,
    wrong: str | None = None,
    at_once: int = 2,
    shortens: bool = True,
    logs: Path | None = None,
) -> Sum:
    """Play stories until there are enough of them, enough simulated hours, or until one fails.

    Args:
        first: the first seed.
        stories: how many; None for no limit.
        hours: how many simulated hours; None for no limit.
        secs: for how long, by the machine's clock; None for no limit.
        wrong: a version of `tests.simulate.wrong`.
        at_once: how many processes.
        shortens: whether a story that fails is shortened.
        logs: a folder that gets what each story changes in its tables, for the model of the commit protocol.
    """
    options = ["--wrong", wrong] if wrong else []
    options += ["--shrink"] if shortens else []
    options += ["--stories", str(-(-stories // at_once))] if stories else []
    options += ["--logs", str(logs)] if logs else []
    total, began = Sum(), time.monotonic()
    for line in _players(first, at_once, options):
        total.add(line)
        is_enough = (hours is not None and total.hours >= hours) or (
            secs is not None and time.monotonic() - began >= secs
        )
        if total.violations or is_enough:
            break
    return total


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulate", description=__doc__)
    parser.add_argument("--seeds", help="one seed, or FIRST:END")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--hours", type=float, help="how many hours to simulate")
    parser.add_argument("--secs", type=float, help="for how long, by the machine's clock")
    parser.add_argument("--wrong", help="a version of tests/simulate/wrong.py")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1, help="how many processes")
    parser.add_argument("--no-shrink", action="store_true", help="do not shorten a story that fails")
    given = parser.parse_args()
    first, stories, at_once = given.first, None, given.at_once
    if given.seeds:
        begin, _, end = given.seeds.partition(":")
        first, stories = int(begin), int(end or int(begin) + 1) - int(begin)
        at_once = min(at_once, stories)
    began = time.monotonic()
    total = simulate(
        first=first,
        stories=stories,
        hours=given.hours,
        secs=given.secs,
        wrong=given.wrong,
        at_once=at_once,
        shortens=not given.no_shrink,
    )
    for line in total.violations:
        found = line["found"]
        print("\n".join(str(found[name]) for name in ("tale", "cause", "plan") if found.get(name)))
        print(f"\nseed {line['seed']}: {line['violation']}")
        print(f"shortened: {found['violation']}")
    print(f"{total}, {time.monotonic() - began:.0f} s")
    return 1 if total.violations else 0


if __name__ == "__main__":
    sys.exit(main())
