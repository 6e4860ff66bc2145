"""What a table of a lake needs from time to time: larger files, fewer snapshots, no files that nothing refers to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from gluepot.connectors.lake.commits import LakeCommit
from gluepot.connectors.lake.delta import DeltaTable
from gluepot.connectors.lake.iceberg import IcebergTable
from gluepot.connectors.lake.retention import Marked, expire_before_ms
from gluepot.connectors.lake.time_travel import timestamp_text
from gluepot.core.errors import ConfigError

_HOUR_SECS = 3600


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What is to be done.

    Args:
        keep_secs: how long what a table was stays readable.
        orphan_secs: how old a file must be to count as left behind, and not as one that a writer is about to commit.
        now_epoch: in seconds since 1970 UTC.
        dry_run: say what would be done, and do nothing.
    """

    keep_secs: float
    orphan_secs: float
    now_epoch: float
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """What one step did, or would do."""

    name: str
    figures: dict[str, int] = field(default_factory=dict)


def keep_up(spark: SparkSession, table: DeltaTable | IcebergTable, asked: Upkeep) -> Iterator[Step]:
    """Do what a table needs, and yield each step when it is done.

    A replay of the last batch of a query is recognised after it as before.

    Raises:
        ConfigError: the table expires snapshots by a rule of its own.
        Exception: whatever Spark says; steps that were yielded stay done.
    """
    return _delta(spark, table, asked) if isinstance(table, DeltaTable) else _iceberg(spark, table, asked)


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
    # Listed by Iceberg, which reaches S3 where Hadoop's listing needs archives that nobody has.
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
