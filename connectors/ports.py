"""The contracts every connector keeps, and the plain values that travel between planner, task and driver."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, runtime_checkable

import pyarrow as pa

from gluepot.core.clock import Clock
from gluepot.core.datasets import Dataset
from gluepot.frames.chunk import Chunk, ErrorRecord

if TYPE_CHECKING:
    from gluepot.connectors.positions import StreamPositions
    from gluepot.connectors.streams.dead_letters import OriginalRecord
    from gluepot.core.checkpoint import Checkpoint, OffsetEntry
    from gluepot.frames.declared import DeclaredPayload


_EXACT_IN_JSON = 2**53


@dataclass(frozen=True, order=True, slots=True)
class SourceRange:
    """Exactly which input a task reads; what checkpoint, manifest and bookmark have in common.

    For Kafka: `stream` is the topic, `stream_id` the id the broker gave it, `shard` the partition, and the records are
    those with `start <= offset < end`. There may be fewer than `end - start` (transaction markers, compaction).

    For Kinesis the positions are sequence numbers, of which nearly all in between were never given to a record
    (`gluepot.connectors.kinesis.positions`).

    Args:
        source: the kind, such as `kafka`.
        stream: its name.
        stream_id: tells it from others of its name.
        shard: partition or shard.
        start: first position.
        end: one past the last position.
        proof: what the source wrote down of the records when it planned the range, so that a reader can tell that it
            has the same ones; empty where nothing was, or only a piece is wanted. No part of what makes ranges equal.
    """

    source: str
    stream: str
    stream_id: str
    shard: str
    start: int
    end: int
    proof: str = field(default="", compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return the plain form that goes into manifests.

        Positions that a double does not hold exactly are text: most readers of JSON but Python's would round them.
        """
        plain = asdict(self)
        for name in ("start", "end"):
            if plain[name] > _EXACT_IN_JSON:
                plain[name] = str(plain[name])
        if not self.proof:
            del plain["proof"]
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> SourceRange:
        """Read the plain form back."""
        return cls(
            source=plain["source"],
            stream=plain["stream"],
            stream_id=plain["stream_id"],
            shard=plain["shard"],
            start=int(plain["start"]),
            end=int(plain["end"]),
            proof=plain.get("proof", ""),
        )

    def piece(self, start: int, end: int) -> SourceRange:
        """Return a part of the range; what is proven of the whole says nothing of it."""
        return self if (start, end) == (self.start, self.end) else replace(self, start=start, end=end, proof="")


@dataclass(frozen=True, slots=True)
class RawBatch:
    """Records as the source holds them, in order, of one range.

    Args:
        values: payloads; None where the source has a key and no value.
        positions: each record's offset, ascending.
        stream: topic or stream.
        shard: partition or shard.
        newest_epoch_ms: the latest record time stamp in the batch, or None where the source has none.
        columns: further columns the user asked for (`__src_timestamp`, headers), one value per record.
    """

    values: Sequence[bytes | None]
    positions: Sequence[int]
    stream: str
    shard: str
    newest_epoch_ms: int | None = None
    columns: Mapping[str, pa.Array] = field(default_factory=dict)

    def beside(self, names: Sequence[str]) -> pa.RecordBatch:
        """Return the named columns, one row per record."""
        return pa.RecordBatch.from_arrays([self.columns[name] for name in names], names=list(names))


class StreamSource(Protocol):
    """A source of an unbounded stream with positions that can be read again.

    Instances are small and picklable; clients are opened on first use in the process that uses them.
    """

    @property
    def guarantee(self) -> str:
        """What a reader may rely on, one sentence."""

    def check(self) -> None:
        """Reach the source and find the stream, once, before data flows; ConfigError or TransientError otherwise."""

    def read(self, wanted: SourceRange) -> Iterator[RawBatch]:
        """Yield every record of the range, in order, in bounded batches. Called in the worker; may block.

        Raises:
            DataLoss: the range is no longer there.
            TransientError: the source was away for longer than its deadline.
        """

    def count(self, wanted: SourceRange) -> int:
        """Return the number of records in the range, without handing any over; raises as `read` does."""


