import pyarrow as pa
import pytest

from gluepot.frames.chunk import Coordinates, is_choice
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.json_footprint import MAX_DEPTH
from gluepot.frames.rows import rows


def _decode(decoder, *values):
    return decoder.decode(values, range(100, 100 + len(values)), "clicks", "3")


def _rows(decoder, *values):
    chunk = _decode(decoder, *values)
    assert not chunk.errors
    return list(rows(chunk))


def test_fields_come_in_the_order_first_seen():
    decoder = JsonDecoder()
    _decode(decoder, b'{"b":1}', b'{"a":"x","b":2}')
    _decode(decoder, b'{"c":true,"a":"y"}')
    assert decoder.schema == pa.schema([("b", pa.int64()), ("a", pa.string()), ("c", pa.bool_())])


def test_a_field_once_seen_stays_in_later_chunks():
    decoder = JsonDecoder()
    _decode(decoder, b'{"a":1,"b":{"c":"x"}}')
    assert _rows(decoder, b'{"a":2}') == [{"a": 2, "b": None}]


@pytest.mark.parametrize(
    "text",
    ["2026-11-21", "2026-11-21 04:00:00", "2026-11-21T04:00:00Z", "04:00:00"],
)
@pytest.mark.parametrize("shape", ['{"t":"%s"}', '{"a":{"t":["%s"]}}', '{"a":[{"t":"%s"}]}'])
def test_text_that_looks_like_a_time_stays_text(text, shape):
    value = (shape % text).encode()
    chunk = _decode(JsonDecoder(), value)
    assert f'"{text}"' in str(list(rows(chunk))).replace("'", '"')


def test_a_long_field_is_double_from_its_first_fraction_on():
    decoder = JsonDecoder()
    assert _rows(decoder, b'{"a":1}') == [{"a": 1}]
    assert _rows(decoder, b'{"a":1.5}') == [{"a": 1.5}]
    assert _rows(decoder, b'{"a":2}') == [{"a": 2.0}]
    assert decoder.schema == pa.schema([("a", pa.float64())])


def test_integers_beyond_64_bits_are_double():
    assert _rows(JsonDecoder(), b'{"a":9223372036854775808}') == [{"a": 2.0**63}]


def test_longs_keep_every_digit():
    assert _rows(JsonDecoder(), b'{"a":9007199254740993}', b'{"a":-9223372036854775808}') == [
        {"a": 2**53 + 1},
        {"a": -(2**63)},
    ]


def test_a_field_only_ever_null_takes_the_type_that_comes_later():
    decoder = JsonDecoder()
    _decode(decoder, b'{"a":null,"b":[],"c":{}}')
    assert _rows(decoder, b'{"a":1,"b":["x"],"c":{"d":true}}') == [{"a": 1, "b": ["x"], "c": {"d": True}}]


def test_records_that_disagree_on_a_type_keep_their_own():
    decoder = JsonDecoder()
    values = [1, "x", True, {"k": 1}, [1, 2], None, 0.5]
    texts = [b'{"a":1}', b'{"a":"x"}', b'{"a":true}', b'{"a":{"k":1}}', b'{"a":[1,2]}', b'{"a":null}', b'{"a":0.5}']
    assert [row["a"] for row in _rows(decoder, *texts)] == values
    assert is_choice(decoder.schema.field("a"))
    assert [alternative.name for alternative in decoder.schema.field("a").type] == [
        "boolean",
        "double",
        "string",
        "array",
        "struct",
    ]


def test_a_field_that_changes_its_type_between_chunks_is_a_choice_from_then_on():
    decoder = JsonDecoder()
    _decode(decoder, b'{"a":1}')
    assert _rows(decoder, b'{"a":"x"}') == [{"a": "x"}]
    assert _rows(decoder, b'{"a":2}', b'{"a": "y"}', b"{}") == [{"a": 2}, {"a": "y"}, {"a": None}]


def test_the_guess_at_a_choice_may_be_wrong_and_costs_no_value():
    decoder = JsonDecoder()
    _decode(decoder, b'{"a":1}', b'{"a":"x"}')
    misleading = [b'{"b":{"a":"no"},"a":1}', b'{"b":{"a":7},"a":"x"}', b'{"a" : 2}']
    assert [row["a"] for row in _rows(decoder, *misleading)] == [1, "x", 2]


def test_a_stream_of_many_choices_is_read_without_the_guess():
    decoder = JsonDecoder()
    ints = "{" + ",".join(f'"f{number}":1' for number in range(20)) + "}"
    texts = ints.replace(":1", ':"x"')
    _decode(decoder, ints.encode(), texts.encode())
    assert [set(row.values()) for row in _rows(decoder, ints.encode(), texts.encode())] == [{1}, {"x"}]


