"""What is kept of a run: JSON for programs, tables for people; every number comes from the run.

python -m tests.crash.report docs/reliability/kills.md group.json jvm.json      # several runs in one document
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tests.crash.outcome import Outcome
from tests.crash.points import POINTS

BEGIN, END = "<!-- results: written by `make crash`, not by hand -->", "<!-- end of results -->"
COLUMNS = 100

DID = {"Campaign": "---", "Lane": "---", "Script": "---"} | dict.fromkeys(
    ("Kills", "Reshards", "Starts", "Failed starts"), "---:"
)
FOUND = {"Campaign": "---"} | dict.fromkeys(
    ("Batches", "Attempts", "Records", "Lost", "Doubled", "Invented", "Looks", "Faults"), "---:"
)
ABSENT = "-"
NEAREST = "A point is the thing itself, but for these:"

PACKAGES = ("gluepot", "pyspark", "pyarrow", "obstore", "confluent-kafka", "kafka-python", "duckdb", "moto")


def versions(root: Path) -> dict[str, str]:
    """What ran: packages, interpreter, Java, the commit checked out and whether it was changed since."""
    java = subprocess.run(["java", "-version"], capture_output=True, check=False, text=True).stderr.splitlines()
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, check=False, cwd=root, text=True
    ).stdout.strip()
    return {
        **{name: version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "java": java[0] if java else "unknown",
        "system": platform.platform(),
        "commit": commit,
    }


def as_json(seed: int, outcomes: Sequence[Outcome], secs: float, stated: Mapping[str, str]) -> str:
    """The whole run; `stated` are its `versions`, taken before it."""
    return json.dumps(
        {
            "seed": seed,
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "secs": round(secs),
            "versions": stated,
            "right": all(one.right for one in outcomes),
            "outcomes": [asdict(one) for one in outcomes],
        },
        indent=1,
    )


def as_markdown(report: str) -> str:
    """The tables of a run, from the text of `as_json`; no line has more than 100 columns."""
    run = json.loads(report)
    stated = ", ".join(f"{name} {value}" for name, value in run["versions"].items())
    faults = [f"{one['name']}: {fault}" for one in run["outcomes"] for fault in one["faults"]]
    parts = [
        wrapped(f"Run of {run['ended']}, seed {run['seed']}, {run['secs']} s. {stated}."),
        *_campaigns(run["outcomes"]),
        *_points(run["outcomes"]),
        *_victims(run["outcomes"]),
        *(["Faults:", items(faults)] if faults else []),
    ]
    return "\n\n".join(parts) + "\n"


def _campaigns(outcomes: Sequence[dict]) -> list[str]:
    """What each campaign did, and what was found: two tables, because one of both would be too wide to read."""
    did: list[tuple[object, ...]] = []
    found: list[tuple[object, ...]] = []
    for one in outcomes:
        fired = sum(kill["fired"] for kill in one["kills"])
        starts = (fired, one.get("reshards", 0), one["starts"], one["failed_starts"])
        did.append((one["name"], one["lane"], one["script"], *starts))
        wrong = (max(one["by_folder"][name], one["by_manifest"][name]) for name in ("lost", "doubled", "invented"))
        read = (one["batches"], one.get("attempts") or "", one["records"])
        found.append((one["name"], *read, *wrong, one["looks"], len(one["faults"])))
    return [table(DID, did), table(FOUND, found)]


def _points(outcomes: Sequence[dict]) -> list[str]:
    met = [one for one in outcomes if one["name"].startswith("points-")]
    if not met:
        return []
    lanes = sorted({one["lane"] for one in met})
    rows: list[tuple[object, ...]] = []
    notes: list[str] = []
    for point in POINTS:
        name = f"{point.number} {point.what}"
        times = [
            sum(kill["fired"] and kill["what"] == name for one in met if one["lane"] == lane for kill in one["kills"])
            if any(point.is_met(lane, one["script"]) for one in met if one["lane"] == lane)
            else ABSENT
            for lane in lanes
        ]
        if set(times) == {ABSENT}:
            continue
        rows.append((name, f"`{point.failpoint}`", *times))
        if point.nearest:
            notes.append(f"{name}: {point.nearest}")
    heads = {"Kill point": "---", "Failpoint": "---"} | {f"Fired, {lane}": "---:" for lane in lanes}
    return [table(heads, rows), *_notes(rows, notes)]


def _notes(rows: Sequence[Sequence[object]], notes: Sequence[str]) -> list[str]:
    """What the table of kill points does not say: lanes without a point, and points that stand for others."""
    absent = [f"A lane with `{ABSENT}` does not have the point."] if any(ABSENT in row for row in rows) else []
    return absent + ([NEAREST, items(notes)] if notes else [])


def _victims(outcomes: Sequence[dict]) -> list[str]:
    kills = [kill["what"] for one in outcomes for kill in one["kills"] if kill["fired"] and not kill["where"]]
    rows = [(victim, kills.count(victim)) for victim in sorted(set(kills))]
    return [table({"Killed at a random moment": "---", "Times": "---:"}, rows)] if rows else []


def table(heads: Mapping[str, str], rows: Sequence[Sequence[object]]) -> str:
    """A table; `heads` has the alignment of each column."""
    lines: list[Iterable[object]] = [heads, heads.values(), *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


def items(texts: Sequence[str]) -> str:
    """A list, of lines that are short enough."""
    return "\n".join(wrapped(f"- {text}", indent="  ") for text in texts)


def wrapped(text: str, indent: str = "") -> str:
    """A paragraph of lines that are short enough."""
    return textwrap.fill(text, COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def write_into(document: Path, results: str, *, keep: bool = False, begin: str = BEGIN) -> None:
    """Put the tables where the document's marks are, behind those that are there or in their place."""
    text = document.read_text()
    before, _, rest = text.partition(begin)
    there, _, after = rest.partition(END)
    kept = f"{there.strip()}\n\n" if keep else ""
    document.write_text(f"{before}{begin}\n\n{kept}{results}\n{END}{after}")


if __name__ == "__main__":
    document, *reports = map(Path, sys.argv[1:])
    write_into(document, "\n".join(as_markdown(one.read_text()) for one in reports))
