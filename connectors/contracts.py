"""The contracts that every connector keeps: what the engine calls, in which process, and what it may rely on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, runtime_checkable

import pyarrow as pa

from gluepot.connectors.values import (
    CommitKey,
    Document,
    ManifestPart,
    OriginalRecord,
    Outgoing,
    RawBatch,
    RecordShape,
    Refusal,
    SourceRange,
    StreamShape,
)
from gluepot.core.clock import Clock
from gluepot.core.datasets import Dataset
from gluepot.frames.chunk import Chunk

if TYPE_CHECKING:
    from gluepot.connectors.positions import PositionsCodec, StreamPositions
    from gluepot.core.checkpoint import Checkpoint


class TaskReader(Protocol):
    """Reads ranges of a stream inside a task. Small and picklable; it opens clients on first use, and may block."""

    def read(self, wanted: SourceRange) -> Iterator[RawBatch]:
        """Yield every record of the range, in order, in bounded batches.

        Raises:
            DataLoss: the range is no longer there.
            TransientError: the source was unreachable for longer than its deadline.
        """

    def count(self, wanted: SourceRange) -> int:
        """Return the number of records in the range without returning the records; raises as `read` does."""


class AheadReader(Protocol):
    """Starts to fetch the ranges that a task reads next."""

    def begin(self, wanted: SourceRange) -> None:
        """Start to fetch a range. The call does not wait, and reads nothing that `read` would not read."""


class StreamIdentity(Protocol):
    """Tells whether streams were replaced by others of the same name after a batch was planned."""

    def remaining(self, load: Sequence[SourceRange]) -> Sequence[SourceRange]:
        """Return the ranges to read: all, or, if the user accepts losses, those whose stream still exists."""

    def confirm(self, load: Sequence[SourceRange]) -> None:
        """Make sure, after ranges have been read, that their streams are still those of the time of planning.

        Ids of streams never come back. So a stream that has its planned id now has had it all the time, and every
        record that was read came from it.

        Raises:
            DataLoss: a stream was deleted or replaced.
            TransientError: a stream was deleted or replaced and the user accepts losses, so that the next try leaves it
                out; or the service did not answer.
        """


@dataclass(frozen=True, slots=True)
class StreamReading:
    """How tasks read a stream. What is left out, the stream's system cannot do or does not need.

    Args:
        reader: reads the records.
        ahead: starts to fetch the ranges that a task reads next.
        identity: checks whether a stream was replaced; left out if names of streams are never used twice.
        least_piece: number of positions in the smallest piece of a range that is worth a task of its own; None if a
            range must be read as a whole, because a position does not stand for at most one record.
    """

    reader: TaskReader
    ahead: AheadReader | None = None
    identity: StreamIdentity | None = None
    least_piece: int | None = None

    def remaining(self, load: Sequence[SourceRange]) -> Sequence[SourceRange]:
        """Return which ranges a task reads; see `StreamIdentity.remaining`."""
        return load if self.identity is None else self.identity.remaining(load)

    def confirm(self, load: Sequence[SourceRange]) -> None:
        """Check the streams of ranges that a task has read; see `StreamIdentity.confirm`."""
        if self.identity is not None:
            self.identity.confirm(load)


class Planner(Protocol):
    """Decides what each micro-batch of a query holds. Lives in a process beside the driver, as long as the query."""

    def initial(self) -> StreamPositions[Any]:
        """Return where a query without history starts; every call gives the same answer."""

    def latest(self) -> StreamPositions[Any]:
        """Return the next batch, or the last one again if there is nothing to read. The call waits only briefly.

        Raises:
            DataLoss: records vanished before they were read, and the user has not accepted that.
            TransientError: the source was unreachable for longer than its deadline.
        """

    def committed(self, batch: StreamPositions[Any]) -> None:
        """Take note that a batch is done and will not be read again."""

    def close(self) -> None:
        """Release all resources. Called once, if the process ends normally."""


class StreamAdmin(Protocol):
    """Answers the driver's questions about a stream. It moves no records, except a few that are looked at alone."""

    def check(self) -> None:
        """Make sure, once and before data flows, that the source answers and has the stream.

        Raises:
            ConfigError, TransientError: it does not.
        """

    def check_position(self, held: StreamPositions[Any]) -> None:
        """Make sure that the source still has the records after a batch.

        Raises:
            DataLoss: it does not, and the user has not accepted that.
        """

    def any_record(self, ranges: Iterable[SourceRange]) -> bool:
        """Tell whether the ranges hold at least one record."""

    def originals(self, ranges: Iterable[SourceRange]) -> Iterator[OriginalRecord]:
        """Yield the first record of each range as the source holds it; an empty range yields nothing."""

    def backlog(self, batch: StreamPositions[Any]) -> dict[str, int]:
        """Return the number of records that come after a batch, by `stream-shard`.

        Raises:
            TransientError: the numbers cannot be found out now.
        """

    def ends_at(self, epoch_secs: float) -> Mapping[tuple[str, Any], int | None] | None:
        """Return, by stream id and shard, a position before which all records from before the given moment lie.

        A shard's position is None while it is unknown. The result is None while the shards themselves are unknown.
        A later call may know more.
        """

    def dataset(self, stream: str) -> Dataset:
        """Return the name of a stream in lineage events."""


