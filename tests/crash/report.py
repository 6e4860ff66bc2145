"""What is kept of a run: JSON for programs, tables for people; every number comes from the run.

python -m tests.crash.report docs/reliability/kills.md group.json jvm.json      # several runs in one document
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tests.crash.outcome import Outcome
from tests.crash.points import POINTS

BEGIN, END = "<!-- results: written by `make crash`, not by hand -->", "<!-- end of results -->"
COLUMNS = 100

HEADS = {"Lane": "---", "Script": "---"} | dict.fromkeys(
    ("Kills", "Starts", "Batches", "Records", "Lost", "Doubled", "Invented", "Looks", "Faults"), "---:"
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
        _jobs(run["outcomes"]),
        *_beside(run["outcomes"]),
        *_points(run["outcomes"]),
        *(["Faults:", items(faults)] if faults else []),
    ]
    return "\n\n".join(parts) + "\n"


def _jobs(outcomes: Sequence[dict]) -> str:
    """What was done to each kind of job, and what was found."""
    kinds: dict[tuple[str, str], list[dict]] = {}
    for one in outcomes:
        kinds.setdefault((one["lane"], one["script"]), []).append(one)
    return table(HEADS, [(*kind, *_figures(campaigns)) for kind, campaigns in kinds.items()])


def _figures(campaigns: Sequence[dict]) -> Iterator[object]:
    yield sum(kill["fired"] for one in campaigns for kill in one["kills"])
    starts, failed = _sum(campaigns, "starts"), _sum(campaigns, "failed_starts")
    yield f"{starts}, {failed} failed" if failed else starts
    yield _sum(campaigns, "batches")
    yield _sum(campaigns, "records")
    for wrong in ("lost", "doubled", "invented"):
        yield sum(max(one["by_folder"][wrong], one["by_manifest"][wrong]) for one in campaigns)
    yield _sum(campaigns, "looks")
    yield sum(len(one["faults"]) for one in campaigns)


def _sum(campaigns: Sequence[dict], name: str) -> int:
    return sum(one.get(name, 0) for one in campaigns)


def _beside(outcomes: Sequence[dict]) -> Iterator[str]:
    """Say who was killed at random moments, and what else was counted."""
    kills = Counter(kill["what"] for one in outcomes for kill in one["kills"] if kill["fired"] and not kill["where"])
    said = []
    if kills:
        said.append(f"Killed at random moments: {', '.join(f'{who} {kills[who]}' for who in sorted(kills))}.")
    if reshards := _sum(outcomes, "reshards"):
        said.append(f"Splits and merges: {reshards}.")
    if attempts := _sum(outcomes, "attempts"):
        said.append(f"Attempts of batches: {attempts}.")
    if said:
        yield wrapped(" ".join(said))


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
