"""Records packed by the KPL are taken apart; what only looks like that is left whole."""

from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.kinesis.aggregation import MAGIC, SubRecord, taken_apart
from tests.unit.kinesis.packed import aggregate

RECORDS = st.lists(st.tuples(st.text(max_size=20), st.binary(max_size=300)), max_size=30)


@given(RECORDS)
def test_what_was_packed_comes_out_in_order(records):
    assert taken_apart(aggregate(records)) == [SubRecord(key, data) for key, data in records]


@given(st.binary(max_size=200))
def test_any_other_record_is_whole(data):
    assert taken_apart(data) is None
    assert taken_apart(MAGIC + data) is None


@given(RECORDS, st.data())
def test_an_aggregate_with_a_changed_byte_is_a_record_like_any_other(records, data):
    packed = bytearray(aggregate(records))
    packed[data.draw(st.integers(0, len(packed) - 1))] ^= 1 << data.draw(st.integers(0, 7))

    assert taken_apart(bytes(packed)) is None
