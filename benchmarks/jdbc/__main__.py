"""python -m benchmarks.jdbc [rows]: rows per second of a PostgreSQL table, ours and Spark's JDBC reader, and the ratio.

One Spark session, one table, one connection each; the two take turns, and the fastest of five runs counts. "read"
draws every column of every row and keeps nothing: the best case of Spark, whose rows never leave the JVM. "as a frame"
brings them to the task that runs the steps of a DynamicFrame, "to Parquet" writes one snappy file. Spark fetches
10,000 rows a trip: by default PostgreSQL's Java driver holds the whole table in memory.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
from pyspark.sql import SparkSession

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from gluepot.servers import jars
from tests.postgresql import new_database, postgresql_endpoint

RUNS = 5
FETCH_ROWS = "10000"

TABLE = """
CREATE TABLE orders AS
SELECT n AS id, (n * 7919 % 100003)::int AS customer, (ARRAY['new', 'paid', 'sent', 'back'])[n % 4 + 1] AS status,
       md5(n::text) || '@example.org' AS email, (n % 100000 / 7.0)::numeric(12,2) AS amount,
       timestamptz '2026-01-01' + n * interval '1 second' AS created, n / 7.0::float8 AS ratio,
       CASE WHEN n % 5 = 0 THEN repeat('note ', 8) END AS note
FROM generate_series(1::bigint, {rows}::bigint) AS n
"""


def main() -> None:
    """Measure and print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    driver = ",".join(str(path) for path in jars.ensure("postgresql-jdbc"))
    builder = SparkSession.builder.master("local[2]").config("spark.jars", driver)
    glue = GlueContext(
        builder.config("spark.driver.host", "127.0.0.1").config("spark.ui.enabled", "false").getOrCreate()
    )
    with postgresql_endpoint() as server, new_database(server) as url, tempfile.TemporaryDirectory() as folder:
        with psycopg.connect(url) as connection:
            connection.execute(TABLE.format(rows=rows))
        connection.close()
        measure(sides(glue, url, Path(folder)), rows)
    glue.spark_session.stop()


def sides(glue: GlueContext, url: str, folder: Path) -> dict[str, dict[str, Callable[[], object]]]:
    """Return what is measured: by task, what each side does."""
    spark = glue.spark_session
    targets = (str(folder / f"{n}") for n in range(1000))
    stock = spark.read.format("jdbc").options(
        url=f"jdbc:postgresql://{url.rpartition('@')[2]}",
        user=url.partition("://")[2].partition("@")[0],
        dbtable="orders",
        driver="org.postgresql.Driver",
        fetchsize=FETCH_ROWS,
    )

    def ours() -> DynamicFrame:
        return glue.create_dynamic_frame.from_options("postgresql", {"url": url, "dbtable": "orders"})

    def ours_to_parquet() -> None:
        glue.write_dynamic_frame.from_options(ours(), "s3", {"path": next(targets)}, "glueparquet")

    return {
        "as a frame": {
            "ours": lambda: ours().count(),
            "spark": lambda: DynamicFrame.fromDF(stock.load(), glue, "stock").count(),
        },
        "read": {
            "ours": lambda: ours().count(),
            "spark": lambda: stock.load().write.format("noop").mode("overwrite").save(),
        },
        "to Parquet": {"ours": ours_to_parquet, "spark": lambda: stock.load().write.parquet(next(targets))},
    }


def measure(tasks: dict[str, dict[str, Callable[[], object]]], rows: int) -> None:
    """Run every side of every task in turns and print the fastest runs."""
    secs: dict[tuple[str, str], list[float]] = {(task, side): [] for task in tasks for side in tasks[task]}
    for _ in range(RUNS):
        for (task, side), taken in secs.items():
            began = time.perf_counter()
            tasks[task][side]()
            taken.append(time.perf_counter() - began)
    fastest = {which: min(runs) for which, runs in secs.items()}
    for task in tasks:
        for side in ("ours", "spark"):
            print(f"{task:>10} {side:>6}: {fastest[task, side]:6.2f} s, {rows / fastest[task, side]:>10,.0f} rows/s")
        print(f"{task:>10}  ratio: {fastest[task, 'spark'] / fastest[task, 'ours']:6.2f} x")


if __name__ == "__main__":
    main()
