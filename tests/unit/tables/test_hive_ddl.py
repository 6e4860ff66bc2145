"""Hive's words for a table become Spark's."""

from __future__ import annotations

import pytest

from gluepot.tables.sql_catalog.hive_ddl import as_data_source


def squeezed(statement):
    return " ".join(as_data_source(statement).split())


@pytest.mark.parametrize(
    ("hive", "spark"),
    [
        ("CREATE TABLE t (a INT) STORED AS PARQUET", "CREATE TABLE t (a INT) USING parquet"),
        (
            (
                "create external table if not exists `shop`.orders (id bigint COMMENT 'the (id)', n map<string,int>)\n"
                "PARTITIONED BY (day string)\nSTORED AS ORC\nLOCATION 's3://lake/orders'"
            ),
            (
                "create table if not exists `shop`.orders (id bigint COMMENT 'the (id)', n map<string,int>) USING orc"
                " PARTITIONED BY (day string) LOCATION 's3://lake/orders'"
            ),
        ),
        (
            "CREATE TABLE shop.t STORED AS PARQUET AS SELECT id AS stored, 'STORED AS ORC' AS x FROM a",
            "CREATE TABLE shop.t USING parquet AS SELECT id AS stored, 'STORED AS ORC' AS x FROM a",
        ),
        (
            (
                "CREATE EXTERNAL TABLE t (a STRING, b STRING)\nROW FORMAT DELIMITED FIELDS TERMINATED BY '\\t'\n"
                "LINES TERMINATED BY '\\n'\nSTORED AS TEXTFILE\nLOCATION '/in'"
            ),
            (
                "CREATE TABLE t (a STRING, b STRING) USING csv OPTIONS ('sep' = '\\t', 'quote' = '',"
                " 'nullValue' = '\\\\N', 'lineSep' = '\\n') LOCATION '/in'"
            ),
        ),
        (
            "CREATE TABLE t (a INT) ROW FORMAT DELIMITED FIELDS TERMINATED BY '|'",
            "CREATE TABLE t (a INT) USING csv OPTIONS ('sep' = '|', 'quote' = '', 'nullValue' = '\\\\N')",
        ),
        (
            "CREATE TABLE t (a INT) STORED AS TEXTFILE",
            "CREATE TABLE t (a INT) USING csv OPTIONS ('sep' = '\\u0001', 'quote' = '', 'nullValue' = '\\\\N')",
        ),
        (
            (
                "CREATE EXTERNAL TABLE t (a INT) ROW FORMAT SERDE 'org.openx.data.jsonserde.JsonSerDe'"
                " WITH SERDEPROPERTIES ('ignore.malformed.json' = 'true') STORED AS TEXTFILE LOCATION '/in'"
            ),
            "CREATE TABLE t (a INT) USING json LOCATION '/in'",
        ),
        (
            (
                "CREATE EXTERNAL TABLE t (a STRING) ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde'"
                " WITH SERDEPROPERTIES ('separatorChar' = ';', 'quoteChar' = '\"') LOCATION '/in'"
            ),
            "CREATE TABLE t (a STRING) USING csv OPTIONS ('sep' = ';', 'quote' = '\"') LOCATION '/in'",
        ),
        (
            (
                "CREATE EXTERNAL TABLE t (a INT) ROW FORMAT SERDE 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHive"
                "SerDe' STORED AS INPUTFORMAT 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat' OUTPUTFORMAT"
                " 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat' LOCATION '/in'"
            ),
            "CREATE TABLE t (a INT) USING parquet LOCATION '/in'",
        ),
        (
            "-- a table\nCREATE /* new */ TABLE t (a INT) COMMENT 'x' STORED AS PARQUET TBLPROPERTIES ('k' = 'v')",
            "-- a table CREATE /* new */ TABLE t (a INT) USING parquet COMMENT 'x' TBLPROPERTIES ('k' = 'v')",
        ),
    ],
)
def test_a_table_of_a_hive_format_becomes_one_of_a_data_source(hive, spark):
    assert squeezed(hive) == spark


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 'CREATE TABLE t STORED AS PARQUET'",
        "CREATE TABLE t (a INT) USING parquet LOCATION '/in'",
        "CREATE TABLE t AS SELECT 1 AS a",
        "CREATE TABLE t (a INT)",
        "CREATE TABLE t (a INT) STORED AS SEQUENCEFILE",
        "CREATE TABLE t (a INT) ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.RegexSerDe' STORED AS TEXTFILE2",
        "CREATE TABLE t (a INT) STORED BY 'org.apache.iceberg.mr.hive.HiveIcebergStorageHandler'",
        "CREATE TABLE t",
        "CREATE VIEW v AS SELECT 1",
        "CREATE",
        "CREATE TABLE t (a INT STORED AS",
        "",
        "DROP TABLE t",
    ],
)
def test_every_other_statement_stays_as_it_is(statement):
    assert as_data_source(statement) == statement