@runtime_checkable
class AheadSource(Protocol):
    """A stream source that can be told which ranges a task reads next."""

    def begin(self, wanted: SourceRange) -> None:
        """Start to fetch a range; does not wait, and reads nothing that `read` would not. Called in the worker."""


@runtime_checkable
class DivisibleSource(Protocol):
    """A stream source whose ranges can be read in pieces, each as if it had been planned so: positions are records."""

    @property
    def least_piece(self) -> int:
        """Positions of the smallest piece that is worth a task of its own."""


class Planner(Protocol):
    """Decides what each micro-batch of a query holds. Lives in a process beside the driver, as long as the query."""

    def initial(self) -> StreamPositions[Any]:
        """Return where a query without history starts; the same answer however often it is asked."""

    def latest(self) -> StreamPositions[Any]:
        """Return the next batch, or the last one again when there is nothing to read. Waits little.

        Raises:
            DataLoss: records went before they were read, and the user has not accepted that.
            TransientError: the source was away for longer than its deadline.
        """

    def committed(self, batch: StreamPositions[Any]) -> None:
        """Take note that a batch is done and will not be read again."""

    def close(self) -> None:
        """Let go of everything; called once, if the process ends in good order."""


class PlannedSource(StreamSource, Protocol):
    """A stream source that decides what its micro-batches hold: what `forEachBatch` asks of it.

    Its methods run on the driver, but for those of `StreamSource`.
    """

    @property
    def declared(self) -> DeclaredPayload | None:
        """What the payload of each record is decoded into in the worker; None: it stays as it is."""

    @property
    def classification(self) -> str:
        """Format of the payload, lower case; empty when not given."""

    @property
    def payload(self) -> pa.Field:
        """The column of the payload where none are declared."""

    @property
    def added(self) -> pa.Schema:
        """The columns beside the payload, as in `RawBatch.columns`."""

    @property
    def rejects_path(self) -> str | None:
        """Where records go that a DataFrame has no row for; None: below the checkpoint."""

    def dataset(self, stream: str) -> Dataset:
        """Return the name that a stream has where lineage is kept."""

    def told(self, folder: Path) -> Self:
        """Return the source for one query, whose driver, planner and local workers share a folder."""

    def lean(self) -> Self:
        """Return the source for small batches that are read in the driver's process: it fetches little ahead."""

    def planner(self, checkpoint: Checkpoint | None, clock: Clock) -> Planner:
        """Return the planner of a query; `checkpoint` is None for one that was not started by us."""

    def parsed(self, plain: Mapping[str, Any]) -> StreamPositions[Any]:
        """Read one entry of the offset log; CheckpointError as `StreamPositions.from_json`."""

    def positions(self, entry: OffsetEntry, checkpoint: str) -> StreamPositions[Any]:
        """Return this stream's part of a batch; CheckpointError if the entry is of another stream."""

    def check_position(self, held: StreamPositions[Any]) -> None:
        """Make sure that what comes after a batch is still there; DataLoss if not, unless the user accepts that."""

    def split(self, batch: StreamPositions[Any]) -> list[SourceRange]:
        """Return what the tasks of a batch read."""

    def records(self, batch: StreamPositions[Any]) -> int:
        """Return how many records a batch holds, or an upper bound."""

    def any_record(self, ranges: Iterable[SourceRange]) -> bool:
        """Tell whether ranges hold a record at all."""

    def originals(self, ranges: Iterable[SourceRange]) -> Iterator[OriginalRecord]:
        """Yield the first record of each range as the source holds it; nothing for an empty one."""

    def backlog(self, batch: StreamPositions[Any]) -> dict[str, int]:
        """Return the records behind a batch, by `stream-shard`; TransientError if that cannot be told now."""

    def ends_at(self, epoch_secs: float) -> Mapping[tuple[str, Any], int | None] | None:
        """Return an end by stream id and shard: every record of before a moment lies before it.

        None for a shard of which it is not known yet, or as long as the shards are not; a later call may know it.
        """

    def bounded(self) -> list[SourceRange]:
        """Return the ranges of a batch read; ConfigError where the source has no end to stop at."""


