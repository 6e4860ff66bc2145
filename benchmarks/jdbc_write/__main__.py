"""python -m benchmarks.jdbc_write [rows]: rows per second into a MariaDB table, ours and others', and the ratios.

One Spark session, one server, and a frame that Spark holds in memory; the sides take turns, and the fastest of three
runs counts. "ours" is `write_dynamic_frame` with its staging tables and its commit record, by LOAD DATA and by INSERT.
"spark" is `write.jdbc` with MySQL's Java driver: as it is, with `rewriteBatchedStatements` and 10,000 rows a trip,
which is its fastest setting. "client" is PyMySQL's `executemany` in a loop over the same rows, which keeps no promise.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import pymysql
from pyspark.sql import DataFrame, SparkSession

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from gluepot.core.sockets import LOOPBACK
from gluepot.servers import jars
from tests.mariadb import mariadb_server, new_schema, schema_of, sql

RUNS = 3
ROWS_PER_TRIP = 10_000
COLUMNS = (
    "id",
    "cast(id * 7919 % 100003 AS int) AS customer",
    "element_at(array('new', 'paid', 'sent', 'back'), cast(id % 4 + 1 AS int)) AS status",
    "concat(md5(cast(id AS string)), '@example.org') AS email",
    "cast(id % 100000 / 7.0 AS decimal(12, 2)) AS amount",
    "timestamp_seconds(1767225600 + id) AS created",
    "id / 7.0D AS ratio",
    "if(id % 5 = 0, repeat('note ', 8), NULL) AS note",
)
TABLE = """
CREATE TABLE orders (id BIGINT, customer INT, status TEXT, email TEXT, amount DECIMAL(12, 2), created DATETIME(6),
  ratio DOUBLE, note TEXT)
"""


def main() -> None:
    """Measure and print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    driver = ",".join(str(path) for path in jars.ensure("mysql-jdbc"))
    builder = SparkSession.builder.master("local[2]").config("spark.jars", driver)
    builder = builder.config("spark.sql.session.timeZone", "UTC").config("spark.ui.enabled", "false")
    glue = GlueContext(builder.config("spark.driver.host", LOOPBACK).getOrCreate())
    frame = glue.spark_session.range(rows).selectExpr(*COLUMNS).cache()
    frame.count()
    local = [tuple(row) for row in frame.toLocalIterator()]
    with mariadb_server() as port, new_schema(port) as url:
        sql(url, TABLE)
        measure(sides(glue, url, frame, local), url, rows)
    glue.spark_session.stop()


def sides(
    glue: GlueContext, url: str, frame: DataFrame, local: Sequence[tuple[object, ...]]
) -> dict[str, Callable[[], object]]:
    """Return what is measured: by name, what each side does."""

    def ours() -> None:
        given = DynamicFrame.fromDF(frame, glue, "orders")
        glue.write_dynamic_frame.from_options(given, "mysql", {"url": url, "dbtable": "orders"})

    def ours_by_insert() -> None:
        sql(url, "SET GLOBAL local_infile = 0")
        ours()
        sql(url, "SET GLOBAL local_infile = 1")

    def spark(**options: str) -> None:
        writer = frame.write.format("jdbc").mode("append").options(dbtable="orders", driver="com.mysql.cj.jdbc.Driver")
        writer.options(url=f"{url}&{'&'.join(f'{name}={value}' for name, value in options.items())}").save()

    def spark_rewriting() -> None:
        writer = frame.write.format("jdbc").mode("append").options(dbtable="orders", driver="com.mysql.cj.jdbc.Driver")
        writer.options(url=f"{url}&rewriteBatchedStatements=true", batchsize=str(ROWS_PER_TRIP)).save()

    def client() -> None:
        port = int(url.split(":")[3].partition("/")[0])
        with (
            pymysql.connect(
                host=LOOPBACK, port=port, user="root", database=schema_of(url), ssl_disabled=True
            ) as opened,
            opened.cursor() as cursor,
        ):
            for start in range(0, len(local), ROWS_PER_TRIP):
                places = ", ".join(["%s"] * len(COLUMNS))
                cursor.executemany(f"INSERT INTO orders VALUES ({places})", local[start : start + ROWS_PER_TRIP])
            opened.commit()

    return {
        "ours": ours,
        "ours by INSERT": ours_by_insert,
        "spark": spark,
        "spark rewriting": spark_rewriting,
        "client": client,
    }


def measure(tasks: dict[str, Callable[[], object]], url: str, rows: int) -> None:
    """Run every side in turns, check what it wrote, and print the fastest runs."""
    secs: dict[str, list[float]] = {side: [] for side in tasks}
    for _ in range(RUNS):
        for side, taken in secs.items():
            sql(url, "TRUNCATE orders")
            began = time.perf_counter()
            tasks[side]()
            taken.append(time.perf_counter() - began)
            if sql(url, "SELECT COUNT(*), COUNT(DISTINCT id) FROM orders") != [(rows, rows)]:
                raise SystemExit(f"{side} did not write every row once")
    fastest = {side: min(runs) for side, runs in secs.items()}
    for side, best in fastest.items():
        print(
            f"{side:>15}: {best:6.2f} s, {rows / best:>10,.0f} rows/s, ours is {best / fastest['ours']:.2f} x as fast"
        )


if __name__ == "__main__":
    main()
