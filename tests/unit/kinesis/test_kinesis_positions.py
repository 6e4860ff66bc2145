"""Positions, notes and entries of the offset log."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.kinesis.positions import Note, Positions, behind, fingerprint, position, sequence_before
from gluepot.connectors.positions import Span
from gluepot.connectors.values import SourceRange
from gluepot.core.errors import CheckpointError

SEQUENCES = st.integers(1, 10**56)
NOTES = st.one_of(
    st.builds(Note, begins=st.sampled_from(["", "horizon", "1700000000000"]), closed=st.booleans()),
    st.builds(
        Note,
        records=st.integers(1, 10**6),
        total=st.integers(0, 2**64 - 1),
        first=SEQUENCES,
        closed=st.booleans(),
    ),
)


@given(SEQUENCES, st.integers(0, 10**6))
def test_positions_order_records_and_what_is_within_them(sequence, sub):
    assert position(sequence) <= position(sequence, sub) < behind(sequence) == position(sequence + 1)
    assert sequence_before(behind(sequence)) == sequence


@given(NOTES)
def test_a_note_survives_its_text(note):
    assert Note.parse(note.to_text()) == note


def test_a_note_of_another_form_is_refused():
    with pytest.raises(CheckpointError, match="newer Gluepot"):
        Note.parse("records=many")


@given(st.dictionaries(st.sampled_from("abc"), st.tuples(SEQUENCES, NOTES)))
def test_an_entry_survives_json_and_any_change_is_noticed(shards):
    spans = {("s", name): Span(position(at), behind(at)) for name, (at, _) in shards.items()}
    notes = {("s", name): note.to_text() for name, (_, note) in shards.items() if note.to_text()}
    entry = Positions({"s": "1"} if spans else {}, spans, "", notes)
    text = json.dumps(entry.to_json())

    assert Positions.from_json(json.loads(text)) == entry
    if spans:
        changed = text.replace(str(max(span.end for span in spans.values())), "7")
        with pytest.raises(CheckpointError):
            Positions.from_json(json.loads(changed))


def test_the_ranges_of_a_batch_say_what_proves_them():
    note = Note(records=2, total=5, first=8).to_text()
    entry = Positions({"s": "1"}, {("s", "a"): Span(80, 90), ("s", "b"): Span(3, 3)}, "", {("s", "a"): note})

    (one,) = entry.ranges()
    assert one == SourceRange("kinesis", "s", "1", "a", 80, 90)
    assert one.proof == note
    assert one.piece(80, 90).proof == note
    assert one.piece(80, 85).proof == ""


def test_what_lasts_of_a_note_is_where_a_shard_begins_and_that_it_ended():
    notes = {("s", "a"): Note(records=1, total=1, first=1, closed=True).to_text(), ("s", "b"): "begins=horizon"}

    assert Positions(notes=notes).lasting_notes() == {("s", "a"): "closed", ("s", "b"): "begins=horizon"}


@given(st.lists(st.tuples(st.text("0123456789", min_size=1), st.binary(max_size=20))), st.integers(0, 10))
def test_the_fingerprint_of_a_whole_is_the_sum_of_its_parts(records, cut):
    def of(some):
        return fingerprint([number for number, _ in some], [data for _, data in some])

    assert of(records) == (of(records[:cut]) + of(records[cut:])) % 2**64


def test_positions_beyond_what_a_double_holds_are_text_in_manifests():
    one = SourceRange("kinesis", "s", "1", "a", position(10**55), behind(10**55))
    plain = json.loads(json.dumps(one.to_json()))

    assert isinstance(plain["start"], str)
    assert SourceRange.from_json(plain) == one
