import json
import pickle
from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import Coordinates
from gluepot.frames.declared import DeclaredJson

UTC = ZoneInfo("UTC")  # as pyarrow gives it
STAMP = pa.timestamp("us", tz="UTC")


def _decode(schema, *values):
    decoder = DeclaredJson.of(pa.schema(schema)).decoder()
    return decoder.decode(values, range(100, 100 + len(values)), "clicks", "3")


def _one(kind, *texts):
    """The values of a field `v` of a declared type, one per JSON text."""
    chunk = _decode([("v", kind)], *(f'{{"v":{text}}}'.encode() for text in texts))
    assert not chunk.errors
    return chunk.batch.column(0).to_pylist()


def test_declared_fields_come_in_their_order_and_others_disappear():
    chunk = _decode([("b", pa.string()), ("a", pa.int32())], b'{"x":{"y":1},"a":1,"b":"t"}')
    assert chunk.batch.schema == pa.schema([("b", pa.string()), ("a", pa.int32())])
    assert chunk.batch.to_pylist() == [{"b": "t", "a": 1}]


def test_values_that_do_not_fit_are_counted_by_field_however_the_records_are_read():
    inner = pa.struct([("at", pa.timestamp("us")), ("n", pa.list_(pa.int32()))])
    schema = [("a", pa.int32()), ("s", inner)]
    in_columns = _decode(schema, b'{"a":1,"s":{"at":"soon","n":[1]}}', b'{"a":99999999999,"s":{"at":"late","n":null}}')
    assert in_columns.misfits == {"a": 1, "at": 2}
    value_by_value = _decode(schema, b'{"a":"x","s":{"at":true,"n":[1,"2"]}}', b'{"a":null,"s":3}', b'{"a":7}', b"{")
    assert value_by_value.misfits == {"a": 1, "at": 1, "n": 1, "s": 1}
    assert len(value_by_value.errors) == 1
    decoder = DeclaredJson.of(pa.schema(schema)).decoder()
    assert decoder.decode([b'{"a":"x"}'], [0], "clicks", "3").misfits == {"a": 1}
    assert decoder.decode([b'{"a":1}'], [1], "clicks", "3").misfits == {}
    assert _decode([("m", pa.map_(pa.string(), pa.int32()))], b'{"m":{"k":"v"}}', b'{"m":{"k":1}}').misfits == {"m": 1}


def test_missing_fields_are_null_and_names_are_matched_exactly():
    chunk = _decode([("a", pa.int32()), ("b", pa.int32())], b'{"A":1,"b":2}')
    assert chunk.batch.to_pylist() == [{"a": None, "b": 2}]


def test_a_field_declared_not_null_may_be_null_at_any_depth():
    inner = pa.struct([pa.field("b", pa.int32(), nullable=False)])
    chunk = _decode([pa.field("a", inner, nullable=False)], b"{}", b'{"a":{}}')
    assert chunk.batch.to_pylist() == [{"a": None}, {"a": {"b": None}}]


@pytest.mark.parametrize(
    ("kind", "texts", "expected"),
    [
        (pa.int32(), ["1", "2147483648", "1.0", '"1"', "true", "[1]", "{}"], [1] + [None] * 6),
        (pa.int64(), ["9223372036854775807", "9223372036854775808", "1.5"], [2**63 - 1, None, None]),
        (pa.float64(), ["1", "2.5", "1e3", '"NaN"', '"2.5"', "false"], [1.0, 2.5, 1000.0, float("nan"), None, None]),
        (pa.bool_(), ["true", "false", '"true"', "1"], [True, False, None, None]),
        (pa.string(), ['"x"', "1", "1.50", "true", '{"a": [1, null]}'], ["x", "1", "1.5", "true", '{"a":[1,null]}']),
        (pa.string(), ["123456789012345678901234567890"], ["123456789012345678901234567890"]),
        (
            pa.decimal128(10, 2),
            ["1.005", "-7", '"2.5"', "12345678901", "true", "1e3", '"x"', "0e99999999999999999999", "1" * 48, "1e-60"],
            [
                Decimal("1.01"),
                Decimal("-7.00"),
                Decimal("2.50"),
                None,
                None,
                Decimal("1000.00"),
                None,
                None,
                None,
                Decimal("0.00"),
            ],
        ),
        (pa.date32(), ['"2026-11-21"', '"soon"', "1"], [date(2026, 11, 21), None, None]),
        (
            STAMP,
            ['"2026-11-21T04:00:00Z"', '"2026-11-21 04:00:00"', "0", "99999999999999", "1.5"],
            [*[datetime(2026, 11, 21, 4, tzinfo=UTC)] * 2, datetime(1970, 1, 1, tzinfo=UTC), None, None],
        ),
        (pa.timestamp("us"), ['"2026-11-21T04:00:00"', "0"], [datetime(2026, 11, 21, 4), None]),
        (pa.binary(), ['"AQI="', '"?"', "1"], [b"\1\2", None, None]),
        (pa.struct([("a", pa.int32())]), ['{"a":1,"b":2}', "{}", "1"], [{"a": 1}, {"a": None}, None]),
        (pa.map_(pa.string(), pa.int32()), ['{"a":1,"b":null}', "{}", "[]"], [[("a", 1), ("b", None)], [], None]),
    ],
)
def test_a_value_that_does_not_fit_is_null(kind, texts, expected):
    assert repr(_one(kind, *texts)) == repr(expected)
    assert repr([_one(kind, text)[0] for text in texts]) == repr(expected)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (pa.list_(pa.int32()), "[1,null]", [1, None]),
        (pa.list_(pa.int32()), '[1,"x",2]', None),
        (pa.list_(pa.int32()), "[1,2147483648]", None),
        (pa.list_(pa.list_(pa.date32())), '[["2026-11-21"],["x"]]', None),
        (pa.list_(pa.struct([("a", pa.int8())])), '[{"a":1},{"a":300}]', [{"a": 1}, {"a": None}]),
        (pa.list_(pa.struct([("a", pa.int8())])), '[{"a":1},3]', None),
        (pa.struct([("b", pa.list_(pa.int32())), ("a", pa.int32())]), '{"b":["x"],"a":2}', {"b": None, "a": 2}),
        (pa.map_(pa.string(), pa.date32()), '{"k":"x"}', None),
    ],
)
def test_a_value_that_does_not_fit_makes_null_the_nearest_field_it_is_part_of(kind, text, expected):
    assert _one(kind, text) == [expected]
    assert _one(kind, text, '"odd"', "null", text) == [expected, None, None, expected]