@runtime_checkable
class GroupedSource(Protocol):
    """A stream source whose position other tools look for where the source keeps those of groups of consumers."""

    @property
    def group(self) -> str:
        """The group to write to; empty for none."""

    def commit_group(self, batch: StreamPositions[Any]) -> None:
        """Write down the end of a batch as the group's position; nothing reads it to go on.

        Raises:
            TransientError: the source was away.
            PermanentError, ConfigError: it refuses; the group has members of its own, or may not be written to.
        """


@runtime_checkable
class ThrottledSource(Protocol):
    """A stream source whose service refuses reads that come too often."""

    def throttled_reads(self) -> int:
        """Return how many reads it has refused since the query's planner began; called on the driver."""


class InputSplit(Protocol):
    """What one task reads of a batch source; small, picklable."""

    @property
    def size_bytes(self) -> int:
        """Its size as far as it is known, 0 where it is not."""


SplitT_contra = TypeVar("SplitT_contra", bound=InputSplit, contravariant=True)


class BatchSource(Protocol[SplitT_contra]):
    """A bounded source that decodes what it reads. Small and picklable, like a `StreamSource`."""

    @property
    def guarantee(self) -> str:
        """What a reader may rely on, one sentence."""

    def read(self, split: SplitT_contra) -> Iterator[Chunk]:
        """Yield every record of a split, in order, in bounded chunks. Called in the worker; may block.

        Raises:
            PermanentError: the input cannot be read.
            TransientError: the source was away for longer than its deadline.
        """


@dataclass(frozen=True, slots=True)
class BatchRead:
    """A bounded read.

    Args:
        source: reads a split in the worker.
        splits: one task each.
        schema: of every record, where the source knows it beforehand; None where the records tell.
    """

    source: BatchSource[Any]
    splits: tuple[InputSplit, ...]
    schema: pa.Schema | None = None


