"""Compares each shortcut with the original that it replaces, on random cases.

    python -m tests.differential --secs 600 --seed 7 --kind sql --kind casts

Rounds of the kinds alternate until the time is up or each kind has compared `--cases` cases. Each difference is printed
with its seed; `--seed N --rounds 1` repeats the round. The exit code is 1 if a difference is not explained.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

from tests.differential.kind import Round, World
from tests.differential.registry import NAMES, kind

# A kind that differs more often than this is not run any further: the differences have one cause.
MOST_DIFFERENCES = 25


OF_LAKES = ("merge_", "cuts_lakes")
"""How the names of kinds begin that need the libraries of lakes."""


def session(names: list[str]) -> Callable[[], Any]:
    """Return what starts Spark when the first kind needs it; most kinds do not need Java."""

    @cache
    def spark() -> Any:
        from pyspark import SparkConf, SparkContext

        from awsglue.context import GlueContext

        conf = SparkConf()
        if any(name.startswith(OF_LAKES) for name in names):
            from tests.differential.merges import lake

            conf.setAll(list(lake.settings().items()))
        return GlueContext(SparkContext.getOrCreate(conf)).spark_session

    return spark


def compare(
    names: list[str],
    first_seed: int,
    secs: float,
    cases: int | None,
    rounds: int | None,
    *,
    is_search: bool = False,
    kept: Path | None = None,
) -> dict[str, Round]:
    """Run rounds of each kind in turns and print each difference when it is seen.

    With `is_search`, end with the round of the first difference that is not explained.
    """
    kinds = {name: kind(name) for name in names}
    totals = {name: Round() for name in names}
    spark = session(names)
    ends = time.monotonic() + secs
    seed = first_seed
    running = list(names)
    while running and time.monotonic() < ends and (rounds is None or seed - first_seed < rounds):
        for name in list(running):
            folder = Path(tempfile.mkdtemp(prefix=f"differential-{name}-"))
            try:
                result = kinds[name].round(Random(f"{name} {seed}"), World(spark, folder, is_search, kept))
            except BaseException:
                print(f"{name} seed {seed} failed")
                raise
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            for each in result.differences:
                why = f" (explained: {each.explained})" if each.explained else ""
                print(
                    f"{name} seed {seed}{why}\n  case      {each.case}\n  ours      {each.ours}\n  original  {each.original}"
                )
            total = totals[name]
            total.add(result)
            unexplained = sum(not each.explained for each in total.differences)
            if is_search and unexplained:
                return totals
            if (cases is not None and total.cases >= cases) or unexplained >= MOST_DIFFERENCES:
                running.remove(name)
        seed += 1
    return totals


def _apart(group: list[str], count: int, seed: int, options: argparse.Namespace) -> int:
    """Run some of the kinds in a process of their own, for their part of the time, and return its exit code."""
    command = [sys.executable, "-m", "tests.differential", "--seed", str(seed)]
    command += ["--secs", str(options.secs * len(group) / count)]
    for name in ("cases", "rounds"):
        if (value := getattr(options, name)) is not None:
            command += [f"--{name}", str(value)]
    return subprocess.run([*command, *(f"--kind={name}" for name in group)], check=False).returncode


def main(arguments: list[str]) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--secs", type=float, default=600)
    parser.add_argument("--seed", type=int, default=None, help="the first seed; random if it is not given")
    parser.add_argument("--kind", action="append", choices=NAMES, help="default: all kinds")
    parser.add_argument("--cases", type=int, default=None, help="end when each kind has compared this many cases")
    parser.add_argument("--rounds", type=int, default=None, help="run at most this many rounds of each kind")
    parser.add_argument("--first", action="store_true", help="end at the first difference that is not explained")
    parser.add_argument("--kept", type=Path, help="a folder for answers of Spark, for runs with the same seeds")
    options = parser.parse_args(arguments)
    seed = SystemRandom().randrange(10**9) if options.seed is None else options.seed
    print(f"first seed {seed}")
    names = options.kind or list(NAMES)
    lakes = [name for name in names if name.startswith(OF_LAKES)]
    if lakes and lakes != names:
        # Libraries of lakes change settings of their session, with which other shortcuts decline.
        others = [name for name in names if name not in lakes]
        return max([_apart(group, len(names), seed, options) for group in (others, lakes)])
    totals = compare(
        names, seed, options.secs, options.cases, options.rounds, is_search=options.first, kept=options.kept
    )
    failed = False
    for name, total in totals.items():
        unexplained = sum(not each.explained for each in total.differences)
        failed |= unexplained > 0 or total.cases == 0
        share = 100 * total.taken / max(total.cases, 1)
        print(
            f"{name}: {total.cases} {kind(name).unit}, {share:.0f} % taken,"
            f" {unexplained} unexplained and {len(total.differences) - unexplained} explained differences"
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
