"""Queries that run in DuckDB give what Spark gives; all others run in Spark."""

from __future__ import annotations

import json

import pytest

from awsglue import DynamicFrame
from tests.native_tables import answer_of

ORDERS = [
    {"id": 1, "country": "DE", "user": 7, "price": 2.5, "text": "12", "paid": True, "tags": ["a"]},
    {"id": 2, "country": "DE", "user": 7, "price": -0.4, "text": "-3.25", "paid": None},
    {"id": 3, "country": "FR", "user": 8, "price": None, "text": None, "paid": False},
    {"id": 4, "country": None, "user": None, "price": 1e15, "text": "007", "paid": True},
    {"id": 5, "country": "größe '\"", "user": -1, "price": 0.5, "text": "1", "paid": True, "late": 1},
    {"id": 6, "country": "", "user": 9223372036854775807, "price": 3.5, "text": "0", "paid": False},
]
NATIVE = [
    "SELECT count(*) AS n FROM orders",
    "SELECT country, count(*) AS n, count(DISTINCT user) AS users FROM orders GROUP BY country",
    "SELECT paid, country, sum(id) AS ids, max(country) AS most, min(id) AS least FROM orders GROUP BY country, paid",
    "SELECT upper.country, n FROM (SELECT country, count(price) AS n FROM orders GROUP BY country) AS upper",
    "SELECT country, avg(id) AS mean, avg(price) AS prices, sum(price) AS total FROM orders GROUP BY country",
    "SELECT sum(CAST(round(price * 1) AS BIGINT)) AS n FROM orders WHERE id < 4 OR country = 'größe \\'\"'",
    "SELECT max(CAST(price AS BIGINT)) AS n, min(CAST(price AS INT)) AS m FROM orders WHERE price < 100",
    "SELECT sum(CAST(text AS DOUBLE)) AS n FROM orders WHERE NOT (country = 'FR') AND id IN (1, 2, 5)",
    "SELECT CAST(id AS STRING) AS s, CASE WHEN id > 2 THEN 'l' ELSE country END AS c, count(*) AS n FROM orders GROUP BY 1, 2",
    "SELECT coalesce(country, 'none') AS c, sum(if(paid, 1, 0)) AS n FROM orders GROUP BY 1",
    "SELECT sum(late) AS n, count(late) AS m FROM orders WHERE user IS NOT NULL",
    "SELECT country, count(*) AS n FROM orders WHERE id > 99 GROUP BY country",
    "SELECT sum(id) AS n FROM orders WHERE id > 99",
    "SELECT country, 1 AS one, count(*) AS n FROM (SELECT * FROM orders UNION ALL SELECT * FROM orders) GROUP BY country",
]
IN_SPARK = [
    "SELECT * FROM orders",
    "SELECT country, count(*) AS n FROM orders GROUP BY country LIMIT 2",
    "SELECT price, count(*) AS n FROM orders GROUP BY price",
    "SELECT upper(country) AS c, count(*) AS n FROM orders GROUP BY 1",
    "SELECT count(*) AS n FROM orders WHERE country LIKE 'D/_%' ESCAPE '/'",
    "SELECT country, collect_set(user) AS users FROM orders GROUP BY country",
    "SELECT first(tags) AS t, count(*) AS n FROM orders",
    "SELECT count(*) AS n FROM range(3)",
    "SELECT count(*) AS n FROM orders WHERE rand() < 0.5",
    "SELECT round(price, 1) AS p, count(*) AS n FROM orders GROUP BY 1",
    "SELECT id, sum(price) OVER (PARTITION BY country ORDER BY id) AS n FROM orders",
    "SELECT country, id, ntile(2) OVER (PARTITION BY country ORDER BY id) AS n FROM orders",
]
# Spark reads these texts as numbers, or says that it cannot; DuckDB would do otherwise.
ODD_TEXTS = ["1e3", " 5 ", "1_000", "Infinity", "12d"]


@pytest.fixture
def new_orders(glue_context, tmp_path):
    def new(records):
        for number, part in enumerate((records[::2], records[1::2])):
            (tmp_path / f"{number}.json").write_text("".join(json.dumps(one) + "\n" for one in part))
        frame = glue_context.create_dynamic_frame.from_options("s3", {"paths": [str(tmp_path)]}, format="json")
        frame.toDF().createOrReplaceTempView("orders")
        return glue_context.spark_session

    return new


def test_the_result_is_that_of_spark(new_orders):
    spark = new_orders(ORDERS)
    for statement in NATIVE:
        frame = spark.sql(statement)
        found = answer_of(spark, frame)

        assert found is not None, statement
        assert sorted(map(repr, found)) == sorted(repr(tuple(row)) for row in frame.collect()), statement


def test_blank_texts_are_null_unless_the_cast_is_of_ansi_mode(new_orders):
    spark = new_orders([{"id": n, "text": text} for n, text in enumerate(["", "  ", "7", None])])
    casts = "CAST(max(%s(text AS INT)) AS STRING), sum(%s(text AS DOUBLE)), max(%s(text AS DATE)), sum(%s(text AS DECIMAL(9,2)))"

    def both(function):
        frame = spark.sql(f"SELECT {casts.replace('%s', function)} FROM orders WHERE text <> '7' OR id < 9 AND id <> 2")
        return answer_of(spark, frame), frame

    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        found, frame = both("CAST")
        assert found == [tuple(row) for row in frame.collect()] == [(None, None, None, None)]
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
    assert both("CAST")[0] is None
    found, frame = both("TRY_CAST")
    assert found == [tuple(row) for row in frame.collect()] == [(None, None, None, None)]


def test_other_queries_run_in_spark(new_orders):
    spark = new_orders(ORDERS)
    for statement in IN_SPARK:
        assert answer_of(spark, spark.sql(statement)) is None, statement


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_a_text_that_is_not_plainly_a_number_is_left_to_spark(new_orders, text):
    spark = new_orders([*ORDERS, {"id": 7, "text": text}])
    assert answer_of(spark, spark.sql("SELECT sum(CAST(text AS DOUBLE)) AS n FROM orders")) is None


def test_a_sum_that_leaves_its_type_is_left_to_spark(new_orders):
    spark = new_orders(ORDERS)
    assert answer_of(spark, spark.sql("SELECT sum(user) AS n FROM orders")) is None


def test_a_write_has_the_result(new_orders, glue_context, tmp_path):
    spark = new_orders(ORDERS)
    summed = spark.sql("SELECT country, count(DISTINCT user) AS users FROM orders GROUP BY country")
    glue_context.write_dynamic_frame.from_options(
        DynamicFrame.fromDF(summed, glue_context), "s3", {"path": str(tmp_path / "table")}, format="glueparquet"
    )

    written = spark.read.parquet(f"{tmp_path}/table/*.parquet")

    assert sorted(map(repr, written.collect())) == sorted(map(repr, summed.collect()))
    assert [field.dataType for field in written.schema] == [field.dataType for field in summed.schema]