def test_broken_records_are_errors_with_their_bytes_and_coordinates():
    chunk = _decode([("a", pa.int32())], b'{"a":1}', b"{broken", None, b"[1]", b'{"a":NaN}')
    assert chunk.batch.to_pylist() == [{"a": 1}]
    assert [(e.raw, e.reason, e.at) for e in chunk.errors] == [
        (b"{broken", "malformed_json", Coordinates("clicks", "3", "101")),
        (None, "null_value", Coordinates("clicks", "3", "102")),
        (b"[1]", "not_an_object", Coordinates("clicks", "3", "103")),
        (b'{"a":NaN}', "malformed_json", Coordinates("clicks", "3", "104")),
    ]


def test_one_odd_record_among_thousands_changes_no_other():
    good = [json.dumps({"v": 2**53 + 1 + n}).encode() for n in range(2_000)]
    chunk = _decode([("v", pa.int64())], *good, b'{"v":1.5}', *good, b"{")
    longs = [2**53 + 1 + n for n in range(2_000)]
    assert chunk.batch.column(0).to_pylist() == [*longs, None, *longs]
    assert [error.at.position for error in chunk.errors] == ["4101"]


def test_the_declaration_travels_to_workers_and_tells_the_schema_of_every_chunk():
    kind = pa.struct([("l", pa.list_(pa.struct([("m", pa.map_(pa.string(), pa.decimal128(9, 3)))])))])
    declared = pickle.loads(pickle.dumps(DeclaredJson.of(pa.schema([("s", kind)]))))
    for values in ([], [b"{"], [b"{}"], [b'{"s":{"l":[{"m":{"k":1}}]}}']):
        chunk = declared.decoder().decode(values, range(len(values)), "clicks", "3")
        assert chunk.batch.schema.equals(declared.schema, check_metadata=True)


DECLARED = [
    ("n", pa.int64()),
    ("d", pa.float64()),
    ("t", pa.string()),
    ("p", pa.decimal128(6, 2)),
    ("at", STAMP),
    ("s", pa.struct([("n", pa.int32()), ("l", pa.list_(pa.float64()))])),
    ("l", pa.list_(pa.struct([("t", pa.string())]))),
]
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "x", "1", "NaN", "2026-11-21T04:00:00Z"]),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["n", "l", "t", "z"]), inner),
    max_leaves=6,
)
ANY = st.dictionaries(st.sampled_from(["n", "d", "t", "p", "at", "s", "l", "other"]), VALUES)
FITTING = st.fixed_dictionaries(
    {},
    optional={
        "n": st.integers(-(2**63), 2**63 - 1) | st.none(),
        "d": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70),
        "t": st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
        "p": st.decimals(-9999, 9999, places=3).map(float) | st.integers(-(10**50), 10**50) | st.floats(0, 1e60),
        "at": st.sampled_from(["soon", "2026-11-21T04:00:00Z"]),
        "s": st.fixed_dictionaries({}, optional={"n": st.integers(), "l": st.lists(st.floats(0, 1) | st.none())}),
        "l": st.lists(st.fixed_dictionaries({}, optional={"t": st.text("ab", max_size=2)})),
        "other": VALUES,
    },
)
RECORDS = st.one_of(FITTING, FITTING, ANY).map(lambda document: json.dumps(document).encode()) | st.just(b"{")


@given(st.lists(RECORDS, max_size=6))
def test_a_record_gives_the_same_row_alone_and_among_others(values):
    together = _decode(DECLARED, *values)
    alone = [_decode(DECLARED, value) for value in values]
    rows = [row for chunk in alone for row in chunk.batch.to_pylist()]
    assert repr(together.batch.to_pylist()) == repr(rows)
    assert len(together.errors) == sum(len(chunk.errors) for chunk in alone)


@given(st.lists(RECORDS, max_size=6))
def test_reading_columns_equals_reading_value_by_value(values):
    schema = pa.schema(DECLARED)
    with_map = schema.append(pa.field("never", pa.map_(pa.string(), pa.string())))  # keeps columns from being read
    by_value = DeclaredJson.of(with_map).decoder().decode(values, range(len(values)), "clicks", "3")
    in_columns = _decode(DECLARED, *values)
    assert repr(by_value.batch.drop_columns("never").to_pylist()) == repr(in_columns.batch.to_pylist())
    assert [e.raw for e in by_value.errors] == [e.raw for e in in_columns.errors]


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ([("a", pa.duration("us"))], "Field a of the schema is a duration"),
        ([("a", pa.struct([("b", pa.list_(pa.null()))]))], "Field b of the schema is a null"),
        ([("a", pa.map_(pa.int32(), pa.string()))], "Field a of the schema is a map with keys of int32"),
        ([("a", pa.int32()), ("a", pa.string())], "field 'a' twice"),
    ],
)
def test_types_that_json_cannot_be_read_into_are_refused(schema, sentence):
    with pytest.raises(ConfigError, match=sentence):
        DeclaredJson.of(pa.schema(schema))
