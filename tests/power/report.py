"""What is kept of a run: JSON for programs, tables for people; every number comes from the run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from tests.crash.report import items, table, wrapped
from tests.power.code import CodeOutcome
from tests.power.jobs import JobOutcome

BEGIN = "<!-- results: written by `make power`, not by hand -->"

OF_CODE = {"Code alone": "---", "Rules": "---", "Ledger": "---"} | dict.fromkeys(
    ("Cuts", "Kills", "Batches", "Runs", "Faults"), "---:"
)
OF_JOBS = {"Job": "---", "Rules": "---", "Ledger": "---"} | dict.fromkeys(
    ("Cuts", "Records", "Lost", "Doubled", "Invented", "Refused", "Faults"), "---:"
)
MOMENTS = {"Job": "---", "In a start": "---:", "At a random moment": "---:", "At a random action": "---:"}


def as_json(
    seed: int, of_code: Sequence[CodeOutcome], of_jobs: Sequence[JobOutcome], secs: float, stated: Mapping[str, str]
) -> str:
    """The whole run; `stated` are its versions, taken before it."""
    return json.dumps(
        {
            "seed": seed,
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "secs": round(secs),
            "versions": stated,
            "code": [asdict(one) for one in of_code],
            "jobs": [asdict(one) for one in of_jobs],
        },
        indent=1,
    )


def as_markdown(report: str) -> str:
    """The tables of a run, from the text of `as_json`; the series of one kind are added up."""
    run = json.loads(report)
    stated = ", ".join(f"{name} {value}" for name, value in run["versions"].items())
    cuts = sum(one["cuts"] for one in run["code"]), sum(len(one["crash"]["kills"]) for one in run["jobs"])
    began = f"{cuts[0]} cuts of the code alone and {cuts[1]} of jobs"
    faults = [f"{one['name']}: {fault}" for one in run["code"] for fault in one["faults"]]
    faults += [f"{one['crash']['name']}: {fault}" for one in run["jobs"] for fault in one["crash"]["faults"]]
    parts = [
        wrapped(f"Run of {run['ended']}, seed {run['seed']}, {run['secs']} s: {began}. {stated}."),
        *([table(OF_CODE, _code(run["code"]))] if run["code"] else []),
        *([table(OF_JOBS, _jobs(run["jobs"])), table(MOMENTS, _moments(run["jobs"]))] if run["jobs"] else []),
        *(["Faults:", items(faults)] if faults else []),
    ]
    return "\n\n".join(parts) + "\n"


def _code(outcomes: Sequence[dict]) -> list[tuple[object, ...]]:
    sums: dict[tuple[str, str], Counter[str]] = {}
    for one in outcomes:
        found = {name: one[name] for name in ("cuts", "kills", "batches", "runs")}
        sums.setdefault((one["mode"], one["ledger"]), Counter()).update(found | {"faults": len(one["faults"])})
    return [
        ("publish, journal, lease, ledger", *key, *(n[name] for name in ("cuts", "kills", "batches", "runs", "faults")))
        for key, n in sums.items()
    ]


def _jobs(outcomes: Sequence[dict]) -> list[tuple[object, ...]]:
    names = ("cuts", "records", "lost", "doubled", "invented", "refused", "faults")
    sums: dict[tuple[str, str, str], Counter[str]] = {}
    for one in outcomes:
        crash = one["crash"]
        found = {
            name: max(crash["by_folder"][name], crash["by_manifest"][name]) for name in ("lost", "doubled", "invented")
        }
        found |= {"cuts": len(crash["kills"]), "records": crash["records"]}
        found |= {"refused": len(one["remedies"]), "faults": len(crash["faults"])}
        sums.setdefault((crash["script"], one["mode"], one["ledger"]), Counter()).update(found)
    return [(*key, *(n[name] for name in names)) for key, n in sums.items()]


def _moments(outcomes: Sequence[dict]) -> list[tuple[object, ...]]:
    found: dict[str, Counter[str]] = {}
    for one in outcomes:
        found.setdefault(one["crash"]["script"], Counter()).update(kill["what"] for kill in one["crash"]["kills"])
    return [(script, *(n[what] for what in ("start", "moment", "action"))) for script, n in found.items()]
