"""Queries of TPC-H and TPC-DS give in DuckDB what they give in Spark."""

from __future__ import annotations

import pytest

from benchmarks.tpc.suite import make_tables, queries_of
from tests.native_tables import answer_of, plain

pytestmark = pytest.mark.long


def answers(spark, query):
    """Return what DuckDB and Spark say to a query, sorted; None for DuckDB if the query is left to Spark."""
    frame = spark.sql(query)
    found = answer_of(spark, frame)
    if found is None:
        return None, None
    return sorted(map(plain, found)), sorted(plain(row) for row in frame.collect())


@pytest.mark.parametrize(("suite", "least"), [("tpch", 22), ("tpcds", 97)])
def test_queries_of_the_tpc(glue_context, tmp_path, suite, least):
    spark = glue_context.spark_session
    tables = make_tables(tmp_path, suite, 0.01)
    for name in tables:
        frame = glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [f"{tmp_path}/{name}.parquet"]}, format="parquet"
        )
        frame.toDF().createOrReplaceTempView(name)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")  # Spark's own joins would need more memory
    equal = set()
    for name, query in queries_of(suite, tables).items():
        found, wanted = answers(spark, query)
        if found is not None:
            assert found == wanted, name
            equal.add(name)
    spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    assert len(equal) >= least
