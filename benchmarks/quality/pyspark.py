"""The other side: the same checks by hand, as few passes as PySpark needs: one aggregation and three groupings."""

from __future__ import annotations

import json
import sys
import time
from math import log
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from benchmarks.quality.rules import COUNTRIES, STATES
from benchmarks.side import Drain, serve


def main(cores: str) -> None:
    """Evaluate the checks and write down which hold."""
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", cores).getOrCreate()

    def evaluate(given: Drain) -> float:
        began = time.perf_counter()
        Path(given.checkpoint).write_text(json.dumps(checks(spark.read.parquet(given.table))))
        return began

    serve(evaluate)


def checks(frame: DataFrame) -> list[bool]:
    """Return for each rule whether it holds."""
    rows = sql.count("*")

    def complete(name: str) -> Column:
        return sql.count(name) / rows

    def share(predicate: Column) -> Column:
        return sql.count_if(predicate) / rows

    column, length = sql.col, sql.length
    found = frame.agg(
        rows.alias("rows"),
        *(complete(name).alias(f"complete_{name}") for name in ("event_id", "user_id", "country", "status", "page")),
        complete("price").alias("complete_price"),
        complete("score").alias("complete_score"),
        share(column("country").isin(*COUNTRIES)).alias("countries"),
        share(column("status").isin(*STATES)).alias("states"),
        sql.min("duration_ms").alias("least_ms"),
        sql.max("duration_ms").alias("most_ms"),
        sql.count("duration_ms").alias("some_ms"),
        sql.min("user_id").alias("least_user"),
        sql.max("score").alias("most_score"),
        share(column("price") > 0).alias("priced"),
        share(column("page").rlike("^/[a-z]+/[0-9]+$")).alias("pages"),
        sql.min(length("page")).alias("shortest_page"),
        sql.max(length("page")).alias("longest_page"),
        share(length("country") == 2).alias("short_countries"),
        sql.max(length("status")).alias("longest_status"),
        sql.avg("duration_ms").alias("mean_ms"),
        sql.avg("price").alias("mean_price"),
        sql.avg("score").alias("mean_score"),
        sql.sum("duration_ms").alias("sum_ms"),
        sql.stddev_pop("duration_ms").alias("deviation_ms"),
        sql.stddev_pop("price").alias("deviation_price"),
        sql.corr("price", "score").alias("correlation"),
    ).first()
    assert found is not None
    once = frame.groupBy("event_id").count().agg(sql.count_if(column("count") == 1)).first()
    users = frame.select("user_id").distinct().count()
    countries = frame.select("country").distinct().count()
    weights = [row["count"] / found.rows for row in frame.groupBy("status").count().collect()]
    assert once is not None
    return [
        found.rows > 1000,
        len(frame.columns) == 8,
        found.complete_event_id == 1,
        once[0] == found.rows,
        *(found[f"complete_{name}"] == 1 for name in ("user_id", "country", "status", "page")),
        found.complete_price > 0.85,
        found.complete_score > 0.99,
        countries == 8,
        users > 1000,
        -sum(weight * log(weight) for weight in weights) > 1,
        found.countries == 1,
        found.states == 1,
        found.least_ms > -1 and found.most_ms < 30_000 and found.some_ms == found.rows,
        found.least_user >= 0,
        found.most_score <= 1,
        found.priced > 0.8,
        found.pages == 1,
        found.shortest_page > 3 and found.longest_page < 40,
        found.short_countries == 1,
        found.longest_status <= 4,
        10_000 < found.mean_ms < 20_000,
        100 < found.mean_price < 400,
        0.4 < found.mean_score < 0.6,
        found.sum_ms > 1000,
        found.deviation_ms < 10_000,
        found.deviation_price < 1000,
        found.correlation < 0.5,
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
