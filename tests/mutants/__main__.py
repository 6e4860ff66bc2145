"""Makes wrong versions by a rule and by chance, and counts those that the tests and the simulator notice.

    python -m tests.mutants --count 100 --seed 1 --report build/mutants.json --document docs/reliability.md

The tests of `targets.TESTS` that call a changed function run first, the fastest ones before the others. The simulator
plays stories with the versions that no test has noticed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom
from typing import Any

from tests.crash.report import write_into
from tests.mutants import unit_lane
from tests.mutants.operators import Mutant
from tests.mutants.report import BEGIN, as_markdown
from tests.mutants.targets import ROOT, sample

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


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100, help="how many wrong versions")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6))
    parser.add_argument("--secs", type=float, default=60, help="for how long tests run on one version, at most")
    parser.add_argument("--simulator-secs", type=float, default=60, help="for how long stories of one are played")
    parser.add_argument("--report", type=Path, default=ROOT / "build" / "mutants.json", help="where the result goes")
    parser.add_argument("--document", type=Path, help="put the result between the marks of this file")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    build, began = asked.report.parent, time.monotonic()
    build.mkdir(parents=True, exist_ok=True)
    verdicts = build / "mutants-tests.jsonl"
    verdicts.unlink(missing_ok=True)
    drawn = sample(asked.seed, asked.count)
    unit_lane.run(drawn, asked.secs, verdicts)
    by_tests = _lines(verdicts)
    left = [one for one, verdict in zip(drawn, by_tests, strict=True) if not verdict["by"]]
    by_simulator = dict(zip(left, _simulated(left, asked.simulator_secs, build), strict=True))
    reasons: dict[str, str] = json.loads(_REASONS.read_text())
    report = {
        "seed": asked.seed,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "secs": round(time.monotonic() - began),
        "secs_of_tests": asked.secs,
        "secs_of_stories": asked.simulator_secs,
        "commit": subprocess.check_output(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True).strip(),
        "mutants": [
            {
                **asdict(one),
                "tests": verdict,
                "simulator": by_simulator.get(one),
                "reason": reasons.get(f"{one.path} {one.function} {one.operator}: {one.before}"),
            }
            for one, verdict in zip(drawn, by_tests, strict=True)
        ],
    }
    asked.report.write_text(json.dumps(report, indent=1) + "\n")
    results = as_markdown(report)
    print(results)
    if asked.document:
        write_into(asked.document, results, begin=BEGIN)
    unexplained = [one for one in left if not by_simulator[one]["by"]]
    unexplained = [
        one for one in unexplained if f"{one.path} {one.function} {one.operator}: {one.before}" not in reasons
    ]
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
