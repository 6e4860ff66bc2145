"""Counted records on local disk."""

from dataclasses import replace

import pyarrow as pa
import pytest

from gluepot.connectors.kafka.counted import Keeping, counted
from gluepot.connectors.values import RawBatch, SourceRange

RANGE = SourceRange("kafka", "clicks", "id", "0", 0, 10)
NEXT = SourceRange("kafka", "clicks", "id", "0", 10, 20)


def batch(*values, first=0, **columns):
    return RawBatch(list(values), list(range(first, first + len(values))), "clicks", "0", 1_000 + first, columns)


def keep(folder, wanted, batches, **limits):
    with Keeping(folder, wanted, **limits) as keeping:
        for one in batches:
            keeping.add(one)


def held(folder, wanted):
    found = counted(folder, wanted)
    return None if found is None else [replace(batch, values=list(batch.values)) for batch in found]


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_what_was_counted_is_read_as_the_source_gave_it(tmp_path):
    headers = pa.array(
        [[{"key": "a", "value": "1"}], None], pa.list_(pa.struct({"key": pa.string(), "value": pa.string()}))
    )
    given = [batch(b"{}", None, headers=headers), batch(b"", first=7, headers=headers[:1])]
    keep(tmp_path, RANGE, given)
    assert held(tmp_path, RANGE) == given


def test_another_range_and_another_stream_were_not_counted(tmp_path):
    keep(tmp_path, RANGE, [batch(b"{}")])
    assert held(tmp_path, NEXT) is None
    assert held(tmp_path, RANGE.piece(0, 5)) is None
    assert held(tmp_path, SourceRange("kafka", "clicks", "made anew", "0", 0, 10)) is None


def test_the_next_range_of_a_shard_takes_the_place_of_the_last(tmp_path):
    keep(tmp_path, RANGE, [batch(b"{}")])
    keep(tmp_path, NEXT, [batch(b"{}")])
    assert held(tmp_path, RANGE) is None
    assert len(files(tmp_path)) == 1


def test_a_count_that_failed_keeps_nothing(tmp_path):
    def batches():
        yield batch(b"{}")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        keep(tmp_path, RANGE, batches())
    assert held(tmp_path, RANGE) is None
    assert files(tmp_path) == []


def test_an_empty_range_keeps_nothing(tmp_path):
    keep(tmp_path, RANGE, [])
    assert held(tmp_path, RANGE) is None
    assert files(tmp_path) == []


def test_a_range_that_is_too_large_is_not_kept_in_part(tmp_path):
    keep(tmp_path, RANGE, [batch(b"x" * 500), batch(b"x" * 600), batch(b"x")], most_bytes=1_000)
    assert held(tmp_path, RANGE) is None
    assert files(tmp_path) == []


def test_the_shards_of_a_stream_share_the_room(tmp_path):
    other = SourceRange("kafka", "clicks", "id", "1", 0, 10)
    keep(tmp_path, RANGE, [batch(b"x" * 600)], most_bytes=1_000)
    keep(tmp_path, other, [batch(b"x" * 600)], most_bytes=1_000)
    assert held(tmp_path, RANGE) is not None
    assert held(tmp_path, other) is None


@pytest.mark.parametrize("folder", [None, "gone"])
def test_on_another_machine_nothing_is_kept(tmp_path, folder):
    place = None if folder is None else tmp_path / folder
    keep(place, RANGE, [batch(b"{}")])
    assert held(place, RANGE) is None
    assert files(tmp_path) == []
