"""Payloads, keys, numbers, and the journal."""

import json
from collections import Counter
from hashlib import sha256
from itertools import islice

import pytest

from gluepot.core.errors import ConfigError
from gluepot.produce import demo_payloads, file_payloads, keys, records
from gluepot.produce.journal import Journal


def first(count, *given):
    return list(islice(records(*given), count))


def test_payloads_are_sent_again_and_again_in_their_order():
    assert [value for value, _ in first(5, [b"a", b"b"])] == [b"a", b"b", b"a", b"b", b"a"]


def test_the_number_is_the_first_field_and_the_rest_is_as_it_was():
    sent = [json.loads(value) for value, _ in first(4, [b' {"a": "x%dy"}', b"{}"], None, "seq")]
    assert sent == [{"seq": 0, "a": "x%dy"}, {"seq": 1}, {"seq": 2, "a": "x%dy"}, {"seq": 3}]


def test_a_payload_without_room_for_a_number_is_refused():
    with pytest.raises(ConfigError, match="number-field"):
        records([b"1,2"], None, "seq")


def test_keys_follow_zipfs_law():
    drawn = Counter(keys(100, 1.0, seed=1))
    assert drawn.most_common(1)[0][0] == b"key-0"
    assert drawn[b"key-0"] / drawn[b"key-9"] == pytest.approx(10, rel=0.15)


def test_keys_without_skew_are_even_and_equal_for_equal_seeds():
    drawn = keys(4, 0.0, seed=1)
    assert max(Counter(drawn).values()) / min(Counter(drawn).values()) < 1.05
    assert drawn == keys(4, 0.0, seed=1) != keys(4, 0.0, seed=2)


@pytest.mark.parametrize(("how_many", "skew"), [(0, 1.0), (5, -1.0)])
def test_keys_out_of_range_are_refused(how_many, skew):
    with pytest.raises(ConfigError, match="--keys"):
        keys(how_many, skew, 1)


def test_a_file_gives_a_record_a_line(tmp_path):
    (tmp_path / "sample").write_bytes(b'{"a":1}\n\n{"a":2}\n')
    assert file_payloads(tmp_path / "sample") == [b'{"a":1}', b'{"a":2}']


@pytest.mark.parametrize("content", [None, b"\n\n"])
def test_a_file_without_records_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "sample").write_bytes(content)
    with pytest.raises(ConfigError):
        file_payloads(tmp_path / "sample")


def test_made_up_events_are_json_all_of_them():
    assert all(json.loads(payload)["event_id"] >= 0 for payload in demo_payloads())


def test_the_journal_has_a_line_for_what_was_acknowledged_only(tmp_path):
    journal = Journal(tmp_path / "journal", "clicks")
    for number, payload in enumerate([b"a", b"b"]):
        journal.sending(number, payload)
    journal.taken(1, 3, 77)
    journal.close()
    (line,) = (tmp_path / "journal").read_text().splitlines()
    assert json.loads(line) == {
        "number": 1, "sha256": sha256(b"b").hexdigest(), "topic": "clicks", "partition": 3, "offset": 77,
    }  # fmt: skip
