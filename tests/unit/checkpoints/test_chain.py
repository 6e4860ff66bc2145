"""How entries of the offset log prove each other."""

import json
from dataclasses import replace

import pytest

from gluepot.connectors.kafka.positions import Bounds, Positions, Span, plan, resume
from gluepot.core.errors import CheckpointError
from gluepot.streaming.checkpoints.chain import follows, judge, rebuilt
from gluepot.streaming.checkpoints.contents import Damage, read_offsets
from tests.unit.checkpoints.made import offset_file, positions


def entries(*held, at=0):
    return {n: read_offsets(offset_file(one, at=n + at), None) for n, one in enumerate(held)}


def entry(*streams):
    return read_offsets(offset_file(*streams), None)


def test_what_the_planner_plans_hangs_together_also_over_an_accepted_loss():
    first = Positions({"t": "id-1"}, {("t", 0): Span(0, 5)})
    start, lost = resume(first, Bounds({"t": "id-1"}, {("t", 0): 9}, {("t", 0): 20}))
    assert lost
    log = entries(first, plan(start, Bounds({"t": "id-1"}, {("t", 0): 9}, {("t", 0): 20}), None))
    assert judge(log).sound == {0, 1}
    assert log[1].positions[0].spans == {("t", 0): Span(9, 20)}


def test_a_changed_entry_is_refused_by_the_source_too():
    plain = positions(1)[0].to_json()
    plain["topics"]["t"]["spans"]["0"][1] = 4
    with pytest.raises(CheckpointError, match="was changed since it was written"):
        Positions.from_json(plain)


def test_an_entry_is_rebuilt_only_with_proof():
    log = entries(*positions(3))
    between = rebuilt(log[0], log[2])
    assert between is not None
    assert between.positions == [positions(3)[1]]
    jumped = replace(positions(3)[2], after="00000000")
    assert rebuilt(log[0], read_offsets(offset_file(jumped), None)) is None
    assert rebuilt(log[0], entries(*positions(4))[3]) is None


@pytest.mark.parametrize("broken", [None, Damage("is empty")], ids=["missing", "empty"])
@pytest.mark.parametrize("n", range(5))
def test_only_an_entry_between_two_others_follows_from_them(n, broken):
    held = positions(5)
    log = entries(*held)
    del log[n]
    chain = judge(log if broken is None else log | {n: broken})
    assert {at: one.positions for at, one in chain.proven.items()} == ({n: [held[n]]} if 0 < n < 4 else {})
    assert (chain.sound, chain.top) == ({0, 1, 2, 3, 4} - {n}, 3 if n == 4 else 4)


def test_without_entries_there_is_no_newest_batch():
    assert judge({}).top == judge({0: Damage("is empty")}).top == -1


def test_a_partition_that_appears_is_part_of_the_proof():
    held = positions(2)
    grown = Positions(held[1].stream_ids, held[1].spans | {("t", 7): Span(0, 4)}, held[1].after)
    last = Positions(grown.stream_ids, {p: Span(s.end, s.end + 1) for p, s in grown.spans.items()}, grown.check)
    log = entries(held[0], grown, last)
    # Where the new partition began is in no neighbour, so there is nothing that could be proven.
    assert rebuilt(log[0], log[2]) is None
    assert judge({0: log[0], 1: Damage("is empty"), 2: log[2]}).proven == {}


def test_a_stream_without_news_is_in_two_entries_and_a_copy_is_no_news():
    one, other = positions(2), positions(2, first=50)
    first, second = offset_file(one[0], other[0]), offset_file(one[0], other[1], at=1)
    assert follows(read_offsets(second, None), read_offsets(first, None))
    assert not follows(read_offsets(first, None), read_offsets(first, None))
    assert not follows(read_offsets(offset_file(one[1]), None), read_offsets(first, None))


def test_two_copied_entries_that_hang_together_do_not_hang_on_the_rest():
    log = entries(*positions(8))
    log |= {8: log[3], 9: log[4]}
    chain = judge(log)
    assert chain.broken_before(8)
    assert not any(chain.broken_before(n) for n in range(8))


def test_a_first_entry_follows_nothing_or_the_chosen_start():
    first, second = positions(2)
    assert judge(entries(first)).sound == {0}
    assert judge(entries(second)).sound == frozenset()
    assert judge(entries(second), [first.check]).sound == {0}


def test_an_entry_of_the_first_version_says_so():
    old = {"source": "kafka", "version": 1, "topics": {"t": {"id": "id-1", "spans": {"0": [0, 3]}}}}
    assert read_offsets(offset_file(json.dumps(old)), None) == Damage(
        "holds offsets of version 1, this Gluepot knows 2"
    )


def test_an_entry_without_neighbours_stands_for_itself():
    alone = read_offsets(offset_file(positions(6)[5], at=5), None)
    assert judge({5: alone}).top == 5


def test_an_entry_that_is_out_of_place_is_told_from_a_copy():
    held = positions(4)
    log = entries(*held)
    assert judge({**log, 3: log[1]}).fault(3) == "is a copy of offsets/1"
    stranger = read_offsets(offset_file(positions(2, first=50)[1], at=3), None)
    assert judge({**log, 3: stranger}).fault(3) == "is not the entry after offsets/2"


@pytest.mark.parametrize("exchanged", [False, True])
def test_a_source_that_is_not_ours_has_to_keep_its_place(exchanged):
    first, second = positions(2)
    behind = (second, "7") if exchanged else ("8", second)
    assert follows(entry(*behind), entry("7", first)) is not exchanged


@pytest.mark.parametrize("exchanged", [False, True])
def test_what_a_source_that_is_not_ours_has_read_is_not_proven(exchanged):
    first, _, third = positions(3)
    behind = (third, "8") if exchanged else ("8", third)
    assert judge({0: entry("7", first), 1: Damage("is empty"), 2: entry(*behind)}).proven == {}


def test_nothing_is_proven_between_entries_with_more_and_fewer_sources():
    first, _, third = positions(3)
    assert judge({0: entry(first), 1: Damage("is empty"), 2: entry(third, "7")}).proven == {}


def test_old_entries_out_of_place_do_not_discredit_the_one_behind_them():
    log = entries(*positions(8))
    chain = judge(log | {3: log[1], 4: log[1]})
    assert (chain.sound, chain.proven) == ({0, 1, 2, 5, 6, 7}, {})
    assert not any(chain.broken_before(n) for n in log)


def test_of_two_entries_for_one_batch_neither_is_taken_for_the_right_one():
    held = positions(4)
    shorter = replace(held[1], spans={("t", 0): Span(3, 5), ("t", 1): Span(2, 4)})
    chain = judge(entries(held[0], shorter, *held[2:]))
    assert (chain.proven, chain.sound) == ({}, {0, 1, 2, 3})
    assert chain.broken_before(2)
