"""What is kept of the trials, as a table for people; every number comes from the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tests.crash.report import items, table, wrapped

BEGIN = "<!-- results: written by `make differential-faults`, not by hand -->"


def as_markdown(report: Mapping[str, Any]) -> str:
    """Return the text for the document, with a table for each list of faults."""
    tried = report["faults"]
    text = (
        f"Run of {report['at']}, first seed {report['seed']}, commit {report['commit']}, at most"
        f" {report['most_secs']:g} s of processor time for each fault."
    )
    others = Counter(one["commit"] for one in tried if one["commit"] != report["commit"])
    if others:
        counts = ", ".join(f"{count} of commit {commit}" for commit, count in others.items())
        text += f" Kept from earlier runs: {counts}."
    parts = [wrapped(text)]
    for part in dict.fromkeys(one["part"] for one in tried):
        parts += _part(part, [one for one in tried if one["part"] == part], report["listed"][part])
    return "\n\n".join(parts) + "\n"


def _part(part: str, tried: Sequence[Mapping[str, Any]], listed: int) -> Sequence[str]:
    noticed = [one for one in tried if one["by"]]
    text = (
        f"In {part}: {len(noticed)} of {len(tried)} faults noticed. The slowest took"
        f" {max((one['secs'] for one in noticed), default=0):.0f} s, all together"
        f" {sum(one['secs'] for one in tried):.0f} s."
    )
    if others := listed - len(tried):
        text += f" {others} other faults of the list were not tried."
    heads = {"Fault": "---", "Noticed by": "---"} | dict.fromkeys(("Seed", "Processor time, s"), "---:")
    rows = [(one["name"], one["by"] or "nothing", one["seed"] or "", f"{one['secs']:.0f}") for one in tried]
    missed = [f"{one['name']}. {one['file']}: `{one['old'].strip()}`" for one in tried if not one["by"]]
    return [wrapped(text), table(heads, rows), *(["Nothing noticed:", items(missed)] if missed else [])]