class GroupPositions(Protocol):
    """Keeps positions of a consumer group, where other tools look for a query's progress. Used on the driver."""

    @property
    def group(self) -> str:
        """The group whose positions are written."""

    def commit_group(self, batch: StreamPositions[Any]) -> None:
        """Write the end of a batch as the group's position. No query reads it back in order to continue.

        Raises:
            TransientError: the source was unreachable.
            PermanentError, ConfigError: the source refuses, because the group has members of its own or the caller may
                not write to it.
        """


class ThrottledReads(Protocol):
    """Counts the reads that a service refuses because they come too often. Used on the driver."""

    def throttled_reads(self) -> int:
        """Return how many reads the service has refused since the query's planner began."""


class StreamSource(Protocol):
    """One stream, as a connector makes it from a script's options: small, picklable, and without clients.

    It holds settings and makes the parts that do the work, each in the process to which it belongs. The driver uses
    `admin`, the process that Spark starts beside the driver uses the planner, and tasks use what `reading` returns.
    The plain values `shape`, `codec` and the ranges of a batch are the same in all of them.
    """

    @property
    def guarantee(self) -> str:
        """One sentence that says what a reader may rely on."""

    @property
    def shape(self) -> StreamShape:
        """The columns that the stream's records become."""

    @property
    def codec(self) -> PositionsCodec:
        """Reads this stream's entries of the offset log."""

    @property
    def admin(self) -> StreamAdmin:
        """Answers the driver's questions about the stream."""

    @property
    def groups(self) -> GroupPositions | None:
        """Where positions of the stream's consumer group are kept; None for no group."""

    @property
    def throttling(self) -> ThrottledReads | None:
        """Counts refused reads; None if the service has no limit on reads."""

    def in_folder(self, folder: Path) -> Self:
        """Return the source for one query, whose driver, planner and local workers share `folder`."""

    def reading(self) -> StreamReading:
        """Return how tasks read the stream."""

    def small_reading(self) -> StreamReading:
        """Return how the driver reads small batches itself; little is fetched ahead."""

    def planner(self, checkpoint: Checkpoint | None, clock: Clock) -> Planner:
        """Return the planner of a query; `checkpoint` is None for a query that Gluepot did not start."""

    def split(self, batch: StreamPositions[Any]) -> list[SourceRange]:
        """Return the ranges that the tasks of a batch read."""

    def bounded(self) -> list[SourceRange]:
        """Return the ranges of a batch read; raises ConfigError if the source has no end at which to stop."""


class InputSplit(Protocol):
    """The part of a batch source that one task reads. Small and picklable."""

    @property
    def size_bytes(self) -> int:
        """The size of the part; 0 if it is unknown."""


