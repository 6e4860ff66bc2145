"""Values on their way to Redshift and back."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from gluepot.connectors.jdbc.keys import Family
from gluepot.connectors.jdbc.redshift.columns import Column, arrow_schema, typed
from gluepot.connectors.jdbc.redshift.types import (
    BINARY,
    SUPER,
    TEXT,
    converted,
    fingerprint,
    merged_kinds,
    staged_type,
    stored,
)
from gluepot.core.errors import PermanentError
from gluepot.frames.schema.glue_types import TIMESTAMP


@pytest.mark.parametrize(
    ("array", "kind", "sent"),
    [
        (pa.array([1], pa.int8()), "smallint", pa.int32()),
        (pa.array([1], pa.int16()), "smallint", pa.int32()),
        (pa.array([1], pa.uint16()), "integer", pa.int32()),
        (pa.array([1], pa.int32()), "integer", pa.int32()),
        (pa.array([1], pa.uint32()), "bigint", pa.int64()),
        (pa.array([1], pa.int64()), "bigint", pa.int64()),
        (pa.array([1], pa.float32()), "real", pa.float32()),
        (pa.array([float("nan")]), "double precision", pa.float64()),
        (pa.array([True]), "boolean", pa.bool_()),
        (pa.array(["a"]), TEXT, pa.string()),
        (pa.array([b"a"]), BINARY, pa.binary()),
        (pa.array([0], pa.date32()), "date", pa.date32()),
        (pa.array([Decimal("1.5")], pa.decimal128(5, 2)), "numeric(5,2)", pa.decimal128(5, 2)),
        (pa.array([datetime(2026, 1, 2)], pa.timestamp("ns")), "timestamp", pa.timestamp("us")),
        (pa.array([datetime(2026, 1, 2, tzinfo=UTC)], pa.timestamp("ms", "UTC")), "timestamp", pa.timestamp("us")),
        (pa.array([[1, 2]]), SUPER, pa.string()),
        (pa.array([{"a": 1}]), SUPER, pa.string()),
    ],
)
def test_each_type_is_sent_as_copy_reads_it(array, kind, sent):
    made = stored(pa.record_batch({"c": array}))
    assert (made.kinds, made.rows.schema.types, made.count) == ({"c": kind}, [sent], 1)
    assert staged_type(kind) == {SUPER: TEXT, "smallint": "integer"}.get(kind, kind)


def test_nested_values_are_sent_as_json():
    made = stored(pa.record_batch({"c": [{"a": [1, None], "b": None}], "n": pa.nulls(1)}))
    assert made.rows.to_pydict() == {"c": ['{"a":[1,null]}']}


def test_rows_without_columns_are_counted():
    made = stored(pa.record_batch({"c": pa.nulls(3)}))
    assert (made.count, made.rows.num_columns, made.rejected) == (3, 0, [])


def test_rows_that_redshift_cannot_hold_are_set_aside_whole():
    texts = ["x" * 65_535, "x" * 65_536, "é" * 32_768, "a\0b", None]
    made = stored(pa.record_batch({"n": [1, 2, 3, 4, 5], "c": texts}))
    assert made.rows.column("n").to_pylist() == [1, 5]
    assert made.count == 2
    assert [one.reason for one in made.rejected] == ["value_too_large", "value_too_large", "nul_character"]
    assert made.rejected[0].message == "c has 65536 bytes, and Redshift holds at most 65535"
    assert json.loads(made.rejected[2].raw or b"") == {"n": 4, "c": "a\0b"}


def test_a_nested_value_that_is_too_large_is_set_aside():
    made = stored(pa.record_batch({"c": [["x" * 70_000], ["y"]]}))
    assert (made.rows.column("c").to_pylist(), len(made.rejected)) == (['["y"]'], 1)


def test_a_column_of_several_kinds_becomes_text():
    several = [{"a": "bigint", "b": "date"}, {"a": TEXT, "c": SUPER}]
    assert merged_kinds(several) == {"a": TEXT, "b": "date", "c": SUPER}


@pytest.mark.parametrize(
    ("kind", "target", "expression"),
    [
        (TEXT, "character varying(20)", "c"),
        (SUPER, "character varying(20)", "c"),
        ("bigint", "character varying(20)", "c::varchar"),
        ("boolean", "character varying(20)", "CASE WHEN c THEN 'true' WHEN NOT c THEN 'false' END"),
        (SUPER, "super", "JSON_PARSE(c)"),
        (TEXT, "super", "c::super"),
        ("date", "super", "c::varchar::super"),
        ("bigint", "bigint", "c"),
        ("bigint", "smallint", "c::smallint"),
        (BINARY, "binary varying(1000)", "c"),
        ("timestamp", "timestamp with time zone", "c::timestamp with time zone"),
        (TEXT, "numeric(10,2)", "c::numeric(10,2)"),
    ],
)
def test_a_staged_column_is_converted_to_the_type_of_the_table(kind, target, expression):
    assert converted("c", kind, target) == expression


def test_texts_are_cut_only_where_that_is_asked_for():
    assert converted("c", TEXT, "character varying(3)", truncates=True) == "(c)::character varying(3)"
    assert converted("c", "bigint", "character varying(3)", truncates=True) == "(c::varchar)::character varying(3)"


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("boolean", "CASE WHEN c THEN 't' ELSE 'f' END"),
        ("super", "JSON_SERIALIZE(c)"),
        ("binary varying(10)", "TO_HEX(c)"),
        ("character varying(10)", "c"),
        ("bigint", "c::varchar"),
    ],
)
def test_a_fingerprint_tells_values_apart_and_null_from_all_of_them(target, text):
    assert fingerprint("c", target) == f"CASE WHEN c IS NULL THEN '' ELSE MD5({text}) END"


@pytest.mark.parametrize(
    ("kind", "arrow", "expression", "family"),
    [
        ("smallint", pa.int16(), '"c"', Family.NUMBER),
        ("numeric(10,2)", pa.decimal128(10, 2), '"c"', Family.NUMBER),
        ("numeric", pa.decimal128(38, 18), '"c"', Family.NUMBER),
        ("character varying(9)", pa.string(), '"c"', Family.OTHER),
        ("super", pa.string(), '"c"', Family.OTHER),
        ("binary varying(9)", pa.binary(), 'TO_HEX("c") AS "c"', Family.OTHER),
        ("timestamp without time zone", TIMESTAMP, '"c"', Family.TIMESTAMP),
        ("timestamp with time zone", TIMESTAMP, '"c" AT TIME ZONE \'UTC\' AS "c"', Family.TIMESTAMP),
        ("date", pa.date32(), '"c"', Family.DATE),
        ("time without time zone", pa.string(), '"c"::varchar AS "c"', Family.OTHER),
        ("geometry", pa.string(), '"c"::varchar AS "c"', Family.OTHER),
    ],
)
def test_each_type_is_unloaded_as_parquet_can_hold_it(kind, arrow, expression, family):
    column = Column("c", kind)
    assert (column.arrow_type, column.expression, column.family) == (arrow, expression, family)


def test_unloaded_rows_get_the_types_of_their_columns():
    columns = (Column("a", "smallint"), Column("b", "binary varying(9)"))
    schema = arrow_schema(columns)
    rows = typed(pa.record_batch({"a": pa.array([1, None], pa.int32()), "b": ["00ff", None]}), columns, schema)
    assert rows.schema == schema
    assert rows.to_pylist() == [{"a": 1, "b": b"\x00\xff"}, {"a": None, "b": None}]
    with pytest.raises(PermanentError, match="Column a has a value that is not a int16"):
        typed(pa.record_batch({"a": [70_000], "b": ["00"]}), columns, schema)
