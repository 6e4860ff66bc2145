"""Runs small inputs in the driver's own process: starting a Spark job takes longer than reading and writing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from gluepot.engine.task import Place
from gluepot.frames.transforms import Step, calls_user_code

# The largest number of ranges in a small batch. The driver keeps a consumer open for each.
MOST_PIECES = 8
# Threads wait for the source at the same time. Decoding and encoding release the interpreter lock most of the time.
THREADS = 4

# The largest total size of a batch job's files that the driver reads itself. It reads and writes them in some ten
# milliseconds, whereas workers take over a second to start.
SMALL_INPUT_BYTES = 1 << 20

PieceT = TypeVar("PieceT")


def is_small(records: int, pieces: int, most_records: int) -> bool:
    """Return whether a batch runs in the driver.

    Args:
        records: number of records in the batch, or an upper bound.
        pieces: number of ranges in the batch.
        most_records: the user's limit on the records; 0 means never.
    """
    return records <= most_records and pieces <= MOST_PIECES and most_records > 0


def is_small_input(sizes_bytes: Iterable[int]) -> bool:
    """Return whether a bounded input is read in the driver. An input with a part of unknown size, 0, is not."""
    sizes = list(sizes_bytes)
    return all(sizes) and sum(sizes) <= SMALL_INPUT_BYTES


def is_own_work(steps: Iterable[Step]) -> bool:
    """Return whether only our own code runs. A script's functions may change their process, which must be a worker."""
    return not any(map(calls_user_code, steps))


def run(pieces: Sequence[PieceT], body: Callable[[Iterable[PieceT], Place], Iterator[Any]]) -> list[Any]:
    """Run `body` once for each piece; return what all of them yield, in the order of the pieces.

    Raises:
        Exception: a piece failed. All pieces end first; then the exception of the first one that failed is raised.
    """

    def one(numbered: tuple[int, PieceT]) -> list[Any]:
        ordinal, piece = numbered
        return list(body([piece], Place(ordinal, ordinal)))

    if len(pieces) <= 1:
        return [result for numbered in enumerate(pieces) for result in one(numbered)]
    with ThreadPoolExecutor(min(len(pieces), THREADS), thread_name_prefix="gluepot-small-batch") as pool:
        # The context is copied so that log lines of the threads name the batch, too.
        running = [pool.submit(copy_context().run, one, numbered) for numbered in enumerate(pieces)]
    return [result for done in running for result in done.result()]
