"""What is kept of a campaign, as tables for people; every number comes from the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.crash.report import items, table, wrapped

BEGIN = "<!-- results: written by `make mutants`, not by hand -->"
NOT_EXPLAINED = "not explained"


def lane(mutant: Mapping[str, Any]) -> str:
    """Return what noticed a version."""
    if mutant["tests"]["by"]:
        return "tests"
    return "simulator" if mutant["simulator"]["by"] else "nothing"


def as_markdown(report: Mapping[str, Any]) -> str:
    """Return the text for the document."""
    mutants = report["mutants"]
    by, survivors = Counter(map(lane, mutants)), [one for one in mutants if lane(one) == "nothing"]
    equal = [one for one in survivors if (one["reason"] or "").startswith("Equal")]
    heard = by["tests"] + by["simulator"]
    text = (
        f"Run of {report['at']}, seed {report['seed']}, {report['secs']} s, commit {report['commit']}: {len(mutants)} "
        f"versions; tests noticed {by['tests']} and the simulator {by['simulator']} more, together "
        f"{heard / len(mutants):.1%}. Of the {by['nothing']} others, {len(equal)} behave as the right version does; "
        f"without them it is {heard / max(1, len(mutants) - len(equal)):.1%}. Tests ran for at most "
        f"{report['secs_of_tests']:g} s on a version, and stories were played for {report['secs_of_stories']:g} s."
    )
    files = sorted({one["path"] for one in mutants})
    of_files = [(path, *_counts([one for one in mutants if one["path"] == path])) for path in files]
    kinds = [
        (kind, *_counts([one for one in mutants if one["operator"] == kind]))
        for kind in sorted({one["operator"] for one in mutants})
    ]
    numbers = dict.fromkeys(("Versions", "Tests", "Simulator", "Nothing"), "---:")
    said = [
        f"`{one['path'].rpartition('/')[2]}`, `{one['function']}`, {one['operator']}: `{one['before']}`. "
        f"{one['reason'] or f'This is {NOT_EXPLAINED}.'}"
        for one in survivors
    ]
    parts = [wrapped(text), table({"File": "---"} | numbers, of_files), table({"Change": "---"} | numbers, kinds)]
    if said:
        parts += ["What nothing noticed:", items(said)]
    return "\n\n".join(parts) + "\n"


def _counts(mutants: list[Mapping[str, Any]]) -> tuple[int, int, int, int]:
    by = Counter(map(lane, mutants))
    return len(mutants), by["tests"], by["simulator"], by["nothing"]
