"""Killing jobs at chosen and at random moments, and counting every record afterwards.

    python -m tests.crash --kills 20 --seed 1 --lane local --lane s3 --lane kinesis --report crash.json

Jobs are processes, what they write is files, and what must be in those files is known from the producer's journal of
acknowledged sends. Only `servers.py` uses the product's own code. One seed drives data, kills and schedule; the instant
that a random kill hits also depends on the machine.
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

from tests.crash.lanes import SOURCES
from tests.crash.points import every_point, no_point
from tests.crash.report import as_json, as_markdown, versions, write_into
from tests.crash.suite import run_all
from tests.crash.world import SCRIPTS_BY_NAME

ROOT = Path(__file__).parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.crash", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=20, help="random kills for each --victim")
    parser.add_argument("--victim", action="append", choices=["mixed", "group", "driver", "jvm", "worker"])
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6))
    parser.add_argument(
        "--lane", action="append", choices=list(SOURCES), help="all by default, see docs/reliability/kills.md"
    )
    parser.add_argument(
        "--script",
        action="append",
        choices=list(SCRIPTS_BY_NAME),
        help="jobs, in turns; thrice and copy by default. The lanes postgresql and mariadb have any-order alone",
    )
    parser.add_argument("--no-points", action="store_true", help="leave the kill points out")
    parser.add_argument("--at-once", type=int, default=2, help="campaigns that run side by side")
    parser.add_argument("--most-secs", type=float, default=math.inf, help="kill no more after so long")
    parser.add_argument("--folder", type=Path, help="where to work; kept. A temporary one by default, removed if right")
    parser.add_argument("--report", type=Path, help="write the run as JSON")
    parser.add_argument("--document", type=Path, help="add the tables to those between the marks of this file")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="gluepot-crash-"))
    stated, began = versions(ROOT), time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    outcomes = run_all(
        seed=asked.seed,
        lanes=asked.lane or list(SOURCES),
        aims=asked.victim or ["mixed"],
        kills=asked.kills,
        points=no_point if asked.no_points else every_point,
        scripts=[SCRIPTS_BY_NAME[name] for name in asked.script or ["thrice", "copy"]],
        at_once=asked.at_once,
        most_secs=asked.most_secs,
        folder=folder,
        say=lambda text: print(text, flush=True),
    )
    report = as_json(asked.seed, outcomes, time.monotonic() - began, stated)
    results = as_markdown(report)
    print(results)
    if asked.report:
        asked.report.write_text(report)
    if asked.document:
        write_into(asked.document, results, keep=True)
    wrong = [one.name for one in outcomes if not one.right]
    print(f"wrong: {', '.join(wrong)}; everything is in {folder}" if wrong else "lost 0, doubled 0, invented 0")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