@runtime_checkable
class ColumnarSource(Protocol):
    """A batch source that can leave columns out."""

    def only(self, columns: frozenset[str]) -> BatchSource[Any]:
        """Return the source that need give no other columns than these, named in lower case; it may give more."""


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A complete file that no reader sees yet.

    Args:
        staged: where it is now, relative to the table's root.
        final: where publishing puts it, relative to the table's root.
        size_bytes: its length.
        rows: records in it; rejected records when `rejects`.
        crc32: zlib CRC-32 of its bytes.
        rejects: True for a file of rejected records.
        encoding: what a reader must know beside the bytes, see `gluepot.connectors.filesink.format`.
    """

    staged: str
    final: str
    size_bytes: int
    rows: int
    crc32: int
    rejects: bool = False
    encoding: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ManifestPart:
    """What one task did: the staged files and what went in and out.

    Args:
        files: staged files, data and rejects.
        ranges: the input of the task; empty when it came through a DataFrame.
        schema: Arrow schema of the rows as written (IPC bytes), or None when nothing was written.
        rows_in: records read.
        rows_out: records written.
        rows_dropped: records that steps such as Filter left out.
        bytes_in: payload bytes read.
        rejected: records diverted, by reason.
        phase_secs: seconds spent by phase: fetch, parse, transform, write.
        newest_epoch_ms: newest record time stamp per shard.
        source_schema: Arrow schema of the records as parsed, before transforms (IPC bytes), or None; what makes the
            stream's schema sticky.
        columns: what the task adds to the table's columns, in the sink's own form; None if the sink keeps no account.
    """

    files: Sequence[StagedFile] = ()
    ranges: Sequence[SourceRange] = ()
    schema: bytes | None = None
    rows_in: int = 0
    rows_out: int = 0
    rows_dropped: int = 0
    bytes_in: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    phase_secs: Mapping[str, float] = field(default_factory=dict)
    newest_epoch_ms: Mapping[str, int] = field(default_factory=dict)
    source_schema: bytes | None = None
    columns: Sequence[bytes] | None = None


@dataclass(frozen=True, order=True, slots=True)
class CommitKey:
    """What makes one write of one batch unique within its target, for ever: never a job's name.

    Args:
        query_id: Spark's own query id, from the checkpoint; for a job with bookmarks the id the ledger gave it.
        batch_id: number of the micro-batch; for a job with bookmarks the number of its run.
        ctx: which write to the target, see `write_label`.
        target: tells the target from others where several share one place: a folder of rejects, or the table of
            commits in a database. It is not part of equality, because a record in a table's own folder belongs to that
            table wherever the folder is moved.
    """

    query_id: str
    batch_id: int
    ctx: str
    target: str = field(default="", compare=False)


_ORDINAL = re.compile(r"\.[0-9]+$")


def write_label(transformation_ctx: str, nth: int) -> str:
    """Return the name of the n-th write that a batch makes to one target under one `transformation_ctx`.

    Different arguments give different names: `sink` and 2 give `sink.2`, and so a ctx that is called `sink.2` itself
    gives `sink.2.1`.

    Args:
        transformation_ctx: as the script gives it; may be empty.
        nth: counted from 1.
    """
    name = transformation_ctx or "write"
    return name if nth == 1 and not _ORDINAL.search(name) else f"{name}.{nth}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything one write publishes, at once or not at all.

    Args:
        key: of the write.
        parts: one per task; none before the tasks have run.
        ranges: what the micro-batch holds that the write belongs to; parts that read ranges themselves say it better.
        offsets_digest: text that is equal for equal input, where a foreign source has no ranges to tell of.
        token: of the driver, see `Lease`; 0 where nobody else can use the key, as in a batch job.
        work: text that is equal only where the same is done with the input, see `gluepot.engine.pipeline.work_of`.
            Empty where the key alone says that.
        previous: the batch of the query's write before this one to the same target under the same ctx, -1 if this is
            the first; None where nobody keeps account of it.
    """

    key: CommitKey
    parts: Sequence[ManifestPart] = ()
    ranges: Sequence[SourceRange] = ()
    offsets_digest: str = ""
    token: int = 0
    work: str = ""
    previous: int | None = None

    @property
    def input_ranges(self) -> Sequence[SourceRange]:
        """What was read, coalesced."""
        return coalesced([one for part in self.parts for one in part.ranges] or self.ranges)


@dataclass(frozen=True, slots=True)
class Committed:
    """The manifest is there now; `files` are the final paths, `rejects` those of rejected records."""

    files: Sequence[str]
    rows: int
    rejects: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class AlreadyCommitted:
    """A manifest of the same key and the same ranges was there before; nothing was changed."""

    files: Sequence[str]
    rows: int
    rejects: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A record to send.

    Args:
        value: the payload; None for a key without a value, where the target knows such records.
        key: what decides the partition; None leaves that to the target.
        headers: in order, a name perhaps more than once; for targets that have them.
        topic: where to, for a sink that has no target of its own.
        partition: of the topic; None leaves that to the key.
    """

    value: bytes | None
    key: bytes | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()
    topic: str | None = None
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class RecordShape:
    """Which columns of a row make up the record that is sent.

    Args:
        key_column: whose value is the key; None for the column `key` of a row that has the columns of a record.
        classification: format of the payload; a row that has a column `value` and otherwise only `key`, `topic`,
            `partition` and `headers` is a record already, and its value is sent as it is.
    """

    key_column: str | None = None
    classification: str = "json"


class RecordSink(Protocol):
    """A target that takes records one by one and cannot take them back. Picklable: tasks get a copy."""

    @property
    def guarantee(self) -> str:
        """What a consumer of the target may rely on, one sentence."""

    @property
    def shape(self) -> RecordShape:
        """How rows become records."""

    def check(self) -> None:
        """Find the target, before data flows; ConfigError or TransientError otherwise."""

    def send(self, records: Iterator[Outgoing]) -> int:
        """Send records in order and return how many, once all are acknowledged. Called in the worker; blocks.

        Raises:
            TransientError: the target was away for longer than its deadline; some may have arrived.
            PermanentError: it refuses a record.
        """


class TaskSink(Protocol):
    """The worker's side of a sink."""

    def write(self, chunks: Iterator[Chunk], task: int, attempt: str) -> ManifestPart:
        """Stage every row and every error record; leave nothing behind when it raises.

        Args:
            chunks: consumed once, in order.
            task: ordinal of the task in the job; part of the file names.
            attempt: unique to this try; no two tries share a staged path.

        Returns:
            files, schema, rows_out and rejected filled in.
        """


