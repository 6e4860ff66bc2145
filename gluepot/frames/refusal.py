"""Refused records, and the function that reads records one by one to find them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gluepot.frames.chunk import Coordinates, ErrorRecord

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a record is refused.

    Args:
        reason: `null_value`, `invalid_utf8`, `malformed_json`, `malformed_csv`, `malformed_avro`,
            `malformed_protobuf`, `no_schema_header`, `unknown_schema`, `unreadable_schema`, `not_an_object`,
            `too_deep` or `too_large`.
        message: one sentence for a person.
    """

    reason: str
    message: str


def no_value() -> Refusal:
    """Return the refusal of a record that has a key and no value."""
    return Refusal("null_value", "The record has no value.")


def not_utf8(wrong: UnicodeDecodeError) -> Refusal:
    """Return the refusal of a record that should be text."""
    return Refusal("invalid_utf8", f"Byte {wrong.start} of the record is not UTF-8.")


def refused(refusal: Refusal, value: bytes | None, stream: str, shard: str, position: int) -> ErrorRecord:
    """Return a refused record with its bytes and its place."""
    return ErrorRecord(value, refusal.reason, refusal.message, Coordinates(stream, shard, str(position)))


def read_each(
    read: Callable[[bytes | None], T | Refusal],
    values: Sequence[bytes | None],
    positions: Sequence[int],
    stream: str,
    shard: str,
) -> tuple[list[T], list[ErrorRecord]]:
    """Read records of one shard one by one; return what was read, and the others as errors, both in order."""
    good: list[T] = []
    errors: list[ErrorRecord] = []
    for value, position in zip(values, positions, strict=True):
        match read(value):
            case Refusal() as refusal:
                errors.append(refused(refusal, value, stream, shard, position))
            case taken:
                good.append(taken)
    return good, errors
