"""Faults of a small cluster under a streaming job with two drivers, and a check of everything that was seen meanwhile.

    python -m tests.cluster --runs 2 --minutes 10 --seed 1

Each run has namespaces, hosts and servers of its own. Its history is kept, and judged by a program that shares no code
with the product. One seed drives data, faults and their moments; what a fault hits also depends on the machine.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import SystemRandom

from tests.cluster.cluster import LEASE_SECS, Plan, run
from tests.cluster.history import ENDING, History, now, read
from tests.cluster.judge import judge
from tests.cluster.machine import missing, namespaced
from tests.cluster.nodes import has_compiler
from tests.cluster.report import summary, write_page
from tests.cluster.schedule import WEIGHTS, schedule
from tests.crash.report import versions

ROOT = Path(__file__).parents[2]
HISTORIES = ROOT / "build" / "cluster"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.cluster", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=3.0, help="of faults, in each run")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6), help="of the first run")
    parser.add_argument("--at-once", type=int, default=1, help="runs at the same time, each on a cluster of its own")
    parser.add_argument("--brokers", type=int, default=3)
    parser.add_argument("--only", action="append", choices=list(WEIGHTS), help="faults; all by default")
    parser.add_argument("--module", default="gluepot", help="what the drivers run, such as a wrong version")
    parser.add_argument("--folder", type=Path, help="where to work; kept. A temporary one by default, removed if right")
    parser.add_argument("--histories", type=Path, default=HISTORIES, help="where histories are kept")
    parser.add_argument("--document", type=Path, help="write the results of all histories there into this file")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        _inside(asked)
        return 0
    if why := missing():
        print(why)
        return 2
    asked.histories.mkdir(parents=True, exist_ok=True)
    seeds = range(asked.seed, asked.seed + asked.runs)
    with ThreadPoolExecutor(asked.at_once) as pool:
        right = pool.map(lambda seed: _one(seed, asked), seeds)
    wrong = [seed for seed, one in zip(seeds, right, strict=True) if not one]
    if asked.document:
        write_page(asked.document, sorted(asked.histories.glob(f"*{ENDING}")))
    print(f"wrong: seeds {', '.join(map(str, wrong))}" if wrong else "lost 0, doubled 0, invented 0")
    return 1 if wrong else 0


def _one(seed: int, asked: argparse.Namespace) -> bool:
    """Make one run in a process and namespaces of its own, so that it leaves nothing behind however it ends."""
    history = (asked.histories / f"{seed}{ENDING}").absolute()
    history.unlink(missing_ok=True)
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="gluepot-cluster-"))
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)  # PostgreSQL runs as another user
    given = {"--inside": history, "--seed": seed, "--minutes": asked.minutes, "--brokers": asked.brokers}
    given |= {"--module": asked.module, "--folder": folder / str(seed)}
    command = [sys.executable, "-m", "tests.cluster", *(str(part) for pair in given.items() for part in pair)]
    command += [part for one in asked.only or [] for part in ("--only", one)]
    print(f"seed {seed}: begins", flush=True)
    ended = subprocess.run(namespaced(command), cwd=ROOT, check=False)
    found = judge(read(history))
    right = found.right and ended.returncode == 0
    verdict = "right" if right else f"WRONG; everything is in {folder}"
    print("\n".join([f"seed {seed}: {verdict}; {history}", *summary(found)]), flush=True)
    if right and not asked.folder:
        shutil.rmtree(folder)
    return right


def _inside(asked: argparse.Namespace) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    clocks = has_compiler()
    secs = asked.minutes * 60
    faults = schedule(f"{asked.seed}:faults", secs, asked.brokers, LEASE_SECS, clocks=clocks, only=asked.only or ())
    plan = Plan(str(asked.seed), secs, faults, asked.brokers, asked.module)
    history = History(asked.inside)
    try:
        stated = {"seed": asked.seed, "minutes": asked.minutes, "brokers": asked.brokers, "module": asked.module}
        history.note("run", **stated, lease_secs=LEASE_SECS, clocks=clocks, versions=versions(ROOT), began=now())
        run(plan, asked.folder, history, lambda text: print(f"seed {asked.seed}: {text}", flush=True))
    finally:
        history.close()


if __name__ == "__main__":
    sys.exit(main())
