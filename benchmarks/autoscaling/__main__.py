"""python -m benchmarks.autoscaling [--document docs/autoscaling.md]: the table of goals, under two minutes."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from benchmarks.autoscaling.judge import judge
from benchmarks.autoscaling.loads import FAMILIES, JUDGED_SEEDS
from benchmarks.autoscaling.report import goals_text, write

COMMAND = "make bench-autoscaling"


def main() -> None:
    """Run and print; goals that are missed are printed like the others and are no error."""
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.autoscaling", description=__doc__)
    arguments.add_argument("--document", type=Path, help="write the report here, and its plots beside it")
    chosen = arguments.parse_args()
    began = time.perf_counter()
    judged = judge(FAMILIES, JUDGED_SEEDS)
    print(goals_text(judged))
    if chosen.document:
        write(judged, chosen.document, COMMAND)
    print(f"\n{len(judged.worlds)} streams, {time.perf_counter() - began:.0f} s.")


if __name__ == "__main__":
    main()
