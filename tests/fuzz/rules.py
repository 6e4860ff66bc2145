"""The rules that everything keeps which parses foreign bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from gluepot.core.errors import EtlError
from gluepot.frames.chunk import Chunk
from gluepot.frames.rows import rows

# A message may repeat a value of 500 characters twice, and a control character takes four. One that repeats its whole
# input is longer.
MOST_MESSAGE = 4_500


class Broken(Exception):
    """A parser broke a rule."""


class Decoder(Protocol):
    """A decoder of records, such as `JsonDecoder`."""

    def decode(self, values: Sequence[bytes | None], positions: Sequence[int], stream: str, shard: str) -> Chunk: ...


def must(holds: object, rule: str) -> None:
    """Raise `Broken` unless a rule holds."""
    if not holds:
        raise Broken(rule)


def refusing(call: Callable[[], Any], *kinds: type[Exception]) -> Any:
    """Return what a call returns; None if it refuses with an error of its own, `EtlError` by default, with a message."""
    kinds = kinds or (EtlError,)
    try:
        return call()
    except kinds as refused:
        message = str(refused)
        must(0 < len(message) <= MOST_MESSAGE, f"A message has {len(message)} characters.")
        return None


def one_place_each(decoder: Decoder, records: Sequence[bytes]) -> set[int]:
    """Decode records; each must be a row or an error with its bytes. Return which are errors."""
    chunk = decoder.decode(records, range(len(records)), "t", "0")
    errors = [int(error.at.position or 0) for error in chunk.errors]
    must(errors == sorted(set(errors)), "Errors are not in the order of their records.")
    must(chunk.batch.num_rows + len(errors) == len(records), "Rows and errors are not as many as the records.")
    must([records[at] for at in errors] == [error.raw for error in chunk.errors], "A rejected record lost its bytes.")
    for error in chunk.errors:
        must(error.reason and 0 < len(error.message) <= MOST_MESSAGE, "An error has no message, or a long one.")
    chunk.batch.validate(full=True)
    return set(errors)


def good_neighbours(new: Callable[[], Decoder], good: bytes, records: Sequence[bytes]) -> None:
    """Decode records between two good ones, which must stay rows that do not change; alone, each fares the same."""
    rejected = one_place_each(new(), [good, *records, good])
    must(not rejected & {0, len(records) + 1}, "A good record was rejected because of its neighbours.")
    for at, record in enumerate(records, 1):
        must(bool(one_place_each(new(), [record])) == (at in rejected), "A record fares otherwise among others.")
    [alone] = rows(new().decode([good], [0], "t", "0"))
    held = list(rows(new().decode([good, *records, good], range(len(records) + 2), "t", "0")))
    for row in (held[0], held[-1]):
        must({name for name, value in row.items() if value is not None} == set(alone), "A good record lost a field.")


def round_trip(read: Callable[[bytes], Any], write: Callable[[Any], bytes], data: bytes) -> None:
    """Read stored bytes; if they can be read, what is written again is read as the same, and written as the same."""
    found = refusing(lambda: read(data))
    if found is not None:
        written = write(found)
        again = read(written)
        must(again == found, "What was written is not read as the same.")
        must(write(again) == written, "What was read is not written as the same.")
