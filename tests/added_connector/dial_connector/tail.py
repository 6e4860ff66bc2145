"""A stream of a package of its own: every line that is appended to a file of a folder is a record.

The folder is the stream, each file in it is a shard, and the position of a record is the number of its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import pyarrow as pa

from gluepot.connector_api import (
    Checkpoint,
    Clock,
    Dataset,
    Declare,
    OriginalRecord,
    PositionsCodec,
    RawBatch,
    SourceRange,
    Span,
    StreamPositions,
    StreamReading,
    StreamShape,
    payload_field,
    read_start,
)
from gluepot.errors import ConfigError, DataLoss

BATCH_RECORDS = 1000


@dataclass(frozen=True, slots=True)
class Positions(StreamPositions[str]):
    SOURCE: ClassVar[str] = "tail"
    VERSION: ClassVar[int] = 1
    STREAMS: ClassVar[str] = "folders"

    @classmethod
    def shard(cls, text: str) -> str:
        return text


def lines(folder: Path, shard: str) -> list[bytes]:
    try:
        return (folder / shard).read_bytes().splitlines()
    except FileNotFoundError as gone:
        raise DataLoss(f"{folder / shard} was removed; put the file back.") from gone


def ends(folder: Path) -> dict[str, int]:
    return {file.name: len(lines(folder, file.name)) for file in sorted(folder.iterdir())}


@dataclass(frozen=True)
class TailReader:
    folder: Path

    def read(self, wanted: SourceRange) -> Iterator[RawBatch]:
        held = lines(self.folder, wanted.shard)
        if wanted.end > len(held):
            raise DataLoss(f"{self.folder / wanted.shard} has {len(held)} lines, not the {wanted.end} of the batch.")
        for first in range(wanted.start, wanted.end, BATCH_RECORDS):
            last = min(first + BATCH_RECORDS, wanted.end)
            yield RawBatch(held[first:last], range(first, last), wanted.stream, wanted.shard)

    def count(self, wanted: SourceRange) -> int:
        return sum(len(raw.values) for raw in self.read(wanted))


class TailPlanner:
    def __init__(self, folder: Path, last: Positions | None) -> None:
        self._folder = folder
        self._last = last

    def initial(self) -> Positions:
        name = str(self._folder)
        return Positions.at({name: ""}, {(name, shard): 0 for shard in ends(self._folder)})

    def latest(self) -> Positions:
        before, after = ({}, "") if self._last is None else (self._last.ends(), self._last.check)
        name = str(self._folder)
        spans = {(name, shard): Span(before.get((name, shard), 0), end) for shard, end in ends(self._folder).items()}
        batch = Positions({name: ""}, spans, after)
        if self._last is None or batch.width():
            self._last = batch
        return self._last

    def committed(self, batch: Positions) -> None:
        pass

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class TailAdmin:
    folder: Path

    def check(self) -> None:
        if not self.folder.is_dir():
            raise ConfigError(f"path is {str(self.folder)!r}, which is no folder; create it, or correct the path.")

    def check_position(self, held: Positions) -> None:
        now = ends(self.folder)
        for (_, shard), end in held.ends().items():
            if now.get(shard, 0) < end:
                raise DataLoss(f"{self.folder / shard} has {now.get(shard, 0)} lines, and {end} were read.")

    def any_record(self, ranges: Iterable[SourceRange]) -> bool:
        return any(one.start < one.end for one in ranges)

    def originals(self, ranges: Iterable[SourceRange]) -> Iterator[OriginalRecord]:
        for one in ranges:
            for value in lines(self.folder, one.shard)[one.start : one.end][:1]:
                yield OriginalRecord(value, one.stream, one.shard, one.start)

    def backlog(self, batch: Positions) -> dict[str, int]:
        before, name = batch.ends(), str(self.folder)
        return {f"{name}-{shard}": end - before.get((name, shard), 0) for shard, end in ends(self.folder).items()}

    def ends_at(self, epoch_secs: float) -> Mapping[tuple[str, Any], int | None] | None:
        return {("", shard): end for shard, end in ends(self.folder).items()}

    def dataset(self, stream: str) -> Dataset:
        return Dataset("file", stream)


@dataclass(frozen=True)
class TailSource:
    folder: Path
    groups: None = None
    throttling: None = None
    guarantee: str = "every line once; the same lines for the same range"

    @property
    def shape(self) -> StreamShape:
        return StreamShape(payload_field("json", infer_schema=True), pa.schema([]), classification="json")

    @property
    def codec(self) -> PositionsCodec:
        return PositionsCodec(Positions, [str(self.folder)])

    @property
    def admin(self) -> TailAdmin:
        return TailAdmin(self.folder)

    def in_folder(self, folder: Path) -> Self:
        return replace(self)

    def reading(self) -> StreamReading:
        return StreamReading(TailReader(self.folder), least_piece=100_000)

    def small_reading(self) -> StreamReading:
        return self.reading()

    def planner(self, checkpoint: Checkpoint | None, clock: Clock) -> TailPlanner:
        entry = checkpoint.newest_offsets() if checkpoint else None
        if checkpoint is None:
            return TailPlanner(self.folder, None)
        last = read_start(checkpoint.storage) if entry is None else self.codec.find(entry, checkpoint.location)
        assert last is None or isinstance(last, Positions)
        return TailPlanner(self.folder, last)

    def split(self, batch: Positions) -> list[SourceRange]:
        return batch.ranges()

    def bounded(self) -> list[SourceRange]:
        return self.split(TailPlanner(self.folder, None).latest())


def source(options: Mapping[str, Any], declare: Declare) -> TailSource:
    return TailSource(Path(options["path"]))