def test_more_combinations_of_types_than_groups_are_read_without_the_guess():
    decoder = JsonDecoder()
    values = [
        ("{" + ",".join(f'"f{bit}":{number >> bit & 1 or chr(34) * 2}' for bit in range(6)) + "}").encode()
        for number in range(64)
    ]
    _decode(decoder, *values)
    assert [row["f0"] for row in _rows(decoder, *values)] == ["", 1] * 32


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "null_value"),
        (b"", "malformed_json"),
        (b"{", "malformed_json"),
        (b"{}{}", "malformed_json"),
        (b'{"a":NaN}', "malformed_json"),
        (b'{"a":[-Infinity]}', "malformed_json"),
        (b'{"a":1e999}', "malformed_json"),
        (b'{"a":"\\ud800"}', "malformed_json"),
        (b'{"a":1}\x00}', "malformed_json"),
        (b"1", "not_an_object"),
        (b"null", "not_an_object"),
        (b"true", "not_an_object"),
        (b'"x"', "not_an_object"),
        (b"[{}]", "not_an_object"),
        (b"\xff\xfe", "invalid_utf8"),
        (b'{"a":"\xff"}', "invalid_utf8"),
        (b'{"a":' * 1_000 + b"1" + b"}" * 1_000, "too_deep"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "too_deep"),
        (b'{"a":' + b"[" * 40 + b"]" * 40 + b"}", "too_deep"),
    ],
)
def test_a_record_that_is_no_object_becomes_an_error_beside_its_neighbours(value, reason):
    chunk = _decode(JsonDecoder(), b'{"a":1}', value, b'{"a":2}')
    assert list(rows(chunk)) == [{"a": 1}, {"a": 2}]
    (error,) = chunk.errors
    assert (error.reason, error.raw, error.at) == (reason, value, Coordinates("clicks", "3", "101"))


def test_errors_found_early_and_late_are_in_the_order_of_their_records():
    values = [b'{"a":}', None, b'{"a":1}', b"[]", b'{"b":}', b'{"a":2}', None]
    chunk = _decode(JsonDecoder(), *values)
    assert [error.at.position for error in chunk.errors] == ["100", "101", "103", "104", "106"]
    assert [error.raw for error in chunk.errors] == [b'{"a":}', None, b"[]", b'{"b":}', None]
    assert list(rows(chunk)) == [{"a": 1}, {"a": 2}]


def test_a_key_given_twice_has_its_last_value():
    assert _rows(JsonDecoder(), b'{"a":1,"a":"x"}', b'{"a":"y"}') == [{"a": "x"}, {"a": "y"}]


def test_a_list_that_starts_with_null_keeps_its_items_in_place():
    # What pyarrow.json alone gets wrong: apache/arrow issue 51305.
    assert _rows(JsonDecoder(), b'{"a":[null,1]}', b'{"a":[2]}') == [{"a": [None, 1]}, {"a": [2]}]


def test_white_space_around_records_is_no_fault():
    assert _rows(JsonDecoder(), b' {"a":1}\r\n', b'\t{"a":2}') == [{"a": 1}, {"a": 2}]


def test_the_deepest_records_fit_arrows_ipc_format_even_with_a_choice_at_every_level():
    values = [b'{"a":' * levels + b"1" + b"}" * levels for levels in range(1, MAX_DEPTH + 1)]
    chunk = _decode(JsonDecoder(), *values)
    assert not chunk.errors
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, chunk.batch.schema) as writer:
        writer.write_batch(chunk.batch)
    with pa.ipc.open_stream(sink.getvalue()) as reader:
        assert reader.read_next_batch().equals(chunk.batch, check_metadata=True)


def test_many_brackets_are_no_depth():
    value = b'{"a":"' + b"[" * 3_000 + b'","b":[' + b",".join([b"{}"] * 3_000) + b"]}"
    (row,) = _rows(JsonDecoder(), value)
    assert (len(row["a"]), len(row["b"])) == (3_000, 3_000)


def test_empty_objects_are_rows():
    assert _rows(JsonDecoder(), b"{}", b"{}") == [{}, {}]


def test_no_records_give_no_rows_in_the_known_schema():
    decoder = JsonDecoder(pa.schema([("a", pa.int64())]))
    chunk = _decode(decoder)
    assert (chunk.batch.num_rows, chunk.batch.schema) == (0, pa.schema([("a", pa.int64())]))


def test_only_bad_records_give_no_rows():
    chunk = _decode(JsonDecoder(), b"x", None)
    assert (chunk.batch.num_rows, len(chunk.errors)) == (0, 2)


def test_keys_of_any_spelling_work():
    assert _rows(JsonDecoder(), '{"":1,"a.b":2,"é":3,"\\u0062":4}'.encode()) == [{"": 1, "a.b": 2, "é": 3, "b": 4}]


def test_one_bad_record_among_thousands_costs_no_other():
    values = [b'{"a":%d}' % number for number in range(3_000)]
    values[1_700] = b'{"a":}'
    chunk = _decode(JsonDecoder(), *values)
    assert [row["a"] for row in rows(chunk)] == [number for number in range(3_000) if number != 1_700]
    assert [error.at.position for error in chunk.errors] == ["1800"]
