"""Results of checks as a page shows them; names and values try to break out of it."""

from __future__ import annotations

from gluepot.quality.distributions import ValueCounts
from gluepot.quality.observations import Observation
from gluepot.quality.outcomes import RuleOutcome
from gluepot.quality.results import Result, Source

EVIL = '"><script>alert(1)</script>'
RULE = f'ColumnValues "name" != "{EVIL}"'


def result(number: int, rows: float, *, passed: bool = True) -> Result:
    """Return a result with two rules, the metrics of each, and distributions."""
    outcomes = [
        RuleOutcome("RowCount > 1", True, "", {"Dataset.*.RowCount": rows}, "RowCount > 1"),
        RuleOutcome(
            RULE, passed, "" if passed else f"Value: {EVIL}", {f"Column.{EVIL}.Mean": 0.5}, "", (("team", EVIL),)
        ),
    ]
    return Result(
        Source("orders job", f"orders {EVIL}"), f"query/{number}", "jr_1", 60_000 * number, 60_000 * number + 5, outcomes,
        metrics={"Dataset.*.RowCount": rows, f"Column.{EVIL}.Mean": 0.5 + number / 100, "Once": 1.0},
        distributions={
            "Column.amount.Distribution": ValueCounts("double", (5, 120, 1300, 0), (-1.5, 0.0, 1.5, 3.0, 4.5), below=2, above=40),
            f"Column.{EVIL}.Distribution": ValueCounts("string", (90, 3), values=(EVIL, "b" * 90), others=7),
        },
        observations=[]
        if passed
        else [Observation(f"{EVIL} fell.", "Dataset.*.RowCount", rows, 1000.0, 970.0, 1030.0, ("RowCount > 970",))],
    )  # fmt: skip


def history() -> tuple[Result, list[Result]]:
    """Return the newest result, in which a rule fails, and earlier ones, the newest first."""
    earlier = [result(number, 1000.0 + 7 * (number % 3), passed=number != 4) for number in range(1, 13)]
    return result(13, 400.0, passed=False), earlier[::-1]
