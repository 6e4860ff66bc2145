"""python -m benchmarks.jdbc_write [rows] [database]: rows per second into a table, ours and others', and the ratios.

The database is `mariadb`, which we reach by its own client, or `h2`, which we reach by its Java driver, as we do SQL
Server, Oracle and others. One Spark session, one server, and a frame that Spark holds in memory; the sides take turns,
and the fastest of three runs counts. "ours" is `write_dynamic_frame` with its staging tables and its commit record; for
MariaDB by LOAD DATA and by INSERT. "spark" is `write.jdbc` with the Java driver as it is. For MariaDB "spark rewriting"
has `rewriteBatchedStatements` and 10,000 rows a trip, which is its fastest setting, and "client" is PyMySQL's
`executemany` in a loop over the same rows; for H2 "spark by 10,000" has as many rows a trip as ours. None of these
keeps a promise.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import pymysql
from pyspark.sql import DataFrame, SparkSession

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from gluepot.core.sockets import LOOPBACK
from gluepot.servers import jars
from tests.h2 import ARCHIVE, h2_server
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
H2_TABLE = """
CREATE TABLE orders ("id" BIGINT, "customer" INT, "status" VARCHAR, "email" VARCHAR, "amount" DECIMAL(12, 2),
  "created" TIMESTAMP(6), "ratio" DOUBLE PRECISION, "note" VARCHAR)
"""
H2_MB = 1024
"""Of the server's heap, as its tables are in memory."""


class Database(NamedTuple):
    """A database with an empty table.

    Args:
        sides: what is measured, each by its name; ours is "ours".
        empty: empties the table.
        counts: returns how many rows and how many ids are in the table.
    """

    sides: Mapping[str, Callable[[], object]]
    empty: Callable[[], object]
    counts: Callable[[], tuple[int, int]]


def main(rows: int = 500_000, name: str = "mariadb") -> None:
    """Measure and print."""
    driver, database = DATABASES[name]
    archives = ",".join(str(path) for path in jars.ensure(driver))
    builder = SparkSession.builder.master("local[2]").config("spark.jars", archives)
    builder = builder.config("spark.sql.session.timeZone", "UTC").config("spark.ui.enabled", "false")
    glue = GlueContext(builder.config("spark.driver.host", LOOPBACK).getOrCreate())
    frame = glue.spark_session.range(rows).selectExpr(*COLUMNS).cache()
    frame.count()
    with database(glue, frame) as made:
        measure(made, rows)
    glue.spark_session.stop()


@contextmanager
def mariadb(glue: GlueContext, frame: DataFrame) -> Iterator[Database]:
    """Yield a database of MariaDB."""
    local = [tuple(row) for row in frame.toLocalIterator()]
    with mariadb_server() as port, new_schema(port) as url:
        sql(url, TABLE)
        ours = partial(write_ours, glue, frame, "mysql", {"url": url})
        spark = partial(write_spark, frame, driver="com.mysql.cj.jdbc.Driver")

        def ours_by_insert() -> None:
            sql(url, "SET GLOBAL local_infile = 0")
            ours()
            sql(url, "SET GLOBAL local_infile = 1")

        def client() -> None:
            places = ", ".join(["%s"] * len(COLUMNS))
            schema = schema_of(url)
            with (
                pymysql.connect(host=LOOPBACK, port=port, user="root", database=schema, ssl_disabled=True) as opened,
                opened.cursor() as cursor,
            ):
                for start in range(0, len(local), ROWS_PER_TRIP):
                    cursor.executemany(f"INSERT INTO orders VALUES ({places})", local[start : start + ROWS_PER_TRIP])
                opened.commit()

        yield Database(
            {
                "ours": ours,
                "ours by INSERT": ours_by_insert,
                "spark": partial(spark, url=url),
                "spark rewriting": partial(
                    spark, url=f"{url}&rewriteBatchedStatements=true", batchsize=str(ROWS_PER_TRIP)
                ),
                "client": client,
            },
            partial(sql, url, "TRUNCATE orders"),
            lambda: sql(url, "SELECT COUNT(*), COUNT(DISTINCT id) FROM orders")[0],
        )


@contextmanager
def h2(glue: GlueContext, frame: DataFrame) -> Iterator[Database]:
    """Yield a database of H2."""
    with h2_server(H2_MB) as server:
        made = server.new_database()
        made.sql(H2_TABLE)
        spark = partial(write_spark, frame, url=made.url, driver="org.h2.Driver")

        def counts() -> tuple[int, int]:
            ((rows, ids),) = made.sql('SELECT COUNT(*), COUNT(DISTINCT "id") FROM orders')
            return int(rows or 0), int(ids or 0)

        yield Database(
            {
                "ours": partial(write_ours, glue, frame, "jdbc", made.options),
                "spark": spark,
                "spark by 10,000": partial(spark, batchsize=str(ROWS_PER_TRIP)),
            },
            partial(made.sql, "TRUNCATE TABLE orders"),
            counts,
        )


DATABASES = {"mariadb": ("mysql-jdbc", mariadb), "h2": (ARCHIVE, h2)}
"""By the name of a database: the archive with its Java driver, and what starts it."""


def write_ours(glue: GlueContext, frame: DataFrame, kind: str, options: Mapping[str, str]) -> None:
    """Write rows as a script does."""
    given = DynamicFrame.fromDF(frame, glue, "orders")
    glue.write_dynamic_frame.from_options(given, kind, {**options, "dbtable": "orders"})


def write_spark(frame: DataFrame, **options: str) -> None:
    """Write rows by Spark's own JDBC writer."""
    frame.write.format("jdbc").mode("append").options(dbtable="orders", **options).save()


def measure(database: Database, rows: int) -> None:
    """Run every side in turns, check what it wrote, and print the fastest runs."""
    secs: dict[str, list[float]] = {side: [] for side in database.sides}
    for _ in range(RUNS):
        for side, taken in secs.items():
            database.empty()
            began = time.perf_counter()
            database.sides[side]()
            taken.append(time.perf_counter() - began)
            if database.counts() != (rows, rows):
                raise SystemExit(f"{side} did not write every row once")
    fastest = {side: min(runs) for side, runs in secs.items()}
    for side, best in fastest.items():
        print(
            f"{side:>15}: {best:6.2f} s, {rows / best:>10,.0f} rows/s, ours is {best / fastest['ours']:.2f} x as fast"
        )


if __name__ == "__main__":
    if sys.argv[2:3] not in [[], *([name] for name in DATABASES)]:
        raise SystemExit(f"Name one of {', '.join(DATABASES)}.")
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
