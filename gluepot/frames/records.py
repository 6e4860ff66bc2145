"""Joins payloads into one buffer, so that numpy can examine all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_OPEN, _CLOSE = ord("{"), ord("}")
_JSON_SPACE = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class JoinedRecords:
    """Records joined by newlines.

    Args:
        values: the records.
        text: the joined bytes.
        starts: position of each record's first byte.
        ends: position after each record's last byte.
    """

    values: Sequence[bytes]
    text: bytes
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Bytes of each record."""
        return self.ends - self.starts

    @property
    def codes(self) -> npt.NDArray[np.uint8]:
        """The text's bytes as numbers."""
        return np.frombuffer(self.text, np.uint8)

    def __len__(self) -> int:
        return len(self.starts)


def join(values: Sequence[bytes]) -> JoinedRecords:
    """Join the records, in order."""
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    ends = np.cumsum(lengths + 1) - 1
    return JoinedRecords(values, b"\n".join(values), ends - lengths, ends)


def trimmed(values: Sequence[bytes | None]) -> list[bytes]:
    """Return the values without white space around them; None becomes empty."""
    return [b"" if value is None else value.strip(_JSON_SPACE) for value in values]


def in_braces(records: JoinedRecords) -> npt.NDArray[np.bool_]:
    """Return for each record whether it starts with `{`, ends with `}` and is longer than one byte."""
    if not records.text:
        return np.zeros(len(records), np.bool_)
    codes = records.codes
    # An empty record makes `starts` point past the end, or `ends - 1` before the start; its length rules it out.
    first = codes[np.minimum(records.starts, len(codes) - 1)]
    last = codes[records.ends - 1]
    braced: npt.NDArray[np.bool_] = (first == _OPEN) & (last == _CLOSE) & (records.lengths > 1)
    return braced
