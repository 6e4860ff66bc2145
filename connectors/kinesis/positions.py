"""Positions in a shard, and what a Kinesis batch says of itself in the offset log.

A position is a sequence number followed by seven digits, those of the record within an aggregated record (0 for one
that is not aggregated): `sequence * 10**7 + sub`. Batches end between records of the stream, never within an aggregate.
A range `[start, end)` of a batch is what AWS would write `(after, upto]`: `start` lies directly behind the record
before, `end` directly behind `upto`. Nearly all numbers in between were never given to a record.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from gluepot.connectors.positions import StreamPositions
from gluepot.core.errors import CheckpointError

SOURCE = "kinesis"
SUBS = 10**7
"""More records than fit into an aggregate: 10 MiB of records of two bytes each would be half of this number."""

FINGERPRINT_MODULUS = 1 << 64
_NOTE = re.compile(
    r"(?:begins=(?P<begins>horizon|\d+))?"
    r"(?:records=(?P<records>\d+) sum=(?P<sum>[0-9a-f]{16}) first=(?P<first>\d+))?"
    r" ?(?P<closed>closed)?"
)


def position(sequence: int, sub: int = 0) -> int:
    """Return the position of a record."""
    return sequence * SUBS + sub


def behind(sequence: int) -> int:
    """Return the position directly after a record of the stream, with all records that it holds."""
    return (sequence + 1) * SUBS


def sequence_before(end: int) -> int:
    """Return the sequence number of the stream's record that holds the position before `end`."""
    return (end - 1) // SUBS


def fingerprint(sequences: Iterable[str], payloads: Iterable[bytes]) -> int:
    """Return a number that changes if any sequence number or payload byte of the records changes.

    The fingerprint of a whole is the sum of the fingerprints of its parts, so it does not depend on how the records
    were fetched.
    """
    return sum(map(zlib.crc32, payloads, map(zlib.crc32, map(str.encode, sequences)))) % FINGERPRINT_MODULUS


@dataclass(frozen=True, slots=True)
class Note:
    """What an entry of the offset log says about a shard besides its span.

    Args:
        begins: for a shard of which no record was read yet: `horizon`, or the time in milliseconds since 1970 UTC from
            which on its records count; empty once a record was read.
        records: number of the stream's records in the span; an aggregate counts as one.
        total: sum of their fingerprints.
        first: sequence number of the first record.
        closed: True if the shard ended with the span, so that no further records will come.
    """

    begins: str = ""
    records: int = 0
    total: int = 0
    first: int = 0
    closed: bool = False

    def to_text(self) -> str:
        """Return the form for the log and for ranges; empty for a note without content."""
        parts = []
        if self.begins:
            parts.append(f"begins={self.begins}")
        if self.records:
            parts.append(f"records={self.records} sum={self.total:016x} first={self.first}")
        if self.closed:
            parts.append("closed")
        return " ".join(parts)

    @classmethod
    def parse(cls, text: str) -> Note:
        """Read `to_text`'s form.

        Raises:
            CheckpointError: it is of another form.
        """
        found = _NOTE.fullmatch(text)
        note = None if found is None else cls._of(found)
        if note is None or note.to_text() != text:
            raise CheckpointError(f"A note of the checkpoint cannot be read: {text[:120]!r}; use a newer Gluepot.")
        return note

    @classmethod
    def _of(cls, found: re.Match[str]) -> Note:
        return cls(
            found["begins"] or "",
            int(found["records"] or 0),
            int(found["sum"] or "0", 16),
            int(found["first"] or 0),
            found["closed"] is not None,
        )

    @property
    def lasting(self) -> Note:
        """The part of the note that holds beyond the batch."""
        return Note(begins=self.begins, closed=self.closed)


@dataclass(frozen=True, slots=True)
class Positions(StreamPositions[str]):
    """One entry of the offset log: one stream, its shards, positions.

    A shard that is missing from the entry has not been read yet; its reading begins at its oldest record.
    """

    SOURCE: ClassVar[str] = SOURCE
    VERSION: ClassVar[int] = 1
    STREAMS: ClassVar[str] = "streams"
    DENSE: ClassVar[bool] = False

    @classmethod
    def shard(cls, text: str) -> str:
        """Return the shard's id."""
        return text

    @classmethod
    def spoken(cls, position: int) -> str:
        """Return the sequence number of the record before a position."""
        return f"behind {sequence_before(position)}"

    def lasting_notes(self) -> dict[tuple[str, str], str]:
        """Return notes that say which shards have ended, and where shards begin of which no record was read yet."""
        lasting = {shard: Note.parse(note).lasting.to_text() for shard, note in self.notes.items()}
        return {shard: note for shard, note in lasting.items() if note}

    def note(self, stream: str, shard: str) -> Note:
        """Return what is known of a shard."""
        return Note.parse(self.notes.get((stream, shard), ""))

    def records(self) -> int:
        """Return the number of the stream's records in the batch; an aggregate counts as one."""
        return sum(Note.parse(note).records for note in self.notes.values())
