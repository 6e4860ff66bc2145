"""What is kept of a run: JSON for programs, tables for people; every number comes from the run.

python -m tests.crash.report docs/reliability.md group.json jvm.json      # several runs in one document
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tests.crash.outcome import Outcome
from tests.crash.points import POINTS

BEGIN, END = "<!-- results: written by `make crash`, not by hand -->", "<!-- end of results -->"
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
    """The tables of a run, from the text of `as_json`."""
    run = json.loads(report)
    stated = ", ".join(f"{name} {value}" for name, value in run["versions"].items())
    lines = [
        f"Run of {run['ended']}, seed {run['seed']}, {run['secs']} s. {stated}.",
        "",
        "| Campaign | Lane | Script | Kills | Reshards | Starts | Failed starts | Batches | Attempts | Records | Lost | Doubled | Invented | Looks | Faults |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in run["outcomes"]:
        found = [max(one["by_folder"][name], one["by_manifest"][name]) for name in ("lost", "doubled", "invented")]
        fired = sum(kill["fired"] for kill in one["kills"])
        cells = [
            one["name"],
            one["lane"],
            one["script"],
            fired,
            one.get("reshards", 0),
            one["starts"],
            one["failed_starts"],
            one["batches"],
            one.get("attempts") or "",
            one["records"],
        ]
        cells += [*found, one["looks"], len(one["faults"])]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", *_points(run["outcomes"]), "", *_victims(run["outcomes"])]
    faults = [f"- {one['name']}: {fault}" for one in run["outcomes"] for fault in one["faults"]]
    return "\n".join([*lines, *(["", "Faults:", "", *faults] if faults else [])]) + "\n"


def _points(outcomes: Sequence[dict]) -> list[str]:
    met = [one for one in outcomes if one["name"].startswith("points-")]
    if not met:
        return []
    lanes = sorted({one["lane"] for one in met})
    lines = [
        f"| Kill point | Failpoint | {' | '.join(f'Fired, {lane}' for lane in lanes)} | What it stands for |",
        f"| --- | --- | {' | '.join('---:' for _ in lanes)} | --- |",
    ]
    for point in POINTS:
        name = f"{point.number} {point.what}"
        times = [
            sum(kill["fired"] and kill["what"] == name for one in met if one["lane"] == lane for kill in one["kills"])
            if any(point.is_met(lane, one["script"]) for one in met if one["lane"] == lane)
            else "none there"
            for lane in lanes
        ]
        if set(times) == {"none there"}:
            continue
        lines.append(
            f"| {name} | `{point.failpoint}` | {' | '.join(map(str, times))} | {point.nearest or 'the thing itself'} |"
        )
    return lines


def _victims(outcomes: Sequence[dict]) -> list[str]:
    kills = [kill["what"] for one in outcomes for kill in one["kills"] if kill["fired"] and not kill["where"]]
    if not kills:
        return []
    lines = ["| Killed at a random moment | Times |", "| --- | ---: |"]
    return lines + [f"| {victim} | {kills.count(victim)} |" for victim in sorted(set(kills))]


def write_into(document: Path, results: str, *, keep: bool = False) -> None:
    """Put the tables where the document's marks are, behind those that are there or in their place."""
    text = document.read_text()
    before, _, rest = text.partition(BEGIN)
    there, _, after = rest.partition(END)
    kept = f"{there.strip()}\n\n" if keep else ""
    document.write_text(f"{before}{BEGIN}\n\n{kept}{results}\n{END}{after}")


if __name__ == "__main__":
    document, *reports = map(Path, sys.argv[1:])
    write_into(document, "\n".join(as_markdown(one.read_text()) for one in reports))
