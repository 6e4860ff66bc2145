"""Tries each fault of the lists in a copy of the tree, and counts those that the differential tester notices.

    python -m tests.differential.faults --secs 600 --seed 1 --report build/differential-faults.json

Each run ends at the first difference. A difference counts if the right version has none in the round of the same seed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.crash.report import write_into
from tests.differential.faults.listed import ROOT, Fault, faults
from tests.differential.faults.report import BEGIN, as_markdown
from tests.differential.faults.trial import Trials


def _tried(trials: Trials, fault: Fault, options: argparse.Namespace, commit: str) -> dict[str, Any]:
    verdict = trials.verdict(fault, options.seed, options.secs)
    print(
        f"{verdict.by or 'NOT NOTICED'}, {verdict.secs:.0f} s, seed {verdict.seed}: {fault.name}\n{verdict.shown}",
        flush=True,
    )
    return {**asdict(fault), **asdict(verdict), "commit": commit}


def main(arguments: list[str]) -> int:
    """Run the command line; return 1 if a fault was not noticed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--secs", type=float, default=600, help="processor time for each fault")
    parser.add_argument("--seed", type=int, default=1, help="of the first round of each run")
    parser.add_argument("--only", action="append", help="only faults with this text in their names")
    parser.add_argument("--again", action="store_true", help="only those of the report that nothing noticed")
    parser.add_argument("--report", type=Path, default=ROOT / "build" / "differential-faults.json")
    parser.add_argument("--document", type=Path, help="put the table between the marks of this file")
    options = parser.parse_args(arguments)
    known: dict[str, dict[str, Any]] = {}
    if options.again or options.only:
        known = {one["name"]: one for one in _read(options.report).get("faults", [])}
    report: dict[str, Any] = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": options.seed,
        "most_secs": options.secs,
        "listed": Counter(fault.part for fault in faults()),
        "commit": subprocess.check_output(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True).strip(),
    }
    options.report.parent.mkdir(parents=True, exist_ok=True)
    chosen = [
        fault
        for fault in faults()
        if not (options.only and not any(text in fault.name for text in options.only))
        and not (options.again and known.get(fault.name, {}).get("by"))
    ]
    with tempfile.TemporaryDirectory(prefix="differential-faults-") as folder, closing(Trials(Path(folder))) as trials:
        for fault in chosen:
            known[fault.name] = _tried(trials, fault, options, report["commit"])
            report["faults"] = [known[one.name] for one in faults() if one.name in known]
            options.report.write_text(json.dumps(report, indent=1) + "\n")
    print(as_markdown(report))
    if options.document:
        write_into(options.document, as_markdown(report), begin=BEGIN)
    return int(any(not one["by"] for one in report["faults"]))


def _read(report: Path) -> dict[str, Any]:
    return json.loads(report.read_text()) if report.exists() else {}  # type: ignore[no-any-return]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
