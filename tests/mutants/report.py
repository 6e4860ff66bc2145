"""What is kept of a campaign, as tables for people; every number comes from the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.crash.report import items, table, wrapped

BEGIN = "<!-- results: written by `make mutants`, not by hand -->"
TESTS, NEW_TESTS, SIMULATOR, NOTHING = "tests", "new tests", "simulator", "nothing"


def lane(mutant: Mapping[str, Any]) -> str:
    """Return what noticed a version; new tests are those that were written since nothing had noticed it."""
    if mutant["tests"]["by"]:
        return NEW_TESTS if mutant.get("is_again") else TESTS
    return SIMULATOR if (mutant["simulator"] or {}).get("by") else NOTHING


def as_markdown(report: Mapping[str, Any]) -> str:
    """Return the text for the document."""
    mutants = report["mutants"]
    by, survivors = Counter(map(lane, mutants)), [one for one in mutants if lane(one) == NOTHING]
    equal = [one for one in survivors if (one["reason"] or "").startswith("Equal")]
    first, heard = by[TESTS] + by[SIMULATOR], len(mutants) - len(survivors)
    text = (
        f"Run of {report['at']}, seed {report['seed']}, {report['secs']} s, commit {report['commit']}: {len(mutants)} "
        f"versions. Tests noticed {by[TESTS]} and the simulator {by[SIMULATOR]} more, together "
        f"{first / len(mutants):.1%}; tests that were written because of this run notice {by[NEW_TESTS]} of the others."
        f" Of the {by[NOTHING]} that are left, {len(equal)} behave as the right version does. Without those, "
        f"{heard / max(1, len(mutants) - len(equal)):.1%} are noticed now. Tests ran for at most "
        f"{report['secs_of_tests']:g} s on a version, and stories were played for {report['secs_of_stories']:g} s."
    )
    files = sorted({one["path"] for one in mutants})
    of_files = [(path, *_counts([one for one in mutants if one["path"] == path])) for path in files]
    kinds = [
        (kind, *_counts([one for one in mutants if one["operator"] == kind]))
        for kind in sorted({one["operator"] for one in mutants})
    ]
    numbers = dict.fromkeys(("Versions", "Tests", "New tests", "Simulator", "Nothing"), "---:")
    said = [
        f"`{one['path'].rpartition('/')[2]}`, `{one['function']}`, {one['operator']}: `{one['before']}`. "
        f"{one['reason'] or 'Nobody has explained this yet.'}"
        for one in survivors
    ]
    parts = [wrapped(text), table({"File": "---"} | numbers, of_files), table({"Change": "---"} | numbers, kinds)]
    if said:
        parts += ["What nothing noticed:", items(said)]
    return "\n\n".join(parts) + "\n"


def _counts(mutants: list[Mapping[str, Any]]) -> tuple[int, ...]:
    by = Counter(map(lane, mutants))
    return len(mutants), *(by[one] for one in (TESTS, NEW_TESTS, SIMULATOR, NOTHING))
