"""Small inputs in the driver's own process: a Spark job takes longer to start than they take to read and write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from gluepot.engine.task import Place
from gluepot.frames.transforms import Step, calls_user_code

MOST_PIECES = 8
"""Ranges of a small batch: a consumer is kept open for each."""
THREADS = 4
"""They wait for the source side by side; decoding and encoding leave the interpreter's lock most of the time."""

SMALL_INPUT_BYTES = 1 << 20
"""Of the files of a batch job: read and written in some ten milliseconds, where workers take over a second to start."""

PieceT = TypeVar("PieceT")


def is_small(records: int, pieces: int, most_records: int) -> bool:
    """Tell whether a batch is better run in the driver.

    Args:
        records: of the batch, or an upper bound.
        pieces: ranges it comes in.
        most_records: as the user has set it; 0 for never.
    """
    return records <= most_records and pieces <= MOST_PIECES and most_records > 0


def is_small_input(sizes_bytes: Iterable[int]) -> bool:
    """Tell whether the parts of a bounded input are better read in the driver; one of unknown size, 0, is not."""
    sizes = list(sizes_bytes)
    return all(sizes) and sum(sizes) <= SMALL_INPUT_BYTES


def is_own_work(steps: Iterable[Step]) -> bool:
    """Tell whether nothing but our code runs: what a script's functions do to their process is meant for a worker."""
    return not any(map(calls_user_code, steps))


def run(pieces: Sequence[PieceT], body: Callable[[Iterable[PieceT], Place], Iterator[Any]]) -> list[Any]:
    """Run `body` once for each piece; return what all of them yield, in order of the pieces.

    Raises:
        Exception: what the first of the pieces that failed has raised, when all have come to an end.
    """

    def one(numbered: tuple[int, PieceT]) -> list[Any]:
        ordinal, piece = numbered
        return list(body([piece], Place(ordinal, ordinal)))

    if len(pieces) <= 1:
        return [result for numbered in enumerate(pieces) for result in one(numbered)]
    with ThreadPoolExecutor(min(len(pieces), THREADS), thread_name_prefix="gluepot-small-batch") as pool:
        # Log lines of the threads name the batch, too.
        running = [pool.submit(copy_context().run, one, numbered) for numbered in enumerate(pieces)]
    return [result for done in running for result in done.result()]
