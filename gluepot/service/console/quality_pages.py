"""What the console shows of data quality: results of jobs and runs, and how scores were over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gluepot.core.masking import mask_text
from gluepot.service.console.page import ROWS, Page, Query, Reader, more
from gluepot.service.console.values import Facts, StateWord, facts, url
from gluepot.service.errors import not_found
from gluepot.service.paging import number_of, page_token
from gluepot.service.quality_store import results_of

if TYPE_CHECKING:  # a service whose data quality nobody looks at needs none of it
    from gluepot.quality.results import Result

_EARLIER = 30
_LEAST_BARS = 12
# The whole plot is this wide and high; a browser scales it.
_WIDTH, _HEIGHT = 600.0, 60.0


def quality(reader: Reader, query: Query) -> Page:
    """Return a page of the results, the newest first."""
    skip = number_of(query.get("page")) or 0
    found = results_of(reader.service).latest(most=ROWS + 1, skip=skip)
    rest = {"NextToken": page_token(str(skip + ROWS))} if len(found) > ROWS else {}
    values = {"results": [result_row(one) for one in found[:ROWS]], "more": more("quality", rest, query)}
    return Page("quality.html", "Data quality", "quality", values, polls="page" not in query)


def quality_result(reader: Reader, query: Query) -> Page:
    """Return a result with its rules, and the earlier ones of the same job and context, or of the same ruleset."""
    from gluepot.evaluation.history.store import WantedResults  # noqa: PLC0415  as above

    result_id = query.get("id", "")
    history = results_of(reader.service)
    found = next(iter(history.with_ids([result_id])), None)
    if found is None:
        raise not_found(f"Data quality result {result_id} not found.")
    wanted = WantedResults(found.source.job, found.source.context)
    rows = [result_row(one) for one in history.latest(wanted, _EARLIER)]
    row = result_row(found)
    values = {
        "row": row,
        "facts": _facts_of(found),
        "run_link": url("run", job=found.source.job, id=found.run_id) if found.run_id else "",
        "rules": [
            (StateWord("Passed", "good") if one.passed else StateWord("Failed", "bad"), one.rule, mask_text(one.reason))
            for one in found.outcomes
        ],
        "measured": [(one.analyzer, _told(one.metrics)) for one in found.analyzers],
        "observations": [mask_text(one.description) for one in found.observations],
        "bars": bars(rows[::-1], found.id),
        "size": (_WIDTH, _HEIGHT),
        "earlier": rows,
    }
    return Page("quality_result.html", row.name, "quality", values, path=[("Data quality", url("quality"))])


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A result in a list.

    Args:
        id: its id.
        link: to its page.
        name: of the ruleset or the evaluation context.
        subject: the table or the job.
        state: whether all rules hold.
        passed: how many rules hold.
        rules: how many there are.
        score: the share of rules that hold.
        at_ms: when it was completed, in milliseconds since 1970.
    """

    id: str
    link: str
    name: str
    subject: str
    state: StateWord
    passed: int
    rules: int
    score: float
    at_ms: int


def result_row(one: Result) -> ResultRow:
    """Return a result as a list shows it."""
    table = one.table
    return ResultRow(
        one.id,
        url("quality-result", id=one.id),
        one.ruleset or one.source.context,
        f"{table.database}.{table.name}" if table else one.source.job,
        StateWord("Failed", "bad") if one.failed else StateWord("Passed", "good"),
        one.passed,
        len(one.outcomes),
        one.score,
        one.completed_ms,
    )


@dataclass(frozen=True, slots=True)
class ScoreBar:
    """A result in the plot of scores.

    Args:
        row: the result.
        x: its left side.
        y: its upper side.
        width: of the bar.
        height: of the bar.
        is_here: whether it is the result of the page.
    """

    row: ResultRow
    x: float
    y: float
    width: float
    height: float
    is_here: bool


def bars(rows: Sequence[ResultRow], here: str) -> list[ScoreBar]:
    """Return the scores of results, the oldest one first, as bars side by side."""
    step = _WIDTH / max(_LEAST_BARS, len(rows))
    # A score of nothing can still be seen.
    heights = [max(2.0, one.score * _HEIGHT) for one in rows]
    return [
        ScoreBar(
            one, round(at * step, 1), round(_HEIGHT - height, 1), round(step * 0.8, 1), round(height, 1), one.id == here
        )
        for at, (one, height) in enumerate(zip(rows, heights, strict=True))
    ]


def _facts_of(found: Result) -> Facts:
    return facts(
        ("Job", None if found.table else found.source.job),
        ("Evaluation context", None if found.table else found.source.context),
        ("Table", f"{found.table.database}.{found.table.name}" if found.table else None),
        ("Ruleset", found.ruleset),
        ("Evaluation run", found.ruleset_run_id),
        ("Rows", None if found.rows is None else f"{found.rows:,}"),
        ("Score", f"{found.score:.2f}"),
        ("Took", f"{(found.completed_ms - found.started_ms) / 1000:,.1f} s"),
    )


def _told(metrics: Any) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in sorted(metrics.items()))
