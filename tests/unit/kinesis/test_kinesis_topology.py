"""Which shards may be read: parents before children, whatever happened to the stream."""

from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.kinesis.topology import Shard, readable, vanished


def test_a_shard_is_read_from_what_the_service_says():
    plain = {
        "ShardId": "c",
        "ParentShardId": "a",
        "AdjacentParentShardId": "b",
        "SequenceNumberRange": {"StartingSequenceNumber": "1", "EndingSequenceNumber": "9"},
    }

    assert Shard.from_api(plain) == Shard("c", ("a", "b"), ended=True)
    assert Shard.from_api({"ShardId": "a", "SequenceNumberRange": {}}) == Shard("a")


def test_a_split_opens_the_children_when_the_parent_is_done():
    shards = [Shard("p", ended=True), Shard("l", ("p",)), Shard("r", ("p",))]

    assert readable(shards, ()) == ["p"]
    assert readable(shards, {"p"}) == ["l", "r"]


def test_a_merge_waits_for_both_parents():
    shards = [Shard("a", ended=True), Shard("b", ended=True), Shard("m", ("a", "b"))]

    assert readable(shards, {"a"}) == ["b"]
    assert readable(shards, {"a", "b"}) == ["m"]


def test_parents_that_have_expired_hold_nothing_up():
    assert readable([Shard("m", ("a", "b"))], ()) == ["m"]


def test_only_a_shard_that_was_not_read_to_its_end_is_missed():
    assert vanished([Shard("c", ("a", "b"))], ["a", "b", "c"], {"a"}) == ["b"]


@st.composite
def reshardings(draw):
    """A stream's shards after some splits and merges."""
    shards = {"0": Shard("0"), "1": Shard("1")}
    for _ in range(draw(st.integers(0, 12))):
        leaves = [one for one in shards.values() if not one.ended]
        chosen = draw(st.permutations(leaves))
        parents = chosen[: draw(st.integers(1, 2))]
        for parent in parents:
            shards[parent.id] = Shard(parent.id, parent.parents, ended=True)
        for _ in range(2 if len(parents) == 1 else 1):
            name = str(len(shards))
            shards[name] = Shard(name, tuple(parent.id for parent in parents))
    return list(shards.values())


@given(reshardings(), st.randoms())
def test_reading_what_is_readable_reads_every_shard_once_parents_first(shards, chance):
    finished = []
    while waiting := readable(shards, finished):
        finished.append(chance.choice(waiting))

    assert sorted(finished) == sorted(shard.id for shard in shards)
    for shard in shards:
        assert all(finished.index(parent) < finished.index(shard.id) for parent in shard.parents)
