import json
import pickle
from datetime import date, datetime
from decimal import Decimal
from io import BytesIO
from zoneinfo import ZoneInfo

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import Coordinates
from gluepot.frames.declared import DeclaredAvro
from gluepot.frames.declared.avro_footprint import AvroFootprint

UTC = ZoneInfo("UTC")  # as pyarrow gives it


def _record(*fields, **more):
    return {"type": "record", "name": "Click", "fields": [{"name": n, "type": kind} for n, kind in fields], **more}


def _datum(schema, value):
    out = BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return out.getvalue()


def _decode(schema, *values):
    decoder = DeclaredAvro.of(json.dumps(schema)).decoder()
    return decoder.decode(values, range(100, 100 + len(values)), "clicks", "3")


USER = _record(("name", "string"), name="User")
STAMP = datetime(2026, 11, 21, 4, 0, 0, 123000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "value", "arrow"),
    [
        ("boolean", True, pa.bool_()),
        ("int", -7, pa.int32()),
        ("long", 2**63 - 1, pa.int64()),
        ("float", 0.5, pa.float32()),
        ("double", 0.1, pa.float64()),
        ("bytes", b"\0\xff", pa.binary()),
        ("string", "é", pa.string()),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, "B", pa.string()),
        ({"type": "fixed", "name": "F", "size": 2}, b"ab", pa.binary()),
        ({"type": "array", "items": "int"}, [1, 2], pa.list_(pa.int32())),
        ({"type": "map", "values": ["null", "int"]}, {"k": 1, "l": None}, pa.map_(pa.string(), pa.int32())),
        (USER, {"name": "ada"}, pa.struct([("name", pa.string())])),
        (["null", "string"], None, pa.string()),
        (["string", "null"], "x", pa.string()),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, Decimal("1.25"), pa.decimal128(9, 2)),
        ({"type": "int", "logicalType": "date"}, date(2026, 11, 21), pa.date32()),
        ({"type": "long", "logicalType": "timestamp-millis"}, STAMP, pa.timestamp("us", tz="UTC")),
        ({"type": "long", "logicalType": "timestamp-micros"}, STAMP, pa.timestamp("us", tz="UTC")),
    ],
)
def test_a_field_of_each_type_is_a_column(kind, value, arrow):
    schema = _record(("v", kind))
    chunk = _decode(schema, _datum(schema, {"v": value}))
    assert chunk.batch.schema == pa.schema([("v", arrow)])
    assert chunk.batch.column(0).to_pylist() == [list(value.items()) if pa.types.is_map(arrow) else value]


def test_logical_types_without_a_column_are_what_they_are_stored_as():
    schema = _record(
        ("t", {"type": "int", "logicalType": "time-millis"}), ("u", {"type": "string", "logicalType": "uuid"})
    )
    chunk = _decode(schema, _datum(_record(("t", "int"), ("u", "string")), {"t": 7, "u": "no uuid"}))
    assert chunk.batch.to_pylist() == [{"t": 7, "u": "no uuid"}]


def test_a_type_may_be_named_again():
    schema = _record(("a", USER), ("b", ["null", "User"]))
    chunk = _decode(schema, _datum(schema, {"a": {"name": "ada"}, "b": {"name": "bob"}}))
    assert chunk.batch.to_pylist() == [{"a": {"name": "ada"}, "b": {"name": "bob"}}]


def test_what_is_no_datum_becomes_an_error_and_its_neighbours_stay():
    schema = _record(("n", "long"), ("t", "string"))
    good = _datum(schema, {"n": 1, "t": "x"})
    container = BytesIO()
    fastavro.writer(container, schema, [{"n": 1, "t": "x"}])
    broken = [b"", good[:-1], good + b"\0", b"\2\2\xff", container.getvalue()]
    chunk = _decode(schema, good, *broken, None, good)
    assert chunk.batch.to_pylist() == [{"n": 1, "t": "x"}] * 2
    assert [(e.raw, e.reason) for e in chunk.errors] == [
        *((raw, "malformed_avro") for raw in broken),
        (None, "null_value"),
    ]
    assert chunk.errors[0].at == Coordinates("clicks", "3", "101")


