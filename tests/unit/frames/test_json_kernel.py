"""The compiled reader: what it reads is what orjson reads, and where it stops is where somebody has to look closer."""

from __future__ import annotations

import json
import math
import shutil
import sys
import sysconfig
from pathlib import Path
from random import Random
from unittest.mock import Mock

import orjson
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluepot.frames import json_kernel
from gluepot.frames.columns import columns_of
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.json_kernel import KnownRecords, can_read
from gluepot.frames.payloads import Payloads
from gluepot.frames.rows import plain_values
from gluepot.frames.schema import choice_field

needs_kernel = pytest.mark.skipif(not json_kernel.IS_COMPILED, reason="built without a C compiler")

SCHEMA = pa.schema([
    ("id", pa.int64()),
    ("price", pa.float64()),
    ("name", pa.string()),
    ("ok", pa.bool_()),
    ("never", pa.null()),
    ("at", pa.struct([("x", pa.float64()), ("tags", pa.list_(pa.string()))])),
    ("lines", pa.list_(pa.struct([("n", pa.int64()), ("note", pa.string())]))),
    choice_field(
        "either",
        [pa.field("", kind) for kind in (pa.int64(), pa.string(), pa.struct([("é", pa.bool_())]), pa.list_(pa.int64()))],
    ),
])  # fmt: skip

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40),
    st.sampled_from(['"', "\\", "\n", "\x7f", "é", "€", "😀", "\ud7ff\ue000", "\U0010ffff", "x" * 15 + '"' + "y" * 16]),
)
LONGS = st.integers(-(2**63), 2**63 - 1)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


def _object(**fields):
    return st.fixed_dictionaries({}, optional={key: st.one_of(st.none(), kind) for key, kind in fields.items()})


RECORDS = _object(
    id=LONGS,
    price=st.one_of(DOUBLES, st.integers(-(2**53), 2**53)),
    name=TEXTS,
    ok=st.booleans(),
    never=st.none(),
    at=_object(x=DOUBLES, tags=st.lists(st.one_of(st.none(), TEXTS), max_size=3)),
    lines=st.lists(st.one_of(st.none(), _object(n=LONGS, note=TEXTS)), max_size=3),
    either=st.one_of(LONGS, TEXTS, _object(é=st.booleans()), st.lists(LONGS, max_size=2)),
)
WRITERS = st.sampled_from([
    orjson.dumps,
    lambda record: orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS),
    lambda record: b" " + json.dumps(record, ensure_ascii=False).encode() + b"\r\n",
    lambda record: orjson.dumps(dict(reversed(record.items()))),
])  # fmt: skip


def _read_on(known, values, start=0):
    """Return what the kernel reads before the first odd record, and the number of that; the same of payloads."""
    found = known.read(values, start, len(values), 1)
    if all(isinstance(value, bytes) for value in values):
        payloads = Payloads(pa.array([b"before", *values], pa.large_binary())[1:])
        laid_out = known.read(payloads, start, len(values), 1)
        assert laid_out.batch.equals(found.batch)
        assert (laid_out.odd, laid_out.stop) == (found.odd, found.stop)
    return found.batch, found.odd[0] if found.odd else found.stop


def _read(schema, *values):
    batch, reached = _read_on(KnownRecords(schema), list(values))
    batch.validate(full=True)
    assert batch.schema.equals(schema, check_metadata=True)
    assert batch.num_rows == reached
    return batch


def _one(kind, text):
    """Return the value that the kernel reads from a text, in a list, or nothing if it does not."""
    batch = _read(pa.schema([("a", kind)]), b'{"a":%s}' % text)
    return batch.column(0).to_pylist()


def test_a_checkout_on_a_machine_with_a_compiler_has_the_kernel():
    has_headers = Path(sysconfig.get_path("include"), "Python.h").exists()
    if shutil.which("cc") is None or not has_headers:
        pytest.skip("no C compiler, or no headers of Python")
    assert json_kernel.IS_COMPILED, "run `make setup`"


