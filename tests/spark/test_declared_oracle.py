"""Declared records are read as Spark's own `from_json` and `from_csv` read them, wherever the docstrings claim it."""

import json
import random

import pyarrow as pa
import pytest
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from gluepot.frames.declared import DeclaredCsv, DeclaredJson

RECORDS = 3_000
JSON_DDL = (
    "id BIGINT, n INT, tiny TINYINT, d DOUBLE, f FLOAT, t STRING, ok BOOLEAN, price DECIMAL(10,2), day DATE, at TIMESTAMP,"
    " raw BINARY, s STRUCT<a: INT, l: ARRAY<DATE>, deep: STRUCT<t: STRING>>, l ARRAY<BIGINT>, ll ARRAY<ARRAY<INT>>,"
    " ls ARRAY<STRUCT<a: INT, l: ARRAY<INT>>>, m MAP<STRING, INT>, ms MAP<STRING, STRUCT<a: INT>>"
)
CSV_DDL = "id BIGINT, tiny TINYINT, d DOUBLE, t STRING, ok BOOLEAN, price DECIMAL(10,2), day DATE, at TIMESTAMP"

INTS = [0, 1, -7, 127, 2**31 - 1, -(2**31), 2**31, 2**53 + 1, 2**63 - 1, 2**63, 10**30]
NUMBERS = [*INTS, 0.5, -1.005, 2.675, 1e3, 12345.678, 0.001]
TIMES = ["2026-11-21", "2026-11-21T04:00:00Z", "2026-11-21 04:00:00.123456", "2024-02-29T23:59:59+01:00", "2026-02-30"]
ANY = [
    *NUMBERS,
    *TIMES,
    "",
    "x",
    "é\u2028\n/",
    "1",
    "NaN",
    "-Infinity",
    "AQI=",
    True,
    False,
    None,
    [],
    {},
    [1],
    {"a": 1},
]
IN_TEXT = ["x", "a b", "", "1", "-7", "128", "2.50", "1e3", "NaN", "true", "FALSE", "yes", *TIMES]


def nested(pick):
    """Values for the nested fields: shapes that fit, holding values that may not."""
    struct = {
        "a": pick(ANY),
        "l": [pick([*TIMES, None, "x"]) for _ in range(pick([0, 1, 3]))],
        "deep": {"t": pick(ANY)},
    }
    return {
        "s": pick([struct, struct, *ANY]),
        "l": pick([[pick(INTS) for _ in range(3)], [pick(ANY)], pick(ANY)]),
        "ll": [[pick(INTS)], [pick(ANY)], None],
        "ls": [{"a": pick(ANY), "l": [pick(ANY), pick(INTS)]}, pick([None, None, 1])],
        "m": pick([{"k": pick([1, 2, None])}, {}, 1, "x"]),
        "ms": {"k": {"a": pick([*NUMBERS, "x"])}, "l": None},
    }


def json_record(pick):
    """A record that fits here and there, without the values for which the docstring names a difference."""
    flat = {name: pick(ANY) for name in ("id", "n", "d", "f", "t", "ok", "price", "other")}
    document = {
        **flat,
        "tiny": pick([1, -128, 127, -129, 256, "x"]),
        "day": pick([one for one in ANY if one != "1"]),
        "at": pick([one for one in ANY if type(one) is not int or abs(one) < 2**32]),
        "raw": pick(["AQI=", "", "?", 1, None, []]),
        **nested(pick),
    }
    return json.dumps({name: value for name, value in document.items() if pick(range(8))}, ensure_ascii=False)


def csv_record(pick):
    values = [pick(["1", "+7", "2147483648", "1.0", "x", ""]), pick(["1", "128"]), *(pick(IN_TEXT) for _ in range(6))]
    quoted = [f'"{value}"' if pick([True, False]) else value for value in values]
    return ",".join(quoted[: pick([8, 8, 8, 9, 3])] + (["more"] if pick([True, False]) else []))


def ours(spark, declared, texts):
    chunk = declared.decoder().decode([text.encode() for text in texts], range(len(texts)), "t", "0")
    assert not chunk.errors
    rows = spark.createDataFrame(pa.Table.from_batches([chunk.batch]).append_column("i", pa.array(range(len(texts)))))
    return rows.select("i", F.struct(*declared.schema.names).alias("r"))


def as_json(frame):
    options = {"ignoreNullFields": "false", "timeZone": "UTC"}
    return [row.j for row in frame.sort("i").select(F.to_json("r", options).alias("j")).collect()]


@pytest.mark.parametrize("ddl", [JSON_DDL, "id BIGINT, n INT, d DOUBLE, day DATE, at TIMESTAMP", "l ARRAY<BIGINT>"])
def test_json_records_become_the_rows_of_from_json(glue_context, ddl):
    spark = glue_context.spark_session
    pick = random.Random(20261121).choice
    texts = [json_record(pick) for _ in range(RECORDS)]

    column = F.from_json("text", ddl, {"timeZone": "UTC"})
    sparks = spark.createDataFrame(list(enumerate(texts)), "i INT, text STRING").select("i", column.alias("r"))

    declared = DeclaredJson.of(to_arrow_schema(StructType.fromDDL(ddl)))
    differing = [
        (text, own, its)
        for text, own, its in zip(texts, as_json(ours(spark, declared, texts)), as_json(sparks), strict=True)
        if own != its
    ]
    assert differing == []


def test_csv_records_become_the_rows_of_from_csv(glue_context):
    spark = glue_context.spark_session
    pick = random.Random(20261121).choice
    texts = [csv_record(pick) for _ in range(RECORDS)]

    column = F.from_csv("text", CSV_DDL, {"timeZone": "UTC"})
    sparks = spark.createDataFrame(list(enumerate(texts)), "i INT, text STRING").select("i", column.alias("r"))

    declared = DeclaredCsv.of(to_arrow_schema(StructType.fromDDL(CSV_DDL)), ",")
    differing = [
        (text, own, its)
        for text, own, its in zip(texts, as_json(ours(spark, declared, texts)), as_json(sparks), strict=True)
        if own != its
    ]
    assert differing == []
