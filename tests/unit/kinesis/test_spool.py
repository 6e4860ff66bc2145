"""Blocks on disk: what is written comes back, and what is torn is not taken for whole."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.kinesis.blocks import Extent, extent_of, to_arrow, total_of
from gluepot.connectors.kinesis.positions import behind, position
from gluepot.connectors.kinesis.spool import SpoolWriter, TornFile, chain, file_name, find, load, parse_name


def block(*sequences):
    held, _ = to_arrow(
        [
            {
                "SequenceNumber": str(sequence),
                "PartitionKey": "k",
                "Data": "eHl6",
                "ApproximateArrivalTimestamp": 1.5,
            }
            for sequence in sequences
        ]
    )
    return held


def spooled(tmp_path, *sequences):
    held = block(*sequences)
    extent = extent_of(held, position(sequences[0]), total_of(held))
    SpoolWriter(tmp_path).write("s", extent, held)
    ((path, found),) = find(tmp_path, "s", extent.start, extent.end)
    assert found == extent
    return path, extent, held


def test_a_block_comes_back_as_it_was(tmp_path):
    path, extent, held = spooled(tmp_path, 5, 9, 12)

    assert load(path, extent).equals(held)
    assert (extent.end, extent.records) == (behind(12), 3)


@given(st.builds(Extent, *[st.integers(0, 10**63)] * 3, st.integers(0, 10**9), st.integers(0, 2**64 - 1)))
def test_a_name_says_what_the_file_holds(extent):
    assert parse_name(file_name(extent)) == extent
    assert len(file_name(extent)) < 255


def test_every_cut_of_a_file_is_noticed(tmp_path):
    path, extent, _ = spooled(tmp_path, 5, 9, 12)
    whole = path.read_bytes()

    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(TornFile):
            load(path, extent)


def test_other_bytes_in_a_record_are_noticed(tmp_path):
    path, extent, _ = spooled(tmp_path, 5, 9, 12)
    path.write_bytes(path.read_bytes().replace(b"xyz", b"xyy", 1))

    with pytest.raises(TornFile, match="not as it was written"):
        load(path, extent)


def test_a_file_under_the_name_of_another_is_noticed(tmp_path):
    path, extent, _ = spooled(tmp_path, 5, 9, 12)
    other, *_ = spooled(tmp_path / "other", 5, 9, 13)
    path.write_bytes(other.read_bytes())

    with pytest.raises(TornFile, match="other records than its name says"):
        load(path, extent)


def test_a_file_that_is_gone_is_torn(tmp_path):
    path, extent, _ = spooled(tmp_path, 5)
    path.unlink()

    with pytest.raises(TornFile):
        load(path, extent)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.data())
def test_a_chain_is_found_exactly_where_nothing_is_missing(widths, data):
    starts = [sum(widths[:n]) for n in range(len(widths) + 1)]
    blocks = [Extent(position(a), a, b - 1, b - a, 0) for a, b in pairwise(starts)]
    missing = data.draw(st.sampled_from([None, *blocks]))
    start = data.draw(st.integers(0, starts[-1] - 1))
    end = data.draw(st.integers(start + 1, starts[-1]))
    wanted = [one for one in blocks if one.end > position(start) and one.start < position(end)]
    there = data.draw(st.permutations([one for one in blocks if one != missing]))

    found = chain(there, position(start), position(end))

    assert found == (None if missing in wanted else wanted)


def test_generations_do_not_mix_and_go_with_the_first_batch_that_is_done_after_them(tmp_path):
    old, new = SpoolWriter(tmp_path), SpoolWriter(tmp_path)
    extents = [extent_of(block(5), position(5), 1), extent_of(block(9), behind(5), 2)]
    old.write("s", extents[0], block(5))
    new.write("s", extents[1], block(9))

    assert find(tmp_path, "s", position(5), behind(9)) is None
    assert find(tmp_path, "s", position(5), behind(5)) is not None
    new.forget([])
    assert find(tmp_path, "s", position(5), behind(5)) is None
    assert find(tmp_path, "s", behind(5), behind(9)) is not None