@needs_kernel
@settings(max_examples=3 * settings.default.max_examples)
@given(st.lists(st.tuples(RECORDS, WRITERS), min_size=1, max_size=8))
def test_records_of_the_schema_are_read_as_orjson_reads_them(written):
    values = [write(record) for record, write in written]
    batch = _read(SCHEMA, *values)
    assert batch.num_rows == len(values)
    columns = [list(plain_values(column)) for column in columns_of(batch)]
    for got, value in zip(zip(*columns, strict=True), values, strict=True):
        expected = orjson.loads(value)
        for name, one in zip(SCHEMA.names, got, strict=True):
            assert _without_nulls(one) == _without_nulls(expected.get(name)), name


# Keys of all lengths around the words that the kernel hashes, with long beginnings in common, and names of others'
# beginnings.
MANY = [f"{'k' * length}{number}" for length in range(20) for number in range(15)]


@needs_kernel
@given(st.lists(st.sampled_from(MANY), unique=True, max_size=len(MANY)), st.randoms(use_true_random=False))
def test_keys_of_many_fields_are_found_in_any_order(names, chance):
    chance.shuffle(names)
    record = {name: MANY.index(name) for name in names}

    batch = _read(pa.schema([(name, pa.int64()) for name in MANY]), orjson.dumps(record))

    assert batch.to_pylist() == [dict.fromkeys(MANY) | record]


@needs_kernel
@pytest.mark.parametrize("key", [b'""', b'"k"', b'"kk99"', b'"k\\"0"', b'"k0', b'k0"', b'"k0 "', b'"K0"'])
def test_the_kernel_stops_at_a_key_that_none_of_many_fields_has(key):
    known = KnownRecords(pa.schema([(name, pa.int64()) for name in MANY]))

    assert known.read([b'{"k1":1,' + key + b":1}"], 0, 1, 1).odd == [0]


def _without_nulls(value):
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


