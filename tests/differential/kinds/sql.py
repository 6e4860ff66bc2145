"""Queries that DuckDB answers, beside Spark: random tables and queries, and settings that change what a query means."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.differential.kind import Difference, Round, World, shrink
from tests.differential.rows import text
from tests.differential.sql import direct
from tests.differential.sql.queries import Query, boundary, query
from tests.differential.sql.tables import tables
from tests.native_tables import read_tables, with_settings

_QUERIES = 40
# So many queries have the same settings.
_ALIKE = 20
# Of a round, beside the others: a shortcut that takes what it should leave to Spark shows in them.
_BOUNDARIES = 16
# Of a round, too: queries that ask a few functions directly.
_DIRECT = 30
_TRIES = 60
# What makes Spark faster with few rows, and changes no answer.
_FAST = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.crossJoin.enabled": "true",
}
_ZONE = "spark.sql.session.timeZone"
# Settings that change what a query means, with their values; the first is the default.
_SETTINGS = {
    "spark.sql.ansi.enabled": ("true", "false"),
    _ZONE: ("UTC",) * 11 + ("America/New_York",),
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
_OVERFLOWS = ("error: [ARITHMETIC_OVERFLOW] long overflow", "error: [ARITHMETIC_OVERFLOW] Overflow in sum of decimals")
_SUMS = re.compile(r"\b(sum|avg|stddev|var)")
_DECIMAL = re.compile(r"Decimal\('[^']*'\)")
_NUMBER = re.compile(r"'(\S+) [0-9a-f]{16}'")


class _Found(Exception):
    """A search has its difference."""


class Kind:
    """Random queries."""

    name = "sql"
    unit = "queries"

    def round(self, random: Random, world: World, queries: int = _QUERIES) -> Round:
        """Compare queries over one set of tables."""
        spark = world.spark()
        from awsglue.context import GlueContext

        settings = _settings(random)
        with with_settings(spark, _FAST | settings):
            glue_context = GlueContext(spark.sparkContext)
            made = {**tables(random), direct.NAME: direct.table(random)}
            read_tables(glue_context, world.folder, {f"{name}0": table for name, table in made.items()})
        data = [batch.serialize().to_pybytes() for table in made.values() for batch in table.to_batches()]
        total, uncounted, asker = Round(), Round(), direct.Asker(random)
        for first in range(0, queries, _ALIKE):
            count = min(_ALIKE, queries - first)
            boundaries = [boundary(random) for _ in range(_BOUNDARIES * count // _QUERIES)]
            directly = [asker.query() for _ in range(_DIRECT * count // _QUERIES)]
            some = [query(random) for _ in range(count)]
            with with_settings(spark, _FAST | settings):

                def is_taken(asked: Query, counted: Round, settings: dict[str, str] = settings) -> bool:
                    question = [data, settings, str(asked)]
                    answers = answers_of(spark, asked, partial(world.answer, question))
                    self._compare(spark, asked, answers, settings, counted, tries=0 if world.is_search else _TRIES)
                    if world.is_search and not all(one.explained for one in counted.differences):
                        raise _Found
                    return answers is not None and answers[0] != ""

                try:
                    for asked in directly:
                        if _ZONE in settings:
                            is_taken(asked, uncounted)  # parts would be left to Spark as the whole is
                        else:
                            direct.ask(asked, partial(is_taken, counted=uncounted))
                    for asked, counted in [*((one, total) for one in some), *((one, uncounted) for one in boundaries)]:
                        is_taken(asked, counted)
                except _Found:
                    break
            settings = _settings(random)
        total.differences += uncounted.differences
        return total

    def _compare(
        self,
        spark: Any,
        asked: Query,
        answers: tuple[str, str] | None,
        settings: dict[str, str],
        total: Round,
        tries: int,
    ) -> None:
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

        small = shrink(asked, Query.smaller, differs, tries)
        if small is not asked:
            ours, original = answers_of(spark, small) or (ours, original)
        is_order = (
            _rounded(ours) == _rounded(original)
            or original.startswith(_OVERFLOWS)
            or _has_nulls_for_sums(ours, original)
        )
        why = _OF_ORDER if _SUMS.search(str(small)) and is_order else ""
        total.differences.append(Difference(f"{small} -- {settings}", ours[:1500], original[:1500], why))


def _settings(random: Random) -> dict[str, str]:
    chosen = {name: random.choice(values) for name, values in _SETTINGS.items()}
    return {
        name: value for name, value in chosen.items() if value != _SETTINGS[name][0] or name.endswith("ansi.enabled")
    }


def answers_of(
    spark: Any, asked: Query, answer: Callable[[Callable[[], str]], str] = lambda original: original()
) -> tuple[str, str] | None:
    """Return the rows of a query as text, as DuckDB and as Spark give them.

    Spark runs the query if `answer` calls what it is given. If DuckDB declines, both answers are empty. None if the
    query has no meaning.
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
    ours_text = text(ours, is_ordered=asked.is_ordered)
    return ours_text, answer(lambda: _original(frame, is_ordered=asked.is_ordered))


def _original(frame: Any, *, is_ordered: bool) -> str:
    try:
        table = frame.toArrow()
    except Exception as error:  # noqa: BLE001  any failure of a query
        return f"error: {str(error)[:300]}"
    return text(table, is_ordered=is_ordered)


def _ours(spark: Any, frame: Any) -> pa.Table | None:
    from gluepot.engine.native import run as native
    from gluepot.engine.pipeline import FrameInput, Pipeline, SplitInput

    with native.computed(spark, Pipeline(FrameInput(frame))) as given:
        if not isinstance(given, SplitInput):
            return None
        batches = [chunk.batch for split in given.splits for chunk in given.source.read(split)]
        return pa.Table.from_batches(batches, given.schema)


def _has_nulls_for_sums(ours: str, original: str) -> bool:
    """Return whether Spark's rows differ by nulls alone, where a partial sum of decimals did not fit."""
    mine, sparks = set(_DECIMAL.findall(ours)), set(_DECIMAL.findall(original))
    return sparks < mine and _DECIMAL.sub("None", ours) == _DECIMAL.sub("None", original)


def _rounded(rows: str) -> list[str]:
    """Return rows with nine digits of each floating-point number."""
    return sorted(_NUMBER.sub(lambda found: f"{float(found[1]):.9e}", rows).split("\n"))
