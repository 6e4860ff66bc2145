"""Cutting the power of jobs and of the code that keeps state, and counting every record afterwards.

    python -m tests.power --cuts 20 --code-cuts 200 --seed 1 --report power.json

A file system of our own forgets what was not flushed (`disk` has its rules). One seed drives data, moments and what
survives; the instant that a random cut hits also depends on the machine.
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import SystemRandom

from tests.crash.report import versions, write_into
from tests.power import machine
from tests.power.report import BEGIN, as_json, as_markdown
from tests.power.suite import plans, run_all

ROOT = Path(__file__).parents[2]
CODE_CUTS_PER_CUT = 4


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.power", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cuts", type=int, default=20, help="cuts of jobs")
    parser.add_argument("--code-cuts", type=int, help=f"of the code alone; {CODE_CUTS_PER_CUT} for each of a job")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6))
    parser.add_argument("--at-once", type=int, default=2, help="series at the same time")
    parser.add_argument("--most-secs", type=float, default=math.inf, help="cut no more after so long")
    parser.add_argument("--folder", type=Path, help="where to work; kept. A temporary one by default, removed if right")
    parser.add_argument("--report", type=Path, help="write the run as JSON")
    parser.add_argument("--document", type=Path, help="put the tables between the marks of this file")
    parser.add_argument("--keep", action="store_true", help="leave the tables that the document has, and add these")
    asked = parser.parse_args()
    if why := machine.missing():
        print(why)
        return 2
    print(f"seed {asked.seed}", flush=True)
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="gluepot-power-"))
    stated, began = versions(ROOT), time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    code_cuts = CODE_CUTS_PER_CUT * asked.cuts if asked.code_cuts is None else asked.code_cuts
    of_code, of_jobs = run_all(
        seed=asked.seed,
        series=plans(asked.cuts, code_cuts),
        at_once=asked.at_once,
        most_secs=asked.most_secs,
        folder=folder,
        say=lambda text: print(text, flush=True),
    )
    report = as_json(asked.seed, of_code, of_jobs, time.monotonic() - began, stated)
    results = as_markdown(report)
    print(results)
    if asked.report:
        asked.report.parent.mkdir(parents=True, exist_ok=True)
        asked.report.write_text(report)
    if asked.document:
        write_into(asked.document, results, keep=asked.keep, begin=BEGIN)
    wrong = [one.name for one in of_code if not one.right] + [one.crash.name for one in of_jobs if not one.right]
    print(f"wrong: {', '.join(wrong)}; everything is in {folder}" if wrong else "lost 0, doubled 0, invented 0")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
