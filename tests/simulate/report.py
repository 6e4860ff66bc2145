"""Plays many stories, and each wrong version until it is noticed, and writes what came of it into a document.

python -m tests.simulate.report docs/reliability/simulator.md --hours 500 --most-secs 600
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from tests.crash.report import versions, wrapped, write_into
from tests.simulate import wrong
from tests.simulate.__main__ import ROOT, Sum, simulate

BEGIN = "<!-- results: written by `python -m tests.simulate.report`, not by hand -->"


def as_markdown(first: int, total: Sum, found: Mapping[str, Sum], secs: float, stated: Mapping[str, str]) -> str:
    """Return the tables of a run.

    Args:
        first: the first seed.
        total: of the stories with the product as it is.
        found: of the stories with each wrong version, up to the one that noticed it.
        secs: how long the stories with the product as it is took.
        stated: what ran, see `tests.crash.report.versions`.
    """
    ran = ", ".join(
        f"{name} {stated[name]}" for name in ("gluepot", "pyarrow", "obstore", "python", "system", "commit")
    )
    when = datetime.now(UTC).isoformat(timespec="seconds")
    lines = [
        wrapped(f"Run of {when}, seeds from {first}, {secs:.0f} s with {os.cpu_count()} processes. {ran}."),
        "",
        "| Stories | Simulated hours | Batches | Records | Starts | Actions | Looks | Violations | CPU s |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        "".join(f"| {n:,} " for n in (total.stories, round(total.hours), total.batches, total.records, total.starts))
        + "".join(f"| {n:,} " for n in (total.actions, total.looks, len(total.violations), round(total.cpu_secs)))
        + "|",
    ]
    if found:
        lines += ["", "| Wrong version | Noticed | Stories | Processor s |", "| --- | --- | ---: | ---: |"]
    lines += [
        f"| {name.replace('_', ' ')} | {'yes' if one.violations else 'no'} | {one.stories} | {one.cpu_secs:,.0f} |"
        for name, one in found.items()
    ]
    return "\n".join([*lines, ""])


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulate.report", description=__doc__)
    parser.add_argument("document", type=Path)
    parser.add_argument("--hours", type=float, default=500.0, help="how many hours to simulate")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--most-secs", type=float, default=600.0, help="the longest search for one wrong version; 0 for none"
    )
    given = parser.parse_args()
    stated, began = versions(ROOT), time.monotonic()
    at_once = os.cpu_count() or 1
    total = simulate(first=given.first, hours=given.hours, at_once=at_once)
    secs = time.monotonic() - began
    print(f"{total}, {secs:.0f} s", flush=True)
    found = {}
    for name in wrong.VERSIONS if given.most_secs else ():
        found[name] = simulate(first=given.first, wrong=name, secs=given.most_secs, at_once=at_once, shortens=False)
        print(f"{name}: {found[name]}", flush=True)
    write_into(given.document, as_markdown(given.first, total, found, secs, stated), begin=BEGIN)
    return 0 if not total.violations and all(one.violations for one in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
