"""Compares the processor time of a test run with the budget in tests/data/processor_budget.json.

The unit of processor time is what `scripts.test_calibration` takes on the same machine in the same run.
The budget changes only by `python -m scripts.test_run --record`, in a commit that says why.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

BUDGET_FILE = Path(__file__).parents[1] / "tests" / "data" / "processor_budget.json"
TOTAL_SLACK = 1.5
"""In seconds, two runs on one machine differ by less than 1 %; the calibration task alone by 40 %."""
FILE_SLACK = 2.0
SHARE_UNITS = 10.0
"""How much a file may take, or grow, without a place in the budget; some 50 seconds where a unit is 5."""
SHOWN_FILES = 25
RECORDED_UNITS = 0.5
"""Files that take less are not recorded."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run of all tests may take, in units.

    Args:
        total: of all processes that the run started.
        files: of each file that takes `RECORDED_UNITS` or more.
    """

    total: float
    files: Mapping[str, float]


def read(path: Path = BUDGET_FILE) -> Budget:
    """Return the budget that is checked in."""
    content = json.loads(path.read_text())
    return Budget(content["total"], content["files"])


def write(total: float, files: Mapping[str, float], path: Path = BUDGET_FILE) -> None:
    """Make a run the new budget, the most expensive files first."""
    recorded = {name: round(units, 1) for name, units in files.items() if units >= RECORDED_UNITS}
    ordered = dict(sorted(recorded.items(), key=lambda item: (-item[1], item[0])))
    path.write_text(json.dumps({"total": round(total), "files": ordered}, indent=2) + "\n")


def excesses(total: float, files: Mapping[str, float], budget: Budget) -> list[str]:
    """Return a sentence for each file that is over its share, the worst first, and one if the total is too high."""
    over = []
    for name, units in files.items():
        share = budget.files.get(name, 0.0)
        if units > max(share * FILE_SLACK, share + SHARE_UNITS):
            over.append((share - units, f"{name} took {units:.1f} units of processor time; its share is {share:.1f}."))
    sentences = [sentence for _, sentence in sorted(over)]
    if total > budget.total * TOTAL_SLACK:
        sentences.append(f"The tests took {total:.0f} units of processor time; the budget is {budget.total:.0f}.")
    return sentences


def report(total_secs: float, file_secs: Mapping[str, float], unit_secs: float) -> list[str]:
    """Return the processor time by folder and of the most expensive files, as lines of text.

    `elsewhere` is what no test can be charged with, such as lint.

    Args:
        total_secs: of all processes of the run.
        file_secs: by file of tests, or by the name of another part of the run.
        unit_secs: what the calibration task took.
    """
    by_folder: dict[str, float] = {}
    for name, secs in file_secs.items():
        parts = name.split("/")
        folder = parts[1] if parts[0] == "tests" and len(parts) > 2 else name
        by_folder[folder] = by_folder.get(folder, 0.0) + secs
    rows = [*sorted(by_folder.items()), ("elsewhere", total_secs - sum(by_folder.values())), ("all", total_secs)]
    table = [
        f"Processor time (a unit is {unit_secs:.2f} s on this machine):",
        f"{'folder':12} {'secs':>8} {'units':>8}",
    ]
    table += [f"{folder:12} {secs:8,.0f} {secs / unit_secs:8,.1f}" for folder, secs in rows]
    most = sorted(file_secs.items(), key=lambda item: -item[1])[:SHOWN_FILES]
    return [*table, f"The {SHOWN_FILES} most expensive files:", *(f"{secs:7.1f} s  {name}" for name, secs in most)]
