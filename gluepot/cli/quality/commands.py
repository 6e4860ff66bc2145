"""`gluepot quality`: check a ruleset, check data by it, propose one, and what checks found before."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from gluepot.cli.exit_codes import FINDINGS
from gluepot.cli.output import show, time_of
from gluepot.cli.quality import report
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError
from gluepot.quality.dqdl import DqdlError, Ruleset
from gluepot.quality.dqdl.parser import parse
from gluepot.quality.results import Result, Source

JOB = "gluepot quality"
"""Stands for the name of a job in the history."""

app = App(name="quality", help="Data quality: rules in DQDL, checks of files and tables, and their results.")


@app.command
def lint(*rulesets: Path, output: Literal["text", "json"] = "text") -> None:
    """Read rulesets without any data; exit code 3 if one is not valid.

    Args:
        rulesets: files with DQDL.
        output: text for people; json for programs, a list of objects.
    """
    rows = []
    for path in rulesets:
        try:
            found = parse(_text_of(path))
        except DqdlError as error:
            rows.append({"file": str(path), "valid": False, "message": str(error)})
            continue
        count = f"{len(found.rules)} rules, {len(found.analyzers)} analyzers"
        rows.append({"file": str(path), "valid": True, "message": " ".join([count + ".", *found.notes])})
    if output == "json":
        show(rows, "json", "")
    else:
        print("\n".join(f"{row['file']}: {row['message']}" for row in rows))
    if not all(row["valid"] for row in rows):
        raise SystemExit(FINDINGS)


@app.command
def check(
    data: str,
    *,
    ruleset: Path,
    format: str | None = None,  # noqa: A002  the name of the flag
    with_: Annotated[tuple[str, ...], Parameter(name="--with")] = (),
    context: str | None = None,
    by_row: bool = False,
    keep: bool = True,
    cores: int = 2,
    output: Literal["text", "json", "junit", "html"] = "text",
) -> None:
    """Check files or a table by a ruleset; exit code 3 if a rule fails.

    Args:
        data: a path, the folder of a table that a job wrote, or database.table of the Data Catalog.
        ruleset: file with DQDL.
        format: of files whose names do not tell it, such as json, csv or parquet.
        with_: another data set as alias=data, for rules that compare; several allowed.
        context: under which results are kept, and compared by last(); the name of the data unless given.
        by_row: judge composite rules row by row.
        keep: keep the result in the history.
        cores: of this machine.
        output: text for people; json for programs; junit for CI systems; html for a page with plots, which needs no
            network.
    """
    rules = _parsed(ruleset)
    from gluepot.cli.quality.data import open_frame  # noqa: PLC0415  linting needs no Spark
    from gluepot.evaluation.check import Publication  # noqa: PLC0415  as above
    from gluepot.evaluation.examiner import Options  # noqa: PLC0415  as above
    from gluepot.job.quality.evaluating import evaluated, own_history, start_spark  # noqa: PLC0415  as above

    glue_context, clock = start_spark(cores), SystemClock()
    frame = open_frame(glue_context, data, format)
    others = {alias: open_frame(glue_context, name, None) for alias, name in map(_alias, with_)}
    publication = Publication(Source(JOB, context or data), "", history=own_history if keep else None)
    options = Options(by_row=by_row, observes=True)
    result = evaluated(frame, rules, others, publication, options, f"{round(clock.epoch() * 1000)}", clock)
    print(_page(result) if output == "html" else report.text(result, output))
    if result.score < 1.0:
        raise SystemExit(FINDINGS)


@app.command
def recommend(
    data: str,
    *,
    format: str | None = None,  # noqa: A002  as above
    cores: int = 2,
) -> None:
    """Propose rules that files or a table fulfil today; the ruleset is printed.

    Args:
        data: a path, the folder of a table that a job wrote, or database.table of the Data Catalog.
        format: of files whose names do not tell it, such as json, csv or parquet.
        cores: of this machine.
    """
    from gluepot.cli.quality.data import open_frame  # noqa: PLC0415  as above
    from gluepot.job.quality.evaluating import proposed, start_spark  # noqa: PLC0415  as above

    print(proposed(open_frame(start_spark(cores), data, format)), end="")


@app.command
def history(
    *, job: str | None = None, context: str | None = None, most: int = 20, output: Literal["text", "json"] = "text"
) -> None:
    """List what checks found, the newest first.

    Args:
        job: only of this job.
        context: only of this evaluation context.
        most: the largest number of results.
        output: text for people; json for programs, a list of objects.
    """
    from gluepot.bookmarks.ledger.connect import ledger_url  # noqa: PLC0415  as below
    from gluepot.evaluation.history.store import WantedResults, shared_history  # noqa: PLC0415  loads a database

    results = shared_history(ledger_url(os.environ)).latest(WantedResults(job, context), most)
    rows = [
        {
            "time": time_of(one.completed_ms),
            "job": one.source.job,
            "context": one.source.context,
            "passed": sum(rule.passed for rule in one.outcomes),
            "failed": sum(not rule.passed for rule in one.outcomes),
            "score": round(one.score, 4),
            "failed_rules": [rule.rule for rule in one.outcomes if not rule.passed],
            "observations": [
                seen.plain() if output == "json" else f"{seen.metric} = {seen.actual:g}" for seen in one.observations
            ],
        }
        for one in results
    ]
    show(rows, output, "No check has kept a result.")


def _page(result: Result) -> str:
    from gluepot.bookmarks.ledger.connect import ledger_url  # noqa: PLC0415  as below
    from gluepot.cli.quality.page import EARLIER_SHOWN, page  # noqa: PLC0415  other commands need no templates
    from gluepot.evaluation.history.store import WantedResults, shared_history  # noqa: PLC0415  loads a database

    found = shared_history(ledger_url(os.environ)).latest(
        WantedResults(result.source.job, result.source.context), EARLIER_SHOWN + 1
    )
    return page(result, [one for one in found if one.evaluation != result.evaluation])


def _parsed(path: Path) -> Ruleset:
    found = parse(_text_of(path))
    for note in found.notes:
        print(f"note: {path}: {note}", file=sys.stderr)
    return found


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"The ruleset {path} cannot be read: {error.strerror}; give a file with DQDL.") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"The ruleset {path} cannot be read as UTF-8: {error}; give a file with DQDL.") from None


def _alias(given: str) -> tuple[str, str]:
    alias, equals, name = given.partition("=")
    if not equals or not alias or not name:
        raise ConfigError(f"--with is {given!r}; write alias=data, such as customers=/data/customers.")
    return alias, name