def test_a_decimal_with_more_digits_than_declared_is_an_error_of_its_record_alone():
    schema = _record(("d", {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 1}))
    wide = _record(("d", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 1}))
    chunk = _decode(schema, _datum(wide, {"d": Decimal("12.5")}), _datum(wide, {"d": Decimal("12345.5")}))
    assert chunk.batch.to_pylist() == [{"d": Decimal("12.5")}]
    assert [error.reason for error in chunk.errors] == ["malformed_avro"]


EVERYTHING = _record(
    ("n", ["null", "long"]),
    ("s", {"type": "array", "items": USER}),
    ("m", {"type": "map", "values": {"type": "enum", "name": "E", "symbols": ["A"]}}),
    ("d", {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}),
    ("at", {"type": "long", "logicalType": "timestamp-micros"}),
    ("day", {"type": "int", "logicalType": "date"}),
    ("f", "float"),
)


@given(st.binary(max_size=40))
def test_any_bytes_are_a_row_or_an_error(value):
    chunk = _decode(EVERYTHING, value)
    assert chunk.batch.num_rows + len(chunk.errors) == 1


def test_the_declaration_travels_to_workers_and_tells_the_schema_of_every_chunk():
    declared = pickle.loads(pickle.dumps(DeclaredAvro.of(json.dumps(EVERYTHING))))
    assert declared.decoder().decode([], [], "clicks", "3").batch.schema == declared.schema


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ("id INT", "which is no Avro schema"),
        ('"string"', "not a record"),
        (_record(("a", "nothing")), "which is no Avro schema"),
        (_record(("a", ["int", "string"])), "a union of 2 types"),
        (_record(("a", "null")), "a null without content"),
        (_record(("a", {"type": "array", "items": _record(name="Empty")})), "a record without content"),
        (_record(("a", ["null", "Click"])), "record Click holds itself"),
        (
            _record(("a", {"type": "bytes", "logicalType": "decimal", "precision": 50, "scale": 1})),
            "decimal of 50 digits",
        ),
    ],
)
def test_a_schema_without_columns_is_refused(schema, sentence):
    with pytest.raises(ConfigError, match=sentence):
        DeclaredAvro.of(schema if isinstance(schema, str) else json.dumps(schema))


def test_a_record_that_takes_too_much_memory_is_an_error_before_it_is_read():
    schema = _record(("a", {"type": "array", "items": _record(("b", "boolean"), name="Bit")}))
    bomb = _datum("long", 2_000_000) + bytes(2_000_001)
    chunk = _decode(schema, bomb, _datum(schema, {"a": []}))
    assert chunk.batch.num_rows == 1
    [error] = chunk.errors
    assert error.reason == "too_large"
    assert "more than 128 MiB of memory" in error.message


EVERY_KIND = _record(
    ("s", "string"),
    ("u", ["null", "int"]),
    ("l", {"type": "array", "items": {"type": "map", "values": ["long", "string"]}}),
    ("d", {"type": "array", "items": "double"}),
    ("f", {"type": "fixed", "name": "F", "size": 3}),
    ("e", {"type": "enum", "name": "E", "symbols": ["A", "B"]}),
)
VALUES = st.fixed_dictionaries(
    {
        "s": st.text(max_size=50),
        "u": st.none() | st.integers(-(2**31), 2**31 - 1),
        "l": st.lists(st.dictionaries(st.text(max_size=3), st.integers(-9, 9) | st.text(max_size=9), max_size=4)),
        "d": st.lists(st.floats(allow_nan=False)),
        "f": st.binary(min_size=3, max_size=3),
        "e": st.sampled_from("AB"),
    }
)


@given(VALUES, st.binary(max_size=3))
def test_a_walk_ends_where_the_datum_does_and_its_estimate_keeps_to_the_bound_by_length(value, rest):
    named = {}
    footprint = AvroFootprint(fastavro.parse_schema(EVERY_KIND, named_schemas=named), named)
    datum = _datum(EVERY_KIND, value)
    at, memory_bytes = footprint.walk(datum + rest, 0)
    assert at == len(datum)
    assert memory_bytes <= footprint.most(len(datum))


def test_a_datum_that_ends_early_is_not_walked_beyond_its_end():
    with pytest.raises(EOFError):
        AvroFootprint("string", {}).walk(_datum("long", 2**50), 0)
