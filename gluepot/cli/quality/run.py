"""Evaluates a ruleset for `gluepot quality`, outside of any job."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial

from awsglue.dynamicframe import DynamicFrame
from awsgluedq.subject import subject_of
from gluepot.bookmarks.ledger.connect import ledger_url
from gluepot.core.clock import SystemClock
from gluepot.engine import execute
from gluepot.engine.writer import TableWriter, Writing
from gluepot.evaluation.check import Check, Publication
from gluepot.evaluation.examiner import Options
from gluepot.evaluation.history.store import shared_history
from gluepot.quality.dqdl import Ruleset
from gluepot.quality.measures import ALL_COLUMNS, Rows, Statistics
from gluepot.quality.recommend import recommended
from gluepot.quality.results import Checked, Result, Source

JOB = "gluepot quality"
"""Stands for the name of a job in the history."""


def evaluated(
    frame: DynamicFrame,
    ruleset: Ruleset,
    others: Mapping[str, DynamicFrame],
    context: str,
    *,
    by_row: bool,
    keep: bool,
) -> Result:
    """Evaluate a ruleset and return the result.

    Args:
        frame: what is checked.
        ruleset: the rules.
        others: further data sets by alias.
        context: the evaluation context.
        by_row: judge composite rules row by row.
        keep: keep the result in the history.
    """
    clock, found = SystemClock(), list[Checked]()
    writer = TableWriter(Writing(f"{round(clock.epoch() * 1000)}", 0))
    publication = Publication(
        Source(JOB, context),
        "",
        history=partial(shared_history, ledger_url(os.environ)) if keep else None,
        on_checked=found.append,
    )
    Check(
        subject_of(frame, others), ruleset, Options(by_row=by_row, observes=True), publication, writer, clock
    ).evaluation()
    return found[0].result


def proposed(frame: DynamicFrame) -> str:
    """Return a ruleset that the rows of a frame fulfil."""
    rows, columns = Rows(), Statistics(ALL_COLUMNS)
    measured = execute.measure(frame.glue_ctx.spark_session, frame.pipeline.over_known(), [rows, columns])
    return recommended(measured.states.get(rows, 0), measured.states.get(columns, {}))
