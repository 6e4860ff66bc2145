"""The settings of Spark SQL under which a query may be translated. Pure.

A plan is Spark's, so settings of its parser, its analysis and its optimiser are in the plan already. A setting that
changes what an expression or a reader gives is not. So a setting with another value than Spark's default leaves the
query to Spark, unless it is listed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_SQL = "spark.sql."
# The tester `tests/differential/kinds/sql.py` sets these to all their values, or they only matter for what is not
# translated: patterns of dates, INSERT, and names in nested WITH.
_COVERED = frozenset(
    {
        "spark.sql.ansi.enabled",
        "spark.sql.caseSensitive",
        "spark.sql.session.timeZone",  # plans with timestamps are translated in UTC alone
        "spark.sql.legacy.timeParserPolicy",
        "spark.sql.legacy.ctePrecedencePolicy",
        "spark.sql.legacy.sizeOfNull",  # a field of `Size`
        "spark.sql.parquet.inferTimestampNTZ.enabled",
        "spark.sql.storeAssignmentPolicy",
    }
)
# How Spark runs a query, what it keeps, where it finds tables and how it writes files: never which rows a query has.
_HARMLESS = frozenset(
    {
        "spark.sql.artifact.isolation.enabled",
        "spark.sql.autoBroadcastJoinThreshold",
        "spark.sql.broadcastTimeout",
        "spark.sql.crossJoin.enabled",
        "spark.sql.defaultCatalog",
        "spark.sql.extensions",
        "spark.sql.files.maxPartitionBytes",
        "spark.sql.files.maxPartitionNum",
        "spark.sql.files.maxRecordsPerFile",
        "spark.sql.files.minPartitionNum",
        "spark.sql.files.openCostInBytes",
        "spark.sql.filesourceTableRelationCacheSize",
        "spark.sql.hive.filesourcePartitionFileCacheSize",
        "spark.sql.join.preferSortMergeJoin",
        "spark.sql.leafNodeDefaultParallelism",
        "spark.sql.maxPlanStringLength",
        "spark.sql.orc.compression.codec",
        "spark.sql.parquet.columnarReaderBatchSize",
        "spark.sql.parquet.compression.codec",
        "spark.sql.parquet.enableVectorizedReader",
        "spark.sql.parquet.fieldId.read.enabled",  # our files have no such ids; libraries of lakes set it
        "spark.sql.parquet.filterPushdown",
        "spark.sql.parquet.outputTimestampType",
        "spark.sql.parquet.writeLegacyFormat",
        "spark.sql.python.filterPushdown.enabled",
        "spark.sql.sources.commitProtocolClass",
        "spark.sql.sources.default",
        "spark.sql.sources.outputCommitterClass",
        "spark.sql.sources.partitionOverwriteMode",
        "spark.sql.warehouse.dir",
    }
)
_HARMLESS_PREFIXES = (
    "spark.sql.adaptive.",
    "spark.sql.catalog.",
    "spark.sql.cbo.",
    "spark.sql.codegen.",
    "spark.sql.debug.",
    "spark.sql.event.",
    "spark.sql.execution.arrow.",
    "spark.sql.hive.metastore",
    "spark.sql.iceberg.",
    "spark.sql.inMemoryColumnarStorage.",
    "spark.sql.optimizer.",
    "spark.sql.redaction.",
    "spark.sql.repl.",
    "spark.sql.shuffle.",
    "spark.sql.sources.bucketing.",
    "spark.sql.sources.parallelPartitionDiscovery.",
    "spark.sql.statistics.",
    "spark.sql.streaming.",
    "spark.sql.ui.",
)


def to_compare(names: Iterable[str]) -> list[str]:
    """Return the names of settings whose values must be Spark's defaults, in order."""
    return sorted(
        name
        for name in names
        if name.startswith(_SQL)
        and name not in _COVERED
        and name not in _HARMLESS
        and not name.startswith(_HARMLESS_PREFIXES)
    )


def uncovered(settings: Mapping[str, str], defaults: Mapping[str, str]) -> str | None:
    """Return the first setting that may change what a query means in a way that is not covered; None if none does.

    Args:
        settings: those that a session has been given.
        defaults: Spark's defaults of those that `to_compare` names; without an entry if Spark has none.
    """
    return next((name for name in to_compare(settings) if settings[name] != defaults.get(name)), None)
