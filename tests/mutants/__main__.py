"""Makes wrong versions by a rule and by chance, and counts those that the tests and the simulator notice.

    python -m tests.mutants --count 100 --seed 1 --report build/mutants.json --document docs/reliability.md

The tests of `targets.TESTS` that call a changed function run first, the fastest ones before the others. The simulator
plays stories with the versions that no test has noticed and for which `reasons.json` does not say why. A count above
their number takes all versions there are.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import SystemRandom
from typing import Any

from tests.crash.report import write_into
from tests.mutants import unit_lane
from tests.mutants.operators import Mutant
from tests.mutants.report import BEGIN, NOTHING, as_markdown, lane
from tests.mutants.targets import ROOT, TESTS, sample

_REASONS = Path(__file__).parent / "reasons.json"


def _lines(verdicts: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in verdicts.read_text().splitlines()] if verdicts.exists() else []


def _simulated(drawn: Sequence[Mutant], secs: float, build: Path) -> list[dict[str, Any]]:
    given, verdicts = build / "mutants-for-simulator.json", build / "mutants-simulator.jsonl"
    given.write_text(json.dumps([asdict(one) for one in drawn]))
    verdicts.unlink(missing_ok=True)
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.mutants.simulator_lane", str(given), str(verdicts), str(secs)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return _lines(verdicts)


def _judged(drawn: Sequence[Mutant], asked: argparse.Namespace) -> list[dict[str, Any]]:
    build = asked.report.parent
    verdicts = build / "mutants-tests.jsonl"
    verdicts.unlink(missing_ok=True)
    verdicts.touch()
    unit_lane.run(drawn, asked.tests or TESTS, asked.secs, verdicts, asked.at_once)
    by_tests = _lines(verdicts)
    left = [one for one, verdict in zip(drawn, by_tests, strict=True) if not verdict["by"] and not _reason(one)]
    by_simulator = dict(zip(left, _simulated(left, asked.simulator_secs, build), strict=True))
    return [
        {**asdict(one), "tests": verdict, "simulator": by_simulator.get(one)}
        for one, verdict in zip(drawn, by_tests, strict=True)
    ]


def _mutant(reported: Mapping[str, Any]) -> Mutant:
    return Mutant(**{name: reported[name] for name in Mutant.__dataclass_fields__})


@cache
def _reasons() -> dict[str, str]:
    reasons: dict[str, str] = json.loads(_REASONS.read_text())
    return reasons


def _reason(mutant: Mutant) -> str | None:
    return _reasons().get(f"{mutant.path} {mutant.function} {mutant.operator}: {mutant.before}")


def _new(asked: argparse.Namespace) -> dict[str, Any]:
    seed = SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    print(f"seed {seed}", flush=True)
    began = time.monotonic()
    judged = _judged(sample(seed, asked.count), asked)
    return {
        "seed": seed,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "secs": round(time.monotonic() - began),
        "secs_of_tests": asked.secs,
        "secs_of_stories": asked.simulator_secs,
        "commit": subprocess.check_output(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True).strip(),
        "mutants": judged,
    }


def _again(asked: argparse.Namespace) -> dict[str, Any]:
    """Judge what nothing has noticed again, with tests that were written since."""
    report: dict[str, Any] = json.loads(asked.report.read_text())
    left = [n for n, one in enumerate(report["mutants"]) if lane(one) == NOTHING]
    drawn = [_mutant(report["mutants"][n]) for n in left]
    for n, one in zip(left, _judged(drawn, asked), strict=True):
        report["mutants"][n] = {**one, "is_again": True}
    return report


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100, help="how many wrong versions")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--again", action="store_true", help="only those of the report that nothing noticed")
    parser.add_argument("--tests", action="append", help="a file of tests; by default those of targets.py")
    parser.add_argument("--secs", type=float, default=60, help="for how long tests run on one version, at most")
    parser.add_argument("--simulator-secs", type=float, default=60, help="for how long stories of one are played")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1, help="how many are judged at the same time")
    parser.add_argument("--report", type=Path, default=ROOT / "build" / "mutants.json", help="where the result goes")
    parser.add_argument("--document", type=Path, help="put the result between the marks of this file")
    asked = parser.parse_args()
    asked.report.parent.mkdir(parents=True, exist_ok=True)
    report = _again(asked) if asked.again else _new(asked)
    for one in report["mutants"]:
        one["reason"] = _reason(_mutant(one))
    asked.report.write_text(json.dumps(report, indent=1) + "\n")
    results = as_markdown(report)
    print(results)
    if asked.document:
        write_into(asked.document, results, begin=BEGIN)
    return 1 if any(lane(one) == NOTHING and not one["reason"] for one in report["mutants"]) else 0


if __name__ == "__main__":
    sys.exit(main())
