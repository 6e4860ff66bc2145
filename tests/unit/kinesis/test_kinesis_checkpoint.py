"""The offset log of a Kinesis query, as checkpoint care reads it."""

import json

from gluepot.connectors.kinesis.blocks import Extent
from gluepot.connectors.kinesis.plan import Ahead, initial, plan
from gluepot.connectors.kinesis.positions import behind, position
from gluepot.connectors.kinesis.settings import FromHorizon
from gluepot.connectors.kinesis.topology import Shard
from gluepot.connectors.streams.start import read_start, write_start
from gluepot.streaming.checkpoints.against_table import entry_of
from gluepot.streaming.checkpoints.chain import judge
from gluepot.streaming.checkpoints.contents import OffsetFile, read_offsets
from tests.unit.checkpoints.made import offset_file
from tests.unit.commit.worlds import MemoryStorage

SHARDS = (Shard("a"), Shard("b"))


def batches(count):
    held, at = initial("clicks", "7", SHARDS, FromHorizon(), 0), None
    for n in range(count):
        first = 10**55 + 3 * n
        block = Extent(position(first) if at is None else at, first, first + 1, 2, n)
        at = behind(first + 1)
        held = plan(held, "clicks", "7", SHARDS, {"a": Ahead((block,))}, 100, held.check if n else "")
        yield held


def log(count):
    return {n: read_offsets(offset_file(json.dumps(one.to_json())), None) for n, one in enumerate(batches(count))}


def test_a_log_as_it_was_written_is_sound():
    entries = log(4)

    assert all(isinstance(one, OffsetFile) for one in entries.values())
    assert judge(entries).sound == {0, 1, 2, 3}


def test_an_entry_in_the_place_of_another_is_noticed():
    entries = log(4)

    assert 2 not in judge(entries | {2: entries[0]}).sound


def test_an_entry_is_made_again_from_what_a_table_says_of_its_batch():
    first, second = batches(2)
    entries = log(2)

    (made,) = entry_of(entries[0], second.ranges()).positions
    assert (made.spans, made.after, made.stream_ids) == (second.spans, first.check, second.stream_ids)
    assert made.notes == {}


def test_a_chosen_start_survives_its_file():
    storage = MemoryStorage({})
    (first,) = batches(1)
    write_start(storage, first)
    start = read_start(storage)

    assert start.ends() == first.ends()
