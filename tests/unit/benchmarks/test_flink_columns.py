from __future__ import annotations

from benchmarks.drain.flink import flink_columns


def test_structs_become_rows_and_names_that_flink_reserves_are_quoted():
    spark = "zip STRING, at STRUCT<lat: DOUBLE, tags: ARRAY<STRING>>"

    assert flink_columns(spark) == "`zip` STRING, `at` ROW<`lat` DOUBLE, `tags` ARRAY<STRING>>"
