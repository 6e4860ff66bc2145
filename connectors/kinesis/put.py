"""Pure functions for PutRecords calls: how many records each call takes, and what to do after its answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.connectors.aws.errors import PASSING

MAX_RECORDS = 500
MAX_CALL_BYTES = 5 * 1024 * 1024
"""Largest size of one call, including partition keys."""


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
        """The size that the record adds to a call."""
        return len(self.data) + len(self.key.encode())


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record that the stream will not take, however often it is sent."""

    put: Put
    code: str
    message: str


def calls(puts: Iterable[Put]) -> Iterator[list[Put]]:
    """Yield records in order, as many at a time as one call takes.

    Each key occurs at most once in a call. The records of a call succeed or fail one by one, so this rule keeps records
    of one key in order: a later record is sent only after the stream has taken the earlier one.
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
    """Return the records of a call to send again, in order, or a record that the stream will never take.

    Args:
        sent: the records of the call.
        results: `Records` of the answer, one for each record.
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
