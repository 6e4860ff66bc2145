"""The streams of ours that one query reads: one, several for a union or a join, none for a foreign source."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame

from gluepot.connectors.ports import GroupedSource, SourceRange, ThrottledSource, coalesced
from gluepot.connectors.positions import StreamPositions
from gluepot.connectors.streams.handover import OPTION
from gluepot.core.checkpoint import Checkpoint
from gluepot.core.datasets import Dataset
from gluepot.core.errors import EtlError
from gluepot.core.logging import get_logger
from gluepot.streaming.micro_batch.frames import StreamFrame, opened_streams

MOST_NAMED = 5
"""Streams that a log line names; a pattern may cover hundreds."""

log = get_logger(__name__)


def streams_of(frame: DataFrame) -> list[StreamFrame]:
    """Return our streams at the leaves of a frame's plan, whatever the script did with them since."""
    if isinstance(frame, StreamFrame):
        return [frame]
    leaves = frame._jdf.queryExecution().logical().collectLeaves()  # noqa: SLF001  Python has no other view of a plan
    folders = []
    for n in range(leaves.size()):
        leaf = leaves.apply(n)
        if leaf.nodeName() == "StreamingRelationV2":
            folders.append(leaf.extraOptions().get(OPTION))
    return [opened_streams[folder] for folder in folders if folder in opened_streams]


class Inputs:
    """What a query asks of its sources.

    Args:
        frame: the frame handed to `forEachBatch`.
        checkpoint: of the query.
    """

    def __init__(self, frame: DataFrame, checkpoint: Checkpoint) -> None:
        self._streams: Sequence[StreamFrame] = streams_of(frame)
        self._untouched = isinstance(frame, StreamFrame)
        self._checkpoint = checkpoint

    def __bool__(self) -> bool:
        return bool(self._streams)

    def check(self) -> None:
        """Reach every source, and make sure the checkpoint is theirs.

        Raises:
            ConfigError, TransientError: a source is not there.
            CheckpointError: the checkpoint belongs to other streams.
            DataLoss: records went that were never read.
        """
        newest = self._checkpoint.newest_offsets() if self._streams else None
        for stream in self._streams:
            stream.source.check()
            if newest is not None:
                stream.source.check_position(stream.source.positions(newest, self._checkpoint.location))

    def begin(self) -> None:
        """Tell the planners where the query's checkpoint is."""
        for stream in self._streams:
            stream.handover.begin(self._checkpoint.location)

    def ask_stop(self) -> None:
        """Let the planners plan no further batch."""
        for stream in self._streams:
            stream.handover.ask_stop()

    def reported(self) -> EtlError | None:
        """Return the error a planner raised, as it was."""
        return next((error for stream in self._streams if (error := stream.handover.reported())), None)

    def held(self, batch_id: int) -> list[StreamPositions[Any]]:
        """Return what a batch holds, one entry per stream, from the offset log.

        Several streams, or state that is waited for, make batches in which a stream has nothing new: its entry is that
        of the batch before, letter for letter, and the batch holds none of it.
        """
        now = self._logged(batch_id)
        if self._untouched or batch_id == 0:
            return now
        pairs = zip(now, self._logged(batch_id - 1), strict=True)
        return [one.at(one.stream_ids, one.ends()) if one == before else one for one, before in pairs]

    def _logged(self, batch_id: int) -> list[StreamPositions[Any]]:
        entry = self._checkpoint.offsets(batch_id)
        return [stream.source.positions(entry, self._checkpoint.location) for stream in self._streams]

    def ranges(self, held: Sequence[StreamPositions[Any]]) -> tuple[SourceRange, ...]:
        """Return what a batch holds as ranges, coalesced."""
        pairs = zip(self._streams, held, strict=True)
        return tuple(coalesced(one for stream, batch in pairs for one in stream.source.split(batch)))

    def digest(self, batch_id: int) -> str:
        """Return text that is equal for batches of equal offsets, whatever their sources are."""
        before = self._checkpoint.offsets(batch_id - 1).sources if batch_id else ()
        text = json.dumps([before, self._checkpoint.offsets(batch_id).sources], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def committed(self) -> list[StreamPositions[Any]]:
        """Return what the newest committed batch held; nothing before the first."""
        newest = self._checkpoint.newest_commit() if self._streams else None
        return [] if newest is None else self.held(newest)

    def holds_records(self, held: Sequence[StreamPositions[Any]]) -> int:
        """Return how many records a batch holds, or an upper bound."""
        return sum(stream.source.records(batch) for stream, batch in zip(self._streams, held, strict=True))

    def ends_at(self, epoch_secs: float) -> Mapping[tuple[str, Any], int | None] | None:
        """Return the ends of all streams; see `PlannedSource.ends_at`."""
        found: dict[tuple[str, Any], int | None] = {}
        for stream in self._streams:
            ends = stream.source.ends_at(epoch_secs)
            if ends is None:
                return None
            found.update(ends)
        return found

    def datasets(self, held: Sequence[StreamPositions[Any]]) -> list[Dataset]:
        """Return the names that the streams of a batch have where lineage is kept."""
        pairs = zip(self._streams, held, strict=True)
        return sorted({stream.source.dataset(name) for stream, batch in pairs for name in batch.streams()})

    def commit_groups(self, held: Sequence[StreamPositions[Any]]) -> tuple[int, list[Exception]]:
        """Tell consumer groups where a published batch ends; return how many were told, and why others were not.

        Only tools look there, so that a failure is a warning and the stream goes on.
        """
        told, failures = 0, list[Exception]()
        for stream, batch in zip(self._streams, held, strict=True):
            source = stream.source
            if not (isinstance(source, GroupedSource) and source.group):
                continue
            try:
                source.commit_group(batch)
                told += 1
            except Exception as refused:  # noqa: BLE001  whatever it is, the groups of other streams are told
                failures.append(refused)
                log.warning("group_commit_failed", group=source.group, reason=str(refused))
        return told, failures

    def throttled_reads(self) -> list[int]:
        """Return how many reads were refused because they came too often, of each source that has such a limit."""
        return [one.source.throttled_reads() for one in self._streams if isinstance(one.source, ThrottledSource)]

    def backlog(self, held: Sequence[StreamPositions[Any]]) -> dict[str, int]:
        """Return the records behind a batch by `stream-shard`; an EtlError while a source is away."""
        pairs = zip(self._streams, held, strict=True)
        return {shard: n for stream, batch in pairs for shard, n in stream.source.backlog(batch).items()}


def named(held: Sequence[StreamPositions[Any]]) -> dict[str, str]:
    """Return what the log lines of a batch say of its streams: `stream`, their names; nothing for foreign sources."""
    names = sorted({stream for one in held for stream in one.streams()})
    more = [f"and {len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return {"stream": ", ".join([*names[:MOST_NAMED], *more])} if names else {}