SplitT_contra = TypeVar("SplitT_contra", bound=InputSplit, contravariant=True)


class BatchSource(Protocol[SplitT_contra]):
    """A bounded source that decodes what it reads. Small and picklable, like a `StreamSource`."""

    @property
    def guarantee(self) -> str:
        """One sentence that says what a reader may rely on."""

    def read(self, split: SplitT_contra) -> Iterator[Chunk]:
        """Yield every record of a split, in order, in bounded chunks. Called in the worker; may block.

        Raises:
            PermanentError: the input cannot be read.
            TransientError: the source was unreachable for longer than its deadline.
        """


@dataclass(frozen=True, slots=True)
class BatchRead:
    """A bounded read.

    Args:
        source: reads a split in the worker.
        splits: each becomes one task.
        schema: the schema of every record, if the source knows it beforehand; None if only the records tell.
    """

    source: BatchSource[Any]
    splits: tuple[InputSplit, ...]
    schema: pa.Schema | None = None


@runtime_checkable
class ColumnarSource(Protocol):
    """A batch source that can leave columns out."""

    def only(self, columns: frozenset[str]) -> BatchSource[Any]:
        """Return a source that needs to deliver only these columns, named in lower case; it may deliver more."""


class RecordSink(Protocol):
    """A target that takes records one by one and cannot take them back. Picklable: tasks get a copy."""

    @property
    def guarantee(self) -> str:
        """One sentence that says what a consumer of the target may rely on."""

    @property
    def shape(self) -> RecordShape:
        """How rows become records."""

    def check(self) -> None:
        """Make sure, before data flows, that the target exists; raises ConfigError or TransientError if not."""

    def send(self, records: Iterator[Outgoing]) -> int:
        """Send records in order and return how many, once all are acknowledged. Called in the worker; blocks.

        Raises:
            TransientError: the target was unreachable for longer than its deadline; some records may have arrived.
            PermanentError: the target refuses a record.
        """


class DocumentStore(Protocol):
    """A store that keeps each document under an id, so that writing it again changes nothing. Picklable.

    Tasks get a copy. Clients are opened on first use, in the process that uses them.
    """

    @property
    def place(self) -> str:
        """The one spelling of the target, without secrets, such as `dynamodb eu-west-1 orders`."""

    @property
    def dataset(self) -> Dataset:
        """The target's name in lineage events."""

    @property
    def guarantee(self) -> str:
        """One sentence that says what a reader of the store may rely on."""

    def check(self) -> None:
        """Make sure, before data flows, that the target exists; raises ConfigError or TransientError if not."""

    def put(self, documents: Sequence[Document]) -> Sequence[Refusal]:
        """Put documents, in order where they have one key, and return those that the store refuses.

        A sink gives `DocumentRows`, of which a store may take the columns.

        Called in the worker; it blocks until the store has acknowledged every other document.

        Raises:
            TransientError: the store was unreachable or throttled for longer than its deadline; some documents may have
                arrived.
            ConfigError, PermanentError: nothing can be written, as with a missing table or permission.
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

    A sink only stages files. `gluepot.commit` makes them visible, exactly once per key, for all sinks alike.
    """

    @property
    def guarantee(self) -> str:
        """What readers may rely on after a recovery, such as `exactly-once`."""

    @property
    def key(self) -> CommitKey:
        """The write for which this sink was made."""

    @property
    def root(self) -> str:
        """URL of the folder to which the paths of staged data files are relative."""

    @property
    def rejects_root(self) -> str:
        """URL of the folder to which the paths of staged rejects files are relative; often the same as `root`."""

    def check(self) -> None:
        """Make sure, before data flows, that the target can be written; raises ConfigError if not."""

    def knowing(self, history: Iterable[bytes]) -> Sink:
        """Return the sink for a table to which earlier writes have added the `columns` of their parts, oldest first."""

    def again(self, parts: Sequence[ManifestPart]) -> Sink | None:
        """Return None if the parts fit together; otherwise return the sink with which all tasks must run again.

        The driver calls this with the parts of all tasks, before anything is published.
        """