class Sink(TaskSink, Protocol):
    """A target for chunks. Picklable: tasks get a copy.

    A sink only stages. Making the staged files visible, exactly once per key, is `gluepot.commit`'s part, written once
    for all of them.
    """

    @property
    def guarantee(self) -> str:
        """What readers may rely on after a recovery, e.g. `exactly-once`."""

    @property
    def key(self) -> CommitKey:
        """The write this sink was made for."""

    @property
    def root(self) -> str:
        """URL of the folder that the paths of staged data files are relative to."""

    @property
    def rejects_root(self) -> str:
        """URL of the folder that the paths of staged rejects files are relative to; often the same."""

    def check(self) -> None:
        """Make sure the target can be written, before data flows; ConfigError otherwise."""

    def knowing(self, history: Iterable[bytes]) -> Sink:
        """Return the sink for a table to which earlier writes have added the `columns` of their parts, oldest first."""

    def again(self, parts: Sequence[ManifestPart]) -> Sink | None:
        """Return None if the parts fit together; otherwise the sink to run all tasks with once more.

        Called by the driver with what every task staged, before anything is published.
        """


def dump_errors(errors: Sequence[ErrorRecord]) -> pa.RecordBatch:
    """Return error records as the Arrow table that `_rejects` files hold.

    Columns: raw binary, stream string, shard string, position string, reason string, message string.
    """
    return pa.RecordBatch.from_pydict(
        {
            "raw": pa.array([e.raw for e in errors], pa.binary()),
            "stream": pa.array([e.at.stream for e in errors], pa.string()),
            "shard": pa.array([e.at.shard for e in errors], pa.string()),
            "position": pa.array([e.at.position for e in errors], pa.string()),
            "reason": pa.array([e.reason for e in errors], pa.string()),
            "message": pa.array([e.message for e in errors], pa.string()),
        },
    )


def coalesced(ranges: Iterable[SourceRange]) -> list[SourceRange]:
    """Return the same records in as few ranges as possible, sorted; overlapping ones stay apart.

    How a batch is cut into tasks depends on the machine; what it holds does not. Empty ranges hold nothing.
    """
    joined: list[SourceRange] = []
    for one in sorted(one for one in ranges if one.start < one.end):
        last = joined[-1] if joined else None
        if last is not None and replace(last, start=0, end=0) == replace(one, start=0, end=0) and last.end == one.start:
            joined[-1] = last.piece(last.start, one.end)
        else:
            joined.append(one)
    return joined


def ranges_digest(ranges: Iterable[SourceRange]) -> str:
    """Return the canonical text of a set of ranges: equal text means equal input, however it was cut."""
    plain = [replace(one, proof="").to_json() for one in coalesced(ranges)]
    return json.dumps(plain, sort_keys=True, separators=(",", ":"))
