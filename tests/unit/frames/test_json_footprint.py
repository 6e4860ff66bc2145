import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.frames.json_footprint import cut, ends, excess


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"a":[' + b"0," * 400 + b"0]}", "too_large"),
        (b'{"a":[' + b"{}," * 60 + b"{}]}", "too_large"),
        (b'{"a":' + b"[" * 4 + b"]" * 4 + b"}", "too_deep"),
        (b'{"a":1,"b":2,"c":3,"d":4}', "too_large"),
        (b'{"a":"' + b"x" * 10_000 + b'"}', "too_large"),
    ],
)
def test_a_text_that_is_too_large_is_known_before_it_is_read(text, reason):
    refusal = excess(text, most_bytes=10_000, most_levels=4, most_fields=3)
    assert refusal is not None
    assert refusal.reason == reason


@pytest.mark.parametrize(
    "text", [b'{"a":"' + b"[{,:" * 100 + b'"}', b'{"a":"\\"[[[[[[', b'[{"a":1},{"b":2},{"c":3},{"d":4}]']
)
def test_what_strings_hold_does_not_count(text):
    assert excess(text, most_bytes=2_000, most_levels=4, most_fields=3) is None


@pytest.mark.parametrize(
    ("text", "records"),
    [
        (b'[{"a":[1,2]}, {"b":"],"}]', [b'{"a":[1,2]}', b'{"b":"],"}']),
        (b'{"a":1}\n{"b":[{}]} [1, 2]', [b'{"a":1}', b'{"b":[{}]}', b"1", b"2"]),
        (b'{"a":1} {"b', [b'{"a":1}', b'{"b']),
        (b"", []),
    ],
)
def test_documents_are_cut_into_records(text, records):
    assert [record for _, record in cut(text)] == records


def test_a_record_has_the_byte_that_it_begins_at():
    assert list(cut(b'[{},{"a":1}]')) == [(1, b"{}"), (4, b'{"a":1}')]


@given(st.binary(max_size=60))
def test_any_bytes_can_be_looked_at(text):
    assert excess(text) is None
    assert len(list(cut(text))) >= 0
    assert sorted(ends(text)) == list(ends(text))
