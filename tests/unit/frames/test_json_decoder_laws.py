"""The decoder against orjson, record by record."""

import json
import math
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import orjson
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.json_footprint import MAX_DEPTH
from gluepot.frames.json_reader import read_uniform
from gluepot.frames.json_record import read_record
from gluepot.frames.records import in_braces, join
from gluepot.frames.refusal import Refusal
from gluepot.frames.rows import rows


def _dumps(value: Any) -> bytes:
    # The standard library writes integers of any size, which orjson refuses.
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


KEYS = st.sampled_from(["a", "b", "c", "a.b", "", "é", 'a"b'])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-3, 3),
    st.sampled_from([2**53 + 1, -(2**63), 2**63, 10**38 - 1, 10**38, -(10**40)]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1.0, -0.0, 1e22, 2**53 + 1]),
    st.text(max_size=4),
    st.sampled_from(["2020-01-01", "2020-01-01T10:00:00Z", "NaN", "Infinity", "}\n{", "{", '"', "\\", "\x00", "true"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4).map(_dumps)
# One stream of few types makes the quick paths likely, with and without choices.
SIMPLE = st.fixed_dictionaries(
    {},
    optional={
        "a": st.one_of(st.integers(-9, 9), st.text(max_size=2), st.none()),
        "b": st.fixed_dictionaries(
            {}, optional={"c": st.one_of(st.booleans(), st.integers(0, 9), st.lists(st.just(1)))}
        ),
        "d": st.one_of(st.integers(0, 3), st.floats(0, 1), st.sampled_from([2**60, 2**60 + 1])),
    },
).map(_dumps)
DEEP = st.integers(1, 80).map(lambda levels: b'{"a":' * levels + b"1" + b"}" * levels)
BROKEN = st.one_of(
    st.none(),
    st.sampled_from(
        [
            b"",
            b" ",
            b"1",
            b"null",
            b"[1]",
            b'"x"',
            b"{",
            b"}",
            b"{}{}",
            b'{"a":1}{"b":2}',
            b'{"a":1} {"b":2}',
            b'{"a":1}\x00}',
            b'{"a":"\xff"}',
            b'{"a":"\xc3\x28"}',
            b'{"a":NaN}',
            b'{"a":[1,Infinity]}',
            b'{"a":{"b":-Inf}}',
            b'{"a":1e999}',
            b'{"a":1,"a":"x"}',
            b'{"a":null,"a":1}',
            b'{"a":{"b":1,"b":2}}',
            b'{"a":"\\ud800"}',
            b'{"a":"x\ny"}',
            b'{"a":{"b":1}',
            b'{"b":1}}',
            b'{"a":"}',
            b'{","a":1}',
            b'\xef\xbb\xbf{"a":1}',
            b"{'a':1}",
            b'{"a":01}',
            b'{"a":+1}',
            b'{"a":.5}',
            b'{"a":1,}',
            b'{"a":/**/1}',
            b'  {"a":1}\r\n',
            b'\x0c{"a":1}',
            b'{"a":"\\u00e9\\n"}',
        ],
    ),
    st.binary(max_size=6),
    st.text('{}[]":,a1 \n\\', max_size=12).map(lambda text: b"{" + text.encode() + b"}"),
)
RECORDS = st.one_of(OBJECTS, SIMPLE, BROKEN, DEEP)


@pytest.fixture(scope="module", params=["kernel", "pyarrow alone"], autouse=True)
def _way(request):
    if request.param == "kernel":
        yield
    else:
        with patch("gluepot.frames.json_decoder.can_read", lambda _: False):
            yield


def _decoded(
    decoder: JsonDecoder, values: list[bytes | None], first: int = 0
) -> tuple[list[Any], list[tuple[int, str]]]:
    chunk = decoder.decode(values, range(first, first + len(values)), "clicks", "0")
    chunk.batch.validate(full=True)
    assert chunk.batch.schema.equals(decoder.schema, check_metadata=True)
    assert [error.raw for error in chunk.errors] == [values[int(error.at.position) - first] for error in chunk.errors]
    return list(rows(chunk)), [(int(error.at.position), error.reason) for error in chunk.errors]


def _same(got: Any, expected: Any) -> bool:
    """Equal, where null and missing are one; an integer may be a double, a decimal or a text, with all its digits."""
    if isinstance(expected, dict):
        if not isinstance(got, dict):
            return False
        return all(_same(got.get(key), expected.get(key)) for key in got.keys() | expected.keys())
    if isinstance(expected, list):
        return isinstance(got, list) and len(got) == len(expected) and all(map(_same, got, expected))
    if isinstance(expected, bool) or isinstance(got, bool):
        return got is expected
    if isinstance(expected, int) and isinstance(got, Decimal | str):
        return str(got) == str(expected) and expected not in range(-(2**63), 2**63)
    if isinstance(expected, int) and isinstance(got, float):
        return int(got) == expected
    if isinstance(expected, float) and isinstance(got, float):
        return got == expected and math.copysign(1, got) == math.copysign(1, expected)
    return type(got) is type(expected) and got == expected


def _expected(values: list[bytes | None]) -> tuple[list[Any], list[tuple[int, str]]]:
    read = [(index, read_record(value)) for index, value in enumerate(values)]
    good = [one for _, one in read if not isinstance(one, Refusal)]
    return good, [(index, one.reason) for index, one in read if isinstance(one, Refusal)]


@settings(max_examples=2 * settings.default.max_examples)
@given(st.lists(RECORDS, max_size=12), st.integers(1, 12))
def test_rows_and_errors_are_those_orjson_sees_however_the_stream_is_cut(values, size):
    good, bad = _expected(values)
    decoder = JsonDecoder()
    got, errors = [], []
    for first in range(0, len(values), size):
        some_rows, some_errors = _decoded(decoder, values[first : first + size], first)
        got += some_rows
        errors += some_errors
    assert errors == bad
    assert len(got) == len(good)
    assert all(map(_same, got, good)), (got, good)


@settings(max_examples=2 * settings.default.max_examples)
@given(st.lists(st.one_of(SIMPLE, OBJECTS), min_size=1, max_size=12))
def test_a_second_pass_with_the_grown_schema_gives_the_same_values(values):
    good, _ = _expected(values)
    decoder = JsonDecoder()
    _decoded(decoder, values)
    grown = decoder.schema
    got, _ = _decoded(decoder, values)
    assert all(map(_same, got, good)), (got, good)
    assert decoder.schema.equals(grown, check_metadata=True)


@settings(max_examples=2 * settings.default.max_examples)
@given(st.lists(st.one_of(BROKEN.filter(bool), SIMPLE), min_size=1, max_size=6))
def test_as_many_rows_as_braced_records_means_that_each_record_is_one_document(values):
    records = join(values)
    if in_braces(records).all() and read_uniform(records, pa.schema([])) is not None:
        assert not [value for value in values if not isinstance(orjson.loads(value), dict)]


@given(st.integers(1, 100), st.sampled_from([b'{"a":%s}', b"[%s]"]))
def test_records_nested_deeper_than_the_limit_are_refused(levels, shape):
    value = b"1"
    for _ in range(levels - 1):
        value = shape.replace(b"%s", value)
    refused = isinstance(read_record(b'{"a":' + value + b"}"), Refusal)
    assert refused == (levels > MAX_DEPTH)
