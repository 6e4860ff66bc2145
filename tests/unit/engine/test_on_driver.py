from __future__ import annotations

import threading
from contextvars import ContextVar

import pytest

from gluepot.engine.on_driver import MOST_PIECES, SMALL_INPUT_BYTES, is_own_work, is_small, is_small_input, run
from gluepot.engine.task import Place
from gluepot.frames.chunk import CallSite
from gluepot.frames.transforms import DropNulls, FilterRows, MapRows, Stage


@pytest.mark.parametrize(
    ("records", "pieces", "most_records", "small"),
    [
        (1_000, 2, 1_000, True),
        (1_001, 2, 1_000, False),
        (1_000, MOST_PIECES, 1_000, True),
        (1_000, MOST_PIECES + 1, 1_000, False),
        (0, 1, 0, False),
        (0, 0, 1_000, True),
    ],
)
def test_a_batch_is_small_with_few_records_in_few_ranges_unless_that_is_switched_off(
    records, pieces, most_records, small
):
    assert is_small(records, pieces, most_records) is small


@pytest.mark.parametrize(
    ("sizes_bytes", "small"),
    [
        ([], True),
        ([10, SMALL_INPUT_BYTES - 10], True),
        ([10, SMALL_INPUT_BYTES - 9], False),
        ([10, 0], False),
    ],
)
def test_a_bounded_input_is_small_by_its_bytes_and_never_where_they_are_unknown(sizes_bytes, small):
    assert is_small_input(sizes_bytes) is small


@pytest.mark.parametrize(
    ("steps", "own"),
    [
        ((), True),
        ((DropNulls(),), True),
        ((DropNulls(), FilterRows(bool)), False),
        ((Stage(MapRows(dict), CallSite("Map", "here")),), False),
    ],
)
def test_functions_of_the_script_are_not_our_own_work(steps, own):
    assert is_own_work(steps) is own


def test_each_piece_runs_once_at_a_place_of_its_own_and_results_are_in_order():
    def body(pieces, place):
        for piece in pieces:
            yield piece, place

    assert run(["a", "b", "c"], body) == [("a", Place(0, 0)), ("b", Place(1, 1)), ("c", Place(2, 2))]
    assert run([], body) == []


def test_pieces_wait_side_by_side():
    met = threading.Barrier(2, timeout=5)

    def body(pieces, _):
        met.wait()
        yield from pieces

    assert run([1, 2], body) == [1, 2]


def test_pieces_know_what_their_caller_knows():
    told = ContextVar("told", default="nothing")
    told.set("batch 7")

    def body(pieces, _):
        yield from (told.get() for _ in pieces)

    assert run([1, 2], body) == ["batch 7", "batch 7"]


def test_the_first_failure_is_raised_when_all_have_ended():
    ended = []

    def body(pieces, _):
        (piece,) = pieces
        if piece != "good":
            raise ValueError(piece)
        yield piece
        ended.append(piece)

    with pytest.raises(ValueError, match="first"):
        run(["good", "first", "good", "second"], body)
    assert ended == ["good", "good"]
