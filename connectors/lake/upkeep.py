"""Maintains lake tables: combines small files, expires snapshots, and removes files that nothing refers to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from gluepot.connectors.lake.commits import LakeCommit
from gluepot.connectors.lake.delta import DeltaTable
from gluepot.connectors.lake.iceberg import IcebergTable
from gluepot.connectors.lake.retention import Marked, expire_before_ms
from gluepot.connectors.lake.tables import LakeTable
from gluepot.connectors.lake.time_travel import timestamp_text
from gluepot.core.errors import ConfigError

_HOUR_SECS = 3600


@dataclass(frozen=True, slots=True)
class Upkeep:
    """The settings of a maintenance run.

    Args:
        keep_secs: how long old snapshots stay readable.
        orphan_secs: the age at which an unreferenced file counts as left over, and not as about to be committed.
        now_epoch: the current time, in seconds since 1970 UTC.
        dry_run: whether to only report what would be done.
    """

    keep_secs: float
    orphan_secs: float
    now_epoch: float
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """The outcome of one step; in a dry run, what it would do."""

    name: str
    figures: dict[str, int] = field(default_factory=dict)


def keep_up(spark: SparkSession, table: LakeTable, asked: Upkeep) -> Iterator[Step]:
    """Maintain a table, and yield each step when it is done.

    Afterwards, a replay of the last batch of a query is still recognised.

    Raises:
        ConfigError: the table has a rule of its own for expiring snapshots, or is one of Hudi.
        Exception: any error of Spark; the steps that were yielded stay done.
    """
    match table:
        case DeltaTable():
            return _delta(spark, table, asked)
        case IcebergTable():
            return _iceberg(spark, table, asked)
        case _:
            raise ConfigError(f"{table.name} is a table of Hudi, which compacts and cleans its tables while it writes.")


def _iceberg(spark: SparkSession, table: IcebergTable, asked: Upkeep) -> Iterator[Step]:
    if (own_ms := table.own_retention_ms(spark)) is not None:
        raise ConfigError(
            f"The branch main of {table.name} keeps snapshots for {own_ms} ms by a setting of its own, which Iceberg "
            "prefers to --keep-days; replace the branch without SNAPSHOT RETENTION."
        )
    catalog, _, name = table.name.partition(".")
    call, given = f"CALL {catalog}.system", f"table => '{name}'"
    if asked.dry_run:
        files = spark.table(f"{table.name}.files")
        yield Step("files", _figures(files.selectExpr("count(*) AS files", "sum(file_size_in_bytes) AS bytes").first()))
    else:
        yield Step("rewrite_data_files", _figures(spark.sql(f"{call}.rewrite_data_files({given})").first()))
    before = _literal(expire_before_ms(_ancestors(spark, table), _millis(asked.now_epoch - asked.keep_secs)))
    if asked.dry_run:
        older = spark.table(f"{table.name}.snapshots").where(f"committed_at < {before}")
        current = spark.table(f"{table.name}.refs")
        yield Step("expire_snapshots", {"snapshots": older.join(current, "snapshot_id", "left_anti").count()})
    else:
        expired = spark.sql(f"{call}.expire_snapshots({given}, older_than => {before})")
        yield Step("expire_snapshots", _figures(expired.first()))
    # Let Iceberg list the files: it reaches S3, while Hadoop's listing needs archives that are not installed.
    orphans = f"{call}.remove_orphan_files({given}, prefix_listing => true, dry_run => {str(asked.dry_run).lower()}"
    oldest = _literal(_millis(asked.now_epoch - asked.orphan_secs))
    yield Step("remove_orphan_files", {"files": spark.sql(f"{orphans}, older_than => {oldest})").count()})


def _ancestors(spark: SparkSession, table: IcebergTable) -> Iterator[Marked]:
    for snapshot in table.ancestors(spark):
        yield Marked(snapshot.timestampMillis(), LakeCommit.of(dict(snapshot.summary())))


def _delta(spark: SparkSession, table: DeltaTable, asked: Upkeep) -> Iterator[Step]:
    name = f"delta.`{table.name}`"
    if asked.dry_run:
        detail = spark.sql(f"DESCRIBE DETAIL {name}").selectExpr("numFiles AS files", "sizeInBytes AS bytes").first()
        yield Step("files", _figures(detail))
    else:
        metrics = spark.sql(f"OPTIMIZE {name}").selectExpr(
            "metrics.numFilesRemoved AS rewritten_files", "metrics.numFilesAdded AS added_files"
        )
        yield Step("optimize", _figures(metrics.first()))
    vacuum = f"VACUUM {name} RETAIN {asked.keep_secs / _HOUR_SECS:g} HOURS"
    if asked.dry_run:
        yield Step("vacuum", {"files": spark.sql(f"{vacuum} DRY RUN").count()})
    else:
        spark.sql(vacuum)
        yield Step("vacuum")


def _millis(epoch: float) -> int:
    return round(epoch * 1000)


def _literal(epoch_ms: int) -> str:
    return f"TIMESTAMP '{timestamp_text(epoch_ms)}'"


def _figures(row: Any) -> dict[str, int]:
    return {name: int(value or 0) for name, value in row.asDict().items()}
