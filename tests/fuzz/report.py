"""What is kept of a run: JSON for programs, a table for people; every number comes from the run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from tests.crash.report import items, table, wrapped

BEGIN = "<!-- results: written by `make fuzz`, not by hand -->"
COLUMNS = {"Target": "---"} | dict.fromkeys(
    ("Seconds", "Inputs", "Covered", "Corpus", "Slowest (ms)", "Memory (MiB)", "Failures"), "---:"
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What fuzzing one target found.

    Args:
        name: name of the target.
        secs: how long it ran.
        inputs: how many inputs were tried.
        covered: branches of our code that were reached, as libFuzzer counts them.
        corpus: inputs that reached something which none before them did.
        slowest_ms: processor time of the slowest input, with coverage being measured.
        peak_mib: the largest memory of a process.
        failures: what broke a rule, by cause, with the input in base64.
    """

    name: str
    secs: float
    inputs: int
    covered: int
    corpus: int
    slowest_ms: int
    peak_mib: int
    failures: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def as_json(seed: int, outcomes: Sequence[Outcome], stated: Mapping[str, str]) -> str:
    """Return the whole run; `stated` are its versions, taken before it."""
    ended = datetime.now(UTC).isoformat(timespec="seconds")
    whole = {"seed": seed, "ended": ended, "versions": stated, "outcomes": [asdict(one) for one in outcomes]}
    return json.dumps(whole, indent=1)


def as_markdown(report: str) -> str:
    """Return the table of a run, from the text of `as_json`."""
    run = json.loads(report)
    outcomes = run["outcomes"]
    stated = ", ".join(f"{name} {value}" for name, value in run["versions"].items())
    hours = sum(one["secs"] for one in outcomes) / 3_600
    inputs = sum(one["inputs"] for one in outcomes)
    failures = [f"{one['name']}: {cause}" for one in outcomes for cause in one["failures"]]
    lines = [
        (*(round(one[key]) if key == "secs" else one[key] for key in _KEYS), len(one["failures"])) for one in outcomes
    ]
    parts = [
        wrapped(
            f"Run of {run['ended']}, seed {run['seed']}: {len(outcomes)} targets, {hours:.2f} hours of one processor,"
            f" {inputs:,} inputs, {len(failures)} failures. {stated}."
        ),
        table(COLUMNS, lines),
        *(["Failures:", items(failures)] if failures else []),
    ]
    return "\n\n".join(parts) + "\n"


_KEYS = ("name", "secs", "inputs", "covered", "corpus", "slowest_ms", "peak_mib")
