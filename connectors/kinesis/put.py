"""PutRecords calls: how many records each takes, and what follows from their answers. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.connectors.kinesis.errors import THROTTLED

MAX_RECORDS = 500
MAX_CALL_BYTES = 5 * 1024 * 1024
"""Of one call, partition keys included."""
PASSING = THROTTLED | {"InternalFailure", "ServiceUnavailable"}
"""Codes of a record that may be sent again."""


@dataclass(frozen=True, slots=True)
class Put:
    """A record to put.

    Args:
        key: its partition key, 1 to 256 characters.
        data: its payload.
    """

    key: str
    data: bytes

    @property
    def size_bytes(self) -> int:
        """What it counts in a call."""
        return len(self.data) + len(self.key.encode())


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record that will not be taken, however often it is sent."""

    put: Put
    code: str
    message: str


def calls(puts: Iterable[Put]) -> Iterator[list[Put]]:
    """Yield records in order, as many at a time as one call takes.

    A key is in a call once at most. The records of a call succeed and fail one by one, so this is what keeps those of a
    key in order: the later one is sent when the earlier one is there.
    """
    call: list[Put] = []
    keys: set[str] = set()
    size = 0
    for put in puts:
        if call and (put.key in keys or len(call) == MAX_RECORDS or size + put.size_bytes > MAX_CALL_BYTES):
            yield call
            call, keys, size = [], set(), 0
        call.append(put)
        keys.add(put.key)
        size += put.size_bytes
    if call:
        yield call


def left_over(sent: Sequence[Put], results: Sequence[Mapping[str, Any]]) -> list[Put] | Refusal:
    """Return the records of a call that are to be sent again, in order, or one that never will be taken.

    Args:
        sent: what was sent.
        results: `Records` of the answer, one for each.
    """
    again: list[Put] = []
    for put, result in zip(sent, results, strict=True):
        code = result.get("ErrorCode")
        if not code:
            continue
        if code not in PASSING:
            return Refusal(put, str(code), str(result.get("ErrorMessage") or ""))
        again.append(put)
    return again
