"""One entry of Spark's offset log, as all of Gluepot's stream sources write it.

It holds both ends of the batch. So any single `offsets/N` file says exactly which records batch N holds, and a replay
reads the same records even if the script's starting position has changed since.

An entry holds its own checksum and the checksum of the entry before it. So a changed digit, or an entry in the place
of another, is noticed on any storage.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from gluepot.connectors.values import SourceRange
from gluepot.core.errors import CheckpointError, ConfigError
from gluepot.core.stored_json import UNFIT

if TYPE_CHECKING:
    from gluepot.core.checkpoint import OffsetEntry

ShardT = TypeVar("ShardT", int, str)


class OtherStream(CheckpointError, ConfigError):
    """The checkpoint belongs to another stream than the script reads; one of the two must be corrected."""


@dataclass(frozen=True, slots=True)
class Span:
    """`[start, end)` of one shard."""

    start: int
    end: int

    @property
    def width(self) -> int:
        """Number of positions in the span: an upper bound of its records."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class StreamPositions(Generic[ShardT]):
    """The part of a batch that comes from one stream source. Each kind of source has its own subclass.

    Args:
        stream_ids: the id that the source gave each stream; it changes if a stream is deleted and created again.
        spans: the batch's start and end in each shard, by (stream, shard).
        after: the `check` of the entry before; empty for the first entry.
        notes: what the source remembers of a shard besides its span, as text in the source's own format.
    """

    stream_ids: Mapping[str, str] = field(default_factory=dict)
    spans: Mapping[tuple[str, ShardT], Span] = field(default_factory=dict)
    after: str = ""
    notes: Mapping[tuple[str, ShardT], str] = field(default_factory=dict)

    SOURCE: ClassVar[str]
    VERSION: ClassVar[int]
    STREAMS: ClassVar[str]
    """The name of the field that holds the streams in an entry."""
    DENSE: ClassVar[bool] = True
    """Whether the width of a span bounds the number of its records."""

    @classmethod
    def shard(cls, text: str) -> ShardT:
        """Return the shard whose text in ranges and in the log is given."""
        raise NotImplementedError

    @classmethod
    def at(cls, stream_ids: Mapping[str, str], offsets: Mapping[tuple[str, ShardT], int]) -> Self:
        """Return empty spans at the given offsets, as places to start from."""
        return cls(dict(stream_ids), {shard: Span(offset, offset) for shard, offset in offsets.items()})

    @classmethod
    def spoken(cls, position: int) -> str:
        """Return a position in the form in which the source's users know it."""
        return str(position)

    def place(self) -> Self:
        """Return where the next batch starts: empty spans, and the notes that hold beyond this batch."""
        spans = {shard: Span(end, end) for shard, end in self.ends().items()}
        return replace(self, spans=spans, after="", notes=self.lasting_notes())

    @property
    def check(self) -> str:
        """The entry's checksum: eight hex digits that change if anything in the entry changes."""
        return _checksum(self._streams(), self.after)

    def ends(self) -> dict[tuple[str, ShardT], int]:
        """Return the end of each span, which is where the next batch starts."""
        return {shard: span.end for shard, span in self.spans.items()}

    def ends_by_id(self) -> dict[tuple[str, ShardT], int]:
        """Return the ends keyed by stream id and shard: a stream created again is another stream."""
        return {(self.stream_ids.get(stream, ""), shard): span.end for (stream, shard), span in self.spans.items()}

    def streams(self) -> set[str]:
        """Return the names of the streams."""
        return {stream for stream, _ in (*self.spans, *self.notes)}

    def lasting_notes(self) -> dict[tuple[str, ShardT], str]:
        """Return the notes that hold beyond this batch."""
        return {}

    def width(self) -> int:
        """Return an upper bound of the number of records in the batch; 0 for an empty batch."""
        return sum(span.width for span in self.spans.values())

    def records(self) -> int:
        """Return how many records the batch holds, or an upper bound."""
        return self.width()

    def ranges(self) -> list[SourceRange]:
        """Return one range for each span that is not empty."""
        return [
            SourceRange(
                self.SOURCE,
                stream,
                self.stream_ids.get(stream, ""),
                str(shard),
                span.start,
                span.end,
                self.notes.get((stream, shard), ""),
            )
            for (stream, shard), span in sorted(self.spans.items())
            if span.width > 0
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the form Spark writes to the offset log; equal positions give equal text."""
        streams = self._streams()
        check = _checksum(streams, self.after)
        about = {"source": self.SOURCE, "version": self.VERSION}
        return {**about, self.STREAMS: streams, "after": self.after, "check": check}

    def _streams(self) -> dict[str, Any]:
        streams: dict[str, Any] = {}

        def of(stream: str) -> dict[str, Any]:
            entry: dict[str, Any] = streams.setdefault(stream, {"id": self.stream_ids.get(stream, ""), "spans": {}})
            return entry

        for (stream, shard), span in sorted(self.spans.items()):
            of(stream)["spans"][str(shard)] = [span.start, span.end]
        for (stream, shard), note in sorted(self.notes.items()):
            of(stream).setdefault("notes", {})[str(shard)] = note
        return streams

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Read `to_json`'s form back.

        Raises:
            CheckpointError: another source or version wrote the entry, or it was changed since.
        """
        if plain.get("source") != cls.SOURCE or plain.get("version") != cls.VERSION:
            raise CheckpointError(
                f"The checkpoint holds offsets that are not of Gluepot's {cls.SOURCE.capitalize()} source:"
                f" {str(plain)[:120]}; use another checkpointLocation.",
            )
        streams, after = plain.get(cls.STREAMS), plain.get("after")
        if plain.get("check") != _checksum(streams, after):
            raise CheckpointError(
                f"An entry of the checkpoint was changed since it was written: {str(plain)[:120]};"
                " `gluepot checkpoint doctor` says what can be done.",
            )
        try:
            return cls(
                {stream: entry["id"] for stream, entry in plain[cls.STREAMS].items()},
                {
                    (stream, cls.shard(shard)): Span(*span)
                    for stream, entry in plain[cls.STREAMS].items()
                    for shard, span in entry["spans"].items()
                },
                plain["after"],
                {
                    (stream, cls.shard(shard)): note
                    for stream, entry in plain[cls.STREAMS].items()
                    for shard, note in entry.get("notes", {}).items()
                },
            )
        except UNFIT as wrong:
            raise CheckpointError(
                f"An entry of the checkpoint has the right checksum and another form: {str(plain)[:120]};"
                " `gluepot checkpoint doctor` says what can be done.",
            ) from wrong

    @classmethod
    def find_own(cls, entries: Sequence[Mapping[str, Any]], streams: Iterable[str] | None, checkpoint: str) -> Self:
        """Pick one stream's entry out of a file of the offset log, which has one line per source of the query.

        Args:
            entries: the parsed lines.
            streams: the names of the streams that this source reads; None for a pattern.
            checkpoint: the checkpoint's location, for the error message.

        Raises:
            OtherStream: none of the lines belongs to this stream.
        """
        found = [cls.from_json(entry) for entry in entries if entry.get("source") == cls.SOURCE]
        wanted = None if streams is None else set(streams)
        for one in found:
            held = one.streams()
            if wanted is None or not held or held & wanted:
                return one
        others = sorted({stream for one in found for stream in one.streams()})
        raise OtherStream(
            f"The checkpoint {checkpoint} belongs to another stream"
            f" ({', '.join(others) or f'not of {cls.SOURCE.capitalize()}'}), this one reads"
            f" {', '.join(sorted(wanted or []))}; use another checkpointLocation, or delete the folder to start over.",
        )


@dataclass(frozen=True, slots=True)
class PositionsCodec:
    """Reads one stream's entries of the offset log; `StreamPositions.to_json` writes them.

    Args:
        kind: the class of the entries.
        streams: the names of the streams that the source reads; None for a pattern.
    """

    kind: type[StreamPositions[Any]]
    streams: Sequence[str] | None

    def decode(self, plain: Mapping[str, Any]) -> StreamPositions[Any]:
        """Read one entry of the offset log; raises CheckpointError as `StreamPositions.from_json` does."""
        return self.kind.from_json(plain)

    def find(self, entry: OffsetEntry, checkpoint: str) -> StreamPositions[Any]:
        """Return this stream's part of a batch.

        Args:
            entry: the batch's file of the offset log.
            checkpoint: the checkpoint's location, for the error message.

        Raises:
            CheckpointError: the entry was changed.
            OtherStream: it belongs to another stream.
        """
        return self.kind.find_own(entry.sources, self.streams, checkpoint)


def one_place(entries: Sequence[StreamPositions[Any]]) -> StreamPositions[Any]:
    """Return where a query continues after a batch, with all of its streams in one entry.

    Args:
        entries: one or more, each with the batch's part of some streams.

    Raises:
        CheckpointError: the entries are of different kinds, so that one entry cannot hold them.
    """
    kinds = {type(one) for one in entries}
    if len(kinds) != 1:
        raise CheckpointError(
            f"The query reads {' and '.join(sorted(kind.SOURCE for kind in kinds)) or 'nothing'}; only a query over one"
            " kind of source can be moved, so start it with a new checkpointLocation instead.",
        )
    places = [one.place() for one in entries]
    return replace(
        places[0],
        stream_ids={stream: one for place in places for stream, one in place.stream_ids.items()},
        spans={shard: span for place in places for shard, span in place.spans.items()},
        notes={shard: note for place in places for shard, note in place.notes.items()},
    )


def _checksum(streams: Any, after: Any) -> str:
    text = json.dumps([streams, after], sort_keys=True, separators=(",", ":"))
    return f"{zlib.crc32(text.encode()):08x}"
