"""What is kept of the trials, as a table for people; every number comes from the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.crash.report import items, table, wrapped

BEGIN = "<!-- results: written by `make differential-faults`, not by hand -->"


def as_markdown(report: Mapping[str, Any]) -> str:
    """Return the text for the document."""
    tried = report["faults"]
    noticed = [one for one in tried if one["by"]]
    text = (
        f"Run of {report['at']}, first seed {report['seed']}, commit {report['commit']}: {len(noticed)} of {len(tried)}"
        f" faults noticed, each within {report['most_secs']:g} s of processor time. The slowest took"
        f" {max((one['secs'] for one in noticed), default=0):.0f} s, all together"
        f" {sum(one['secs'] for one in tried):.0f} s."
    )
    if others := report["listed"] - len(tried):
        text += f" {others} other faults of the list were not tried."
    heads = {"Fault": "---", "Noticed by": "---"} | dict.fromkeys(("Seed", "Processor time, s"), "---:")
    rows = [(one["name"], one["by"] or "nothing", one["seed"] or "", f"{one['secs']:.0f}") for one in tried]
    missed = [f"{one['name']}. {one['file']}: `{one['old'].strip()}`" for one in tried if not one["by"]]
    parts = [wrapped(text), table(heads, rows), *(["What nothing noticed:", items(missed)] if missed else [])]
    return "\n\n".join(parts) + "\n"
