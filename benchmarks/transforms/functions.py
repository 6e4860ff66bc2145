"""python -m benchmarks.transforms.functions [records]: Map and Filter with a Python function, against an RDD's.

One Spark on two cores, one cached DataFrame. Each way counts what the function gave, then writes it as Parquet; they
run in turn, three times; the fastest run counts. The RDD is told the schema of what it gives, ours finds it out.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame

RUNS = 3
SCHEMA = "id long, page string, price double, country string, agent string, total double"
Record = Mapping[str, Any]


def with_total(record: Any) -> Any:
    """Return the record with one field more, as a user's function does."""
    record["total"] = record["price"] * 1.19
    return record


def is_tenth(record: Record) -> bool:
    """Tell whether it is every tenth record."""
    return bool(record["id"] % 10 == 0)


def records(spark: SparkSession, count: int) -> DataFrame:
    """Return click events, kept in memory."""
    frame = spark.range(0, count, 1, 4).selectExpr(
        "id", "concat('/products/', id % 1000) AS page", "id % 977 / 8D AS price",
        "element_at(array('DE', 'FR', 'US'), CAST(id % 3 + 1 AS INT)) AS country",
        "'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36' AS agent",
    ).cache()  # fmt: skip
    frame.count()
    return frame


def ways(context: GlueContext, given: DataFrame) -> dict[str, dict[str, Callable[[str], Any]]]:
    """Return what is timed, by what is measured and by side; each takes a folder that is not there."""
    frame = DynamicFrame.fromDF(given, context, "events")

    def written(what: DynamicFrame, path: str) -> None:
        context.write_dynamic_frame.from_options(what, "s3", {"path": path}, "glueparquet")

    def as_parquet(rdd: Any, schema: Any, path: str) -> None:
        rdd.toDF(schema).write.parquet(path)

    def mapped() -> Any:
        return given.rdd.map(lambda row: with_total(row.asDict()))

    def kept() -> Any:
        return given.rdd.filter(is_tenth)

    return {
        "map, count": {"rdd": lambda _: mapped().count(), "ours": lambda _: frame.map(with_total).count()},
        "map, write": {
            "rdd": lambda path: as_parquet(mapped(), SCHEMA, path),
            "ours": lambda path: written(frame.map(with_total), path),
        },
        "filter, count": {"rdd": lambda _: kept().count(), "ours": lambda _: frame.filter(is_tenth).count()},
        "filter, write": {
            "rdd": lambda path: as_parquet(kept(), given.schema, path),
            "ours": lambda path: written(frame.filter(is_tenth), path),
        },
    }


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    spark = SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1").getOrCreate()
    context = GlueContext(spark)
    measured = ways(context, records(spark, count))
    with tempfile.TemporaryDirectory() as folder:
        for what, sides in measured.items():
            secs: dict[str, list[float]] = {side: [] for side in sides}
            for run in range(RUNS):
                for side, way in sides.items():
                    began = time.perf_counter()
                    way(str(Path(folder) / f"{what}-{side}-{run}"))
                    secs[side].append(time.perf_counter() - began)
            ours, theirs = min(secs["ours"]), min(secs["rdd"])
            print(
                f"{what:>14}: ours {ours:6.2f} s, rdd {theirs:6.2f} s, {theirs / ours:.2f} x as fast, {count:,} records"
            )
    spark.stop()


if __name__ == "__main__":
    main()
