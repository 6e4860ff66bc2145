"""python -m scripts.test_times [--record] FILE...: what the tests cost, by lane, with the slowest ones.

The files are those of `pytest --junitxml`. A lane is a folder below `tests`. Times are those of the tests, added up:
with several processes side by side the wall clock shows less. `--record` notes what each file of tests took, by which
tests/conftest.py orders them.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

SLOWEST = 25
FILE_SECS = Path(__file__).parents[1] / "tests" / "data" / "file_secs.json"
WORTH_SECS = 10
"""Files that take less than this need no place of their own in the order."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One test.

    Args:
        lane: the folder below `tests`.
        name: file and test.
        secs: with set-up and tear-down.
        outcome: `passed`, `skipped` or `failed`.
    """

    lane: str
    name: str
    secs: float
    outcome: str


def read(text: str) -> list[Timed]:
    """Return the tests in a JUnit report."""
    return [_timed(case) for case in ET.fromstring(text).iter("testcase")]  # noqa: S314  pytest wrote it


def read_all(paths: Iterable[Path]) -> list[Timed]:
    """Return the tests in some reports; one that is not there belongs to a part that did not run."""
    return [test for path in paths if path.is_file() for test in read(path.read_text())]


def _timed(case: ET.Element) -> Timed:
    parts = case.get("classname", "").split(".")
    kinds = {child.tag for child in case}
    outcome = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
    lane = parts[1] if len(parts) > 2 else parts[0]
    return Timed(lane, f"{'/'.join(parts)}.py::{case.get('name')}", float(case.get("time", 0)), outcome)


def lines(tests: Iterable[Timed]) -> Sequence[str]:
    """Return the table of lanes and the list of the slowest tests, as text."""
    by_lane: defaultdict[str, list[Timed]] = defaultdict(list)
    for one in tests:
        by_lane[one.lane].append(one)
    everything = [one for some in by_lane.values() for one in some]
    found = [f"{'lane':12} {'tests':>7} {'skipped':>8} {'failed':>7} {'secs':>8}"]
    for lane, some in [*sorted(by_lane.items()), ("all", everything)]:
        skipped, failed = (sum(one.outcome == outcome for one in some) for outcome in ("skipped", "failed"))
        secs = sum(one.secs for one in some)
        found.append(f"{lane:12} {len(some):7,} {skipped:8,} {failed:7,} {secs:8,.0f}")
    found.append(f"The {SLOWEST} slowest tests:")
    slowest = sorted(everything, key=lambda one: -one.secs)[:SLOWEST]
    return [*found, *(f"{one.secs:7.1f} s  {one.name}" for one in slowest)]


def file_secs(tests: Iterable[Timed]) -> dict[str, int]:
    """Return the seconds of each file of tests that takes `WORTH_SECS` or more, the longest first."""
    secs: defaultdict[str, float] = defaultdict(float)
    for one in tests:
        secs[one.name.partition("::")[0]] += one.secs
    worth = {name: round(taken) for name, taken in secs.items() if taken >= WORTH_SECS}
    return dict(sorted(worth.items(), key=lambda item: (-item[1], item[0])))


def main() -> None:
    """Print what the named reports say."""
    record, names = "--record" in sys.argv[1:], [name for name in sys.argv[1:] if name != "--record"]
    tests = read_all(map(Path, names))
    if record:
        FILE_SECS.write_text(json.dumps(file_secs(tests), indent=2) + "\n")
    print("\n".join(lines(tests)))


if __name__ == "__main__":
    main()
