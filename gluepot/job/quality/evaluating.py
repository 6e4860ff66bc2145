"""Evaluates rulesets, and proposes them, outside of any job."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import SparkSession

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsgluedq.subject import subject_of
from gluepot.bookmarks.ledger.connect import ledger_url
from gluepot.core.clock import Clock
from gluepot.engine import execute
from gluepot.engine.writer import TableWriter, Writing
from gluepot.evaluation.check import Check, Publication
from gluepot.evaluation.examiner import Options
from gluepot.evaluation.history.store import History, shared_history
from gluepot.quality.dqdl import Ruleset
from gluepot.quality.measures import ALL_COLUMNS, Rows, Statistics
from gluepot.quality.recommend import recommended
from gluepot.quality.results import Checked, Result


def start_spark(cores: int) -> GlueContext:
    """Start Spark on this machine."""
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", str(cores))
    return GlueContext(builder.getOrCreate())


def evaluated(
    frame: DynamicFrame,
    ruleset: Ruleset,
    others: Mapping[str, DynamicFrame],
    publication: Publication,
    options: Options,
    name: str,
    clock: Clock,
) -> Result:
    """Evaluate a ruleset and return the result.

    Args:
        frame: what is checked.
        ruleset: the rules.
        others: further data sets by alias.
        publication: what becomes of the result.
        options: how the rules are evaluated.
        name: of the evaluation; another result of this name and context is replaced.
        clock: tells the time.
    """
    found = list[Checked]()
    whole = replace(publication, on_checked=found.append)
    Check(subject_of(frame, others), ruleset, options, whole, TableWriter(Writing(name, 0)), clock).evaluation()
    return found[0].result


def proposed(frame: DynamicFrame) -> str:
    """Return a ruleset that the rows of a frame fulfil."""
    rows, columns = Rows(), Statistics(ALL_COLUMNS)
    measured = execute.measure(frame.glue_ctx.spark_session, frame.pipeline.over_known(), [rows, columns])
    return recommended(measured.states.get(rows, 0), measured.states.get(columns, {}))


def own_history() -> History:
    """Return the history that this process's environment names."""
    return shared_history(ledger_url(os.environ))