@needs_kernel
@settings(max_examples=3 * settings.default.max_examples)
@given(st.lists(RECORDS, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_a_record_with_a_wrong_byte_is_read_as_orjson_reads_it_or_not_at_all(records, chance):
    for record in records:
        broken = _broken(orjson.dumps(record), chance)
        batch, reached = _read_on(KnownRecords(SCHEMA), [broken])
        if not reached:
            continue
        batch.validate(full=True)
        document = orjson.loads(broken)
        assert document.keys() <= set(SCHEMA.names)
        assert batch.column("id")[0].as_py() == document.get("id")
        assert batch.column("name")[0].as_py() == document.get("name")


def _broken(value: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(value))
    byte = bytes([chance.choice([*b'{}[]",:\\ 0-.eE1tfnu\n', 0, 0x80, 0xC3, 0xED, 0xFF])])
    return chance.choice([value[:at] + byte + value[at + 1 :], value[:at] + byte + value[at:], value[:at]])


@needs_kernel
@settings(max_examples=3 * settings.default.max_examples)
@given(st.lists(RECORDS, min_size=1, max_size=12), st.randoms(use_true_random=False), st.integers(1, 5))
def test_what_was_read_of_an_odd_record_leaves_no_trace(records, chance, most_odd):
    values = [orjson.dumps(record) for record in records]
    values = [value if chance.random() < 0.5 else _broken(value, chance) for value in values]
    known = KnownRecords(SCHEMA)
    found = known.read(values, 0, len(values), most_odd)
    found.batch.validate(full=True)
    assert len(found.odd) == most_odd or found.stop == len(values)
    alone = [known.read([value], 0, 1, 1) for value in values[: found.stop]]
    assert found.odd == [number for number, one in enumerate(alone) if one.odd]
    assert pa.Table.from_batches([found.batch]).equals(pa.Table.from_batches([one.batch for one in alone]))


@needs_kernel
@pytest.mark.parametrize(
    "record",
    [
        b"",
        b" ",
        b"null",
        b"[]",
        b"{",
        b'{"a"',
        b'{"a":',
        b'{"a":1',
        b'{"a":1,',
        b'{"a":1,}',
        b'{"a":1}}',
        b'{"a":1}{"a":1}',
        b'{"a":1}\0',
        b'{"a":1,"a":2}',
        b'{"a":1,"b":null}',
        b'{"A":1}',
        b'{"a ":1}',
        b'{"\\u0061":1}',
        b"{a:1}",
        b'\xef\xbb\xbf{"a":1}',
        b'{"a":nul}',
        b'{"a":nulll}',
        b'{"a":tru}',
        b'{"a":1 2}',
        None,
        "{}",
    ],
)  # fmt: skip
def test_what_is_not_of_the_shape_is_left_to_others(record):
    known = KnownRecords(pa.schema([("a", pa.int64())]))
    batch, reached = _read_on(known, [b'{"a":7}', b"{}", record, b'{"a":8}'])
    assert (batch.column(0).to_pylist(), reached) == ([7, None], 2)
    batch, reached = _read_on(known, [b'{"a":7}', record, b'{"a":8}'], 2)
    assert (batch.column(0).to_pylist(), reached) == ([8], 3)


@needs_kernel
@pytest.mark.parametrize(
    "text",
    [b"1.0", b"1e2", b"01", b"-", b"+1", b"9223372036854775808", b"-9223372036854775809", b"1" * 20, b'"1"', b"true"],
)
def test_what_is_no_whole_number_of_64_bits_is_no_long(text):
    assert _one(pa.int64(), text) == []


@needs_kernel
@pytest.mark.parametrize("number", [0, -1, 2**63 - 1, -(2**63), 10**18, -(10**18)])
def test_longs_keep_every_digit(number):
    assert _one(pa.int64(), str(number).encode()) == [number]


@needs_kernel
@pytest.mark.parametrize(
    "text",
    [b"1.", b".5", b"00.5", b"1e", b"1e+", b"--1", b"1e999", b"-1e999", b"NaN", b"Infinity", b"0x1p3", b"1_0", b"inf"],
)
def test_what_is_no_number_of_json_is_no_double(text):
    assert _one(pa.float64(), text) == []


DIGITS = st.text("0123456789", min_size=1, max_size=25)
NUMBERS = st.one_of(
    DOUBLES.map(repr),
    st.floats(-1e6, 1e6).map(lambda number: f"{number:.5f}"),
    st.builds(
        "{}{}.{}{}".format,
        st.sampled_from(["", "-"]),
        DIGITS.map(lambda digits: digits.lstrip("0") or "0"),
        DIGITS,
        st.one_of(st.just(""), st.integers(-400, 400).map("e{}".format), st.sampled_from(["E+5", "e-00007", "e0"])),
    ),
    # Halves between two doubles, and what lies just beside them.
    st.integers(2**52, 2**53).map(lambda number: f"{number}.5"),
    st.integers(2**53, 2**63).map(str),
    st.sampled_from(
        ["-0", "-0.0", "0e400", "1e22", "1e23", "9007199254740993", "4.9e-324", "2.4e-324", "1.7976931348623157e308"]
    ),
)


@needs_kernel
@settings(max_examples=20 * settings.default.max_examples)
@given(NUMBERS)
def test_doubles_are_the_nearest_to_what_is_written_but_integers_are_exact_or_left_to_others(text):
    expected = float(text)
    got = _one(pa.float64(), text.encode())
    if math.isinf(expected) or (text.lstrip("-").isdigit() and abs(int(text)) > 2**53):
        assert got == []
    else:
        assert [number.hex() for number in got] == [expected.hex()]


@needs_kernel
@pytest.mark.parametrize("before", range(36))
@pytest.mark.parametrize(
    "invalid",
    [
        b"\x80", b"\xbf", b"\xc0\xaf", b"\xc1\xbf", b"\xc3", b"\xc3(", b"\xe0\x9f\xbf", b"\xe2\x82", b"\xed\xa0\x80",
        b"\xf0\x8f\xbf\xbf", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xff", b"\xc3\\u00a9",
        b"\0", b"\n", b"\x1f", b"\\", b"\\x", b"\\u12", b"\\u12g4", b"\\ud800", b"\\ud800\\u0041", b"\\udc00", b"\\u0000",
    ],
)  # fmt: skip
def test_texts_that_are_none_are_found_wherever_they_stand(before, invalid):
    assert _one(pa.string(), b'"%s%s"' % (b"x" * before, invalid)) == []
    assert _one(pa.string(), b'"%s%s%s"' % (b"x" * before, invalid, b"y" * 20)) == []


@needs_kernel
@given(TEXTS, TEXTS, st.integers(0, 20))
def test_texts_are_read_with_and_without_escapes(first, second, spaces):
    for ascii_only in (True, False):
        written = json.dumps(first + " " * spaces + second, ensure_ascii=ascii_only).encode()
        assert _one(pa.string(), written) == [first + " " * spaces + second]


@needs_kernel
def test_a_null_object_has_nulls_in_all_its_fields():
    batch = _read(SCHEMA, b'{"at":null}', b'{"at":{}}', b'{"either":null}', b'{"either":[]}')
    assert batch.column("at").is_null().to_pylist() == [True, False, True, True]
    assert batch.column("at").field("x").null_count == 4
    assert batch.column("either").is_null().to_pylist() == [True, True, True, False]


@pytest.mark.parametrize(
    "schema",
    [
        pa.schema([]),
        pa.schema([("a", pa.timestamp("us"))]),
        pa.schema([("a", pa.list_(pa.int32()))]),
        pa.schema([("a", pa.struct([('b"', pa.int64())]))]),
        pa.schema([("a\\", pa.int64())]),
        pa.schema([("a\n", pa.int64())]),
    ],
)
def test_schemas_that_the_kernel_has_no_place_for_are_read_by_pyarrow(schema):
    assert not can_read(schema)


@needs_kernel
def test_a_field_that_is_new_is_met_once(monkeypatch):
    decoder = JsonDecoder(pa.schema([("a", pa.int64())]))
    read_any = Mock(side_effect=decoder._read_any)
    monkeypatch.setattr(decoder, "_read_any", read_any)
    values = [b'{"a":1}'] * 1_000 + [b'{"a":1,"b":2}'] * 1_000 + [b"{}}"] + [b'{"b":3}'] * 1_000
    chunk = decoder.decode(values, range(len(values)), "clicks", "0")
    assert chunk.batch.num_rows == 3_000
    assert chunk.batch.column("b").to_pylist() == [None] * 1_000 + [2] * 1_000 + [3] * 1_000
    assert [error.at.position for error in chunk.errors] == ["2000"]
    assert [len(call.args[0]) for call in read_any.call_args_list] == [16, 1]


@needs_kernel
def test_records_that_are_all_odd_are_handed_over_in_ever_larger_pieces(monkeypatch):
    decoder = JsonDecoder(pa.schema([("a", pa.int64())]))
    read_any = Mock(side_effect=decoder._read_any)
    monkeypatch.setattr(decoder, "_read_any", read_any)
    values = [b'{"a":1,"a":2}'] * 2_000
    assert decoder.decode(values, range(2_000), "clicks", "0").batch.column(0).to_pylist() == [2] * 2_000
    assert [len(call.args[0]) for call in read_any.call_args_list] == [16, 32, 64, 128, 256, 512, 992]
    decoder.decode([b'{"a":1}'], [2_000], "clicks", "0")
    read_any.reset_mock()
    decoder.decode([values[0], b'{"a":1}'], [2_001, 2_002], "clicks", "0")
    assert [len(call.args[0]) for call in read_any.call_args_list] == [1]


@needs_kernel
def test_the_kernel_refuses_what_is_no_shape_and_what_are_no_records():
    compiled = json_kernel._compiled
    for shape in [(9, b"", ()), (6, b"", ()), (2, b"", ((2, b"", ()),)), (-1, b"", ())]:
        with pytest.raises(ValueError, match="no such column"):
            compiled.reader_of((5, b"", (shape,)))
    with pytest.raises(TypeError):
        compiled.reader_of([5, b"", ()])
    reader = compiled.reader_of((5, b"", ((2, b'"a"', ()),)))
    for start, stop in [(-1, 0), (1, 0), (0, 2)]:
        with pytest.raises(ValueError, match="no such records"):
            compiled.read(reader, [b"{}"], start, stop, 1)
    with pytest.raises(TypeError):
        compiled.read(reader, (b"{}",), 0, 1, 1)
    with pytest.raises(ValueError, match="PyCapsule"):
        compiled.read(sys, [], 0, 0, 1)
