"""Moving a query over a Kinesis stream: by its bookmark, and batch by batch."""

from __future__ import annotations

import json

import pytest

from gluepot.cli.bookmarks.streams import place_of as place_of_mark
from gluepot.cli.bookmarks.streams import place_text
from gluepot.connectors.kafka.positions import Positions as KafkaPositions
from gluepot.connectors.kinesis.blocks import Extent
from gluepot.connectors.kinesis.plan import Ahead, initial, place_of, plan
from gluepot.connectors.kinesis.positions import Positions, behind, position
from gluepot.connectors.kinesis.settings import FromLatest
from gluepot.connectors.kinesis.topology import Shard
from gluepot.connectors.positions import one_place
from gluepot.connectors.streams.start import of_stream, read_start, write_start
from gluepot.core.errors import CheckpointError, ConfigError
from gluepot.streaming.checkpoints import moves
from gluepot.streaming.checkpoints.rewind import end_of
from gluepot.streaming.checkpoints.snapshot import read
from gluepot.streaming.query.ledger_positions import StreamMark
from tests.unit.checkpoints.made import COMMIT, QUERY, offset_file
from tests.unit.commit.worlds import MemoryStorage

SHARDS = (Shard("a"), Shard("b"), Shard("c", ended=True))
NOW_MS = 1_700_000_000_000


def batches(count: int) -> list[Positions]:
    """Shard a has two records in each batch, b has none, c ends in the first."""
    made: list[Positions] = []
    held, at = initial("clicks", "7", SHARDS, FromLatest(), NOW_MS), None
    for n in range(count):
        first = 1000 + 10 * n
        block = Extent(position(first) if at is None else at, first, first + 1, 2, n)
        at = behind(first + 1)
        of_c = Ahead((Extent(position(5), 5, 5, 1, 0),), closed=True) if n == 0 else Ahead()
        ahead = {"a": Ahead((block,)), "c": of_c}
        held = plan(held, "clicks", "7", SHARDS, ahead, 100, held.check if n else "")
        made.append(held)
    return made


def checkpoint(count: int) -> MemoryStorage:
    files = {"metadata": json.dumps({"id": QUERY}).encode()}
    files |= {f"offsets/{n}": offset_file(json.dumps(one.to_json()), at=n) for n, one in enumerate(batches(count))}
    return MemoryStorage(files | {f"commits/{n}": COMMIT for n in range(count)})


def mark(held: Positions) -> StreamMark:
    return StreamMark("ck", QUERY, 1, [held.to_json()])


def test_a_bookmark_is_the_place_behind_its_batch():
    _, second = batches(2)
    place = place_of_mark(mark(second))
    assert place.ends() == second.ends()
    assert place_text(mark(second)) == "clicks a:behind 1011 c:behind 5"


def test_a_place_keeps_which_shards_have_ended_and_when_the_others_begin():
    storage = MemoryStorage({})
    write_start(storage, place_of_mark(mark(batches(2)[1])))
    start = of_stream(read_start(storage), lambda stream, _: stream == "clicks", ["clicks"], "ck")
    assert isinstance(start, Positions)
    assert start.note("clicks", "c").closed
    assert place_of("clicks", "b", start) == place_of(
        "clicks", "b", initial("clicks", "7", SHARDS, FromLatest(), NOW_MS)
    )


def test_a_query_goes_back_to_a_batch():
    storage = checkpoint(4)
    assert end_of(read(storage), 1) == batches(2)[1].place()


def test_what_lies_between_two_places_is_not_counted():
    storage = checkpoint(4)
    told = moves.moves(moves.standing(read(storage)), end_of(read(storage), 1))
    assert [(one.reread, one.skipped) for one in told] == [(None, 0), (0, 0)]
    assert [str(one) for one in told] == [
        "clicks shard a goes from behind 1031 to behind 1011: what lies between is read again",
        "clicks shard c goes from behind 5 to behind 5: no change",
    ]


@pytest.mark.parametrize("option", ["--to-offsets", "--to-timestamp"])
def test_options_that_work_on_offsets_are_refused(option):
    standing = moves.standing(read(checkpoint(1)))
    with pytest.raises(
        ConfigError, match=f"{option} works on offsets.*sequence numbers of Kinesis; go back with --to-batch"
    ):
        moves.require_offsets(standing, option)
    moves.require_offsets(KafkaPositions(), option)


def test_a_query_over_two_kinds_of_source_is_not_moved():
    with pytest.raises(CheckpointError, match="reads kafka and kinesis; only a query over one kind"):
        one_place([batches(1)[0], KafkaPositions()])


def test_a_bookmark_of_an_unknown_source_is_refused():
    with pytest.raises(CheckpointError, match="source 'pulsar' that this version does not know; use a newer"):
        place_of_mark(StreamMark("ck", QUERY, 1, [{"source": "pulsar"}]))
