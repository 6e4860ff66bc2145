"""Payloads in one buffer behave like a list of them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.payloads import Payloads, as_array, payloads, total_bytes

VALUES = st.lists(st.binary(max_size=12), max_size=8)
JSON = st.sampled_from(
    [b'{"a":1}', b'{"a":"x","b":2}', b'{"b":[1,2]}', b"{}", b"", b"[1]", b'{"a":', b'{"a":1}{', b"\0"]
)


def laid_out(values: list[bytes]) -> Payloads:
    return Payloads(pa.array([b"before", *values, b"behind"], pa.large_binary())[1 : len(values) + 1])


@given(VALUES, st.slices(8))
def test_they_are_what_a_list_is(values, some):
    given_ = laid_out(values)

    assert list(given_) == values
    assert len(given_) == len(values)
    assert [given_[at] for at in range(len(values))] == values
    assert list(given_[some]) == values[some]
    assert as_array(given_).to_pylist() == values
    assert total_bytes(given_) == total_bytes(values) == sum(map(len, values))


@given(VALUES)
def test_the_ends_and_the_buffer_hold_each_payload(values):
    given_ = laid_out(values)
    ends = given_.ends

    assert [bytes(given_.buffer[ends[at] : ends[at + 1]]) for at in range(len(values))] == values


def test_a_payload_beyond_the_end_is_none():
    with pytest.raises(IndexError):
        laid_out([b"1"])[1]


def test_columns_with_nulls_become_lists():
    assert payloads(pa.array([b"1", None], pa.binary())) == [b"1", None]
    assert total_bytes([b"1", None]) == 1
    assert list(payloads(pa.array([b"1", b""], pa.binary()))) == [b"1", b""]
    assert as_array([b"1", None]).to_pylist() == [b"1", None]


@given(st.lists(JSON, min_size=1, max_size=12))
def test_a_decoder_reads_them_as_it_reads_a_list(values):
    one, other = JsonDecoder(), JsonDecoder()
    for _ in range(2):  # the second time, the decoder knows a schema
        positions = list(range(len(values)))
        listed = one.decode(values, positions, "clicks", "0")
        read = other.decode(laid_out(values), positions, "clicks", "0")

        assert read.batch.equals(listed.batch, check_metadata=True)
        assert read.errors == listed.errors
