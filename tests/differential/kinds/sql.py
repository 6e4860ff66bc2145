"""Queries that DuckDB answers, beside Spark: random tables and queries, and settings that change what a query means."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.differential.kind import Difference, Round, World, shrink
from tests.differential.rows import text
from tests.differential.sql.queries import Query, query
from tests.differential.sql.tables import tables
from tests.native_tables import read_tables, with_settings

_QUERIES = 100
_TRIES = 60
# What makes Spark faster with few rows, and changes no answer.
_FAST = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.crossJoin.enabled": "true",
}
# Settings that change what a query means, with their values; the first is the default.
_SETTINGS = {
    "spark.sql.ansi.enabled": ("true", "false"),
    "spark.sql.session.timeZone": ("UTC",) * 11 + ("America/New_York",),
    "spark.sql.caseSensitive": ("false",) * 3 + ("true",),
    "spark.sql.legacy.sizeOfNull": ("true",) * 3 + ("false",),
    "spark.sql.parquet.inferTimestampNTZ.enabled": ("true",) * 3 + ("false",),
    "spark.sql.legacy.timeParserPolicy": ("CORRECTED",) * 3 + ("EXCEPTION",),
    "spark.sql.codegen.wholeStage": ("false",) * 7 + ("true",),
    "spark.sql.optimizer.excludedRules": ("",) * 7 + ("org.apache.spark.sql.catalyst.optimizer.ConstantFolding",),
    "spark.sql.decimalOperations.allowPrecisionLoss": ("true",) * 31 + ("false",),
    "spark.sql.legacy.decimal.retainFractionDigitsOnTruncate": ("false",) * 31 + ("true",),
}
# The heading in docs/limits.md for sums that depend on the order of rows.
_OF_ORDER = "Queries that DuckDB runs"
_OVERFLOW = "error: [ARITHMETIC_OVERFLOW] long overflow"
_SUMS = re.compile(r"\b(sum|avg|stddev|var)")
_NUMBER = re.compile(r"'(\S+) [0-9a-f]{16}'")


class Kind:
    """Random queries."""

    name = "sql"
    unit = "queries"

    def round(self, random: Random, world: World, queries: int = _QUERIES) -> Round:
        """Compare queries over one set of tables."""
        spark = world.spark()
        settings = {name: random.choice(values) for name, values in _SETTINGS.items()}
        settings = {
            name: value
            for name, value in settings.items()
            if value != _SETTINGS[name][0] or name.endswith("ansi.enabled")
        }
        from awsglue.context import GlueContext

        with with_settings(spark, _FAST | settings):
            made = tables(random)
            glue_context = GlueContext(spark.sparkContext)
            read_tables(glue_context, world.folder, {f"{name}0": table for name, table in made.items()})
            total = Round()
            for _ in range(queries):
                self._compare(spark, query(random), settings, total)
            return total

    def _compare(self, spark: Any, asked: Query, settings: dict[str, str], total: Round) -> None:
        answers = answers_of(spark, asked)
        if answers is None:
            return
        ours, original = answers
        total.cases += 1
        total.taken += ours != ""
        if ours in {"", original}:
            return

        def differs(other: Query) -> bool:
            found = answers_of(spark, other)
            return found is not None and found[0] not in ("", found[1])

        small = shrink(asked, Query.smaller, differs, _TRIES)
        ours, original = answers_of(spark, small) or (ours, original)
        is_order = _rounded(ours) == _rounded(original) or original.startswith(_OVERFLOW)
        why = _OF_ORDER if _SUMS.search(str(small)) and is_order else ""
        total.differences.append(Difference(f"{small} -- {settings}", ours[:1500], original[:1500], why))


def answers_of(spark: Any, asked: Query) -> tuple[str, str] | None:
    """Return the rows of a query as text, as DuckDB and as Spark give them.

    The answer of DuckDB is empty if it declines, the answer of Spark then, too. None if the query has no meaning.
    """
    try:
        frame = spark.sql(str(asked))
        _ = frame.schema
    except PySparkException:
        return None
    try:
        ours = _ours(spark, frame)
    except (PySparkException, Py4JJavaError):
        return "", ""  # Spark fails while it plans the query, before the shortcut sees it
    except Exception as error:  # noqa: BLE001  the shortcut may not fail
        return f"error: {str(error)[:300]}", "rows, or an error of Spark's own"
    if ours is None:
        return "", ""
    answer = text(ours, is_ordered=asked.is_ordered)
    try:
        original = frame.toArrow()
    except Exception as error:  # noqa: BLE001  any failure of a query
        return answer, f"error: {str(error)[:300]}"
    return answer, text(original, is_ordered=asked.is_ordered)


def _ours(spark: Any, frame: Any) -> pa.Table | None:
    from gluepot.engine.native import run as native
    from gluepot.engine.pipeline import FrameInput, Pipeline, SplitInput

    with native.computed(spark, Pipeline(FrameInput(frame))) as given:
        if not isinstance(given, SplitInput):
            return None
        batches = [chunk.batch for split in given.splits for chunk in given.source.read(split)]
        return pa.Table.from_batches(batches, given.schema)


def _rounded(rows: str) -> list[str]:
    """Return rows with nine digits of each floating-point number."""
    return sorted(_NUMBER.sub(lambda found: f"{float(found[1]):.9e}", rows).split("\n"))
