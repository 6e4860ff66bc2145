"""The streams of our sources that one query reads: one, several for a union or a join, none for a foreign source."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame

from gluepot.connectors.positions import StreamPositions
from gluepot.connectors.streams.handover import OPTION
from gluepot.connectors.values import SourceRange, coalesced
from gluepot.core.checkpoint import Checkpoint
from gluepot.core.datasets import Dataset
from gluepot.core.errors import EtlError
from gluepot.core.logging import get_logger
from gluepot.streaming.micro_batch.frames import StreamFrame, opened_streams

# The most streams that a log line names; a topic pattern may cover hundreds.
MOST_NAMED = 5

log = get_logger(__name__)


def streams_of(frame: DataFrame) -> list[StreamFrame]:
    """Return our streams at the leaves of a frame's plan, whatever transforms the script applied to them."""
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
    """The sources that a query reads, and everything that the query asks them.

    Args:
        frame: the frame that the script gave to `forEachBatch`.
        checkpoint: the checkpoint of the query.
    """

    def __init__(self, frame: DataFrame, checkpoint: Checkpoint) -> None:
        self._streams: Sequence[StreamFrame] = streams_of(frame)
        for stream in self._streams:
            stream.is_used = True
        self._untouched = isinstance(frame, StreamFrame)
        self._checkpoint = checkpoint

    def __bool__(self) -> bool:
        return bool(self._streams)

    @property
    def record_columns(self) -> tuple[str, ...]:
        """The columns of the sources whose names no field of a payload may have."""
        return tuple({name for stream in self._streams for name, _ in stream.source.shape.record_columns})

    def check(self) -> None:
        """Connect to every source, and make sure that the checkpoint belongs to these streams.

        Raises:
            ConfigError, TransientError: a source cannot be reached.
            CheckpointError: the checkpoint belongs to other streams.
            DataLoss: the source deleted records that the query has not read.
        """
        newest = self._checkpoint.newest_offsets() if self._streams else None
        for stream in self._streams:
            stream.source.admin.check()
            if newest is not None:
                stream.source.admin.check_position(stream.source.codec.find(newest, self._checkpoint.location))

    def begin(self) -> None:
        """Tell the planners where the query's checkpoint is."""
        for stream in self._streams:
            stream.handover.begin(self._checkpoint.location)

    def ask_stop(self) -> None:
        """Ask the planners to plan no further batch."""
        for stream in self._streams:
            stream.handover.ask_stop()

    def reported(self) -> EtlError | None:
        """Return the original error that a planner raised, None if no planner raised one."""
        return next((error for stream in self._streams if (error := stream.handover.reported())), None)

    def positions(self, batch_id: int) -> list[StreamPositions[Any]]:
        """Return the positions of a batch from the offset log, one entry per stream.

        In a query with several streams or with state, a batch may hold nothing new of a stream. That stream's entry is
        then an exact copy of the previous batch's entry, and the positions returned for it hold no records.
        """
        now = self._logged(batch_id)
        if self._untouched or batch_id == 0:
            return now
        pairs = zip(now, self._logged(batch_id - 1), strict=True)
        return [one.at(one.stream_ids, one.ends()) if one == before else one for one, before in pairs]

    def _logged(self, batch_id: int) -> list[StreamPositions[Any]]:
        entry = self._checkpoint.offsets(batch_id)
        return [stream.source.codec.find(entry, self._checkpoint.location) for stream in self._streams]

    def ranges(self, positions: Sequence[StreamPositions[Any]]) -> tuple[SourceRange, ...]:
        """Return the ranges of a batch, coalesced."""
        pairs = zip(self._streams, positions, strict=True)
        return tuple(coalesced(one for stream, batch in pairs for one in stream.source.split(batch)))

    def digest(self, batch_id: int) -> str:
        """Return a digest that is equal for batches with equal offsets; it works for foreign sources, too."""
        before = self._checkpoint.offsets(batch_id - 1).sources if batch_id else ()
        text = json.dumps([before, self._checkpoint.offsets(batch_id).sources], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def committed(self) -> list[StreamPositions[Any]]:
        """Return the positions of the newest batch that is done; nothing before the first."""
        newest = self._checkpoint.newest_done() if self._streams else None
        return [] if newest is None else self._logged(newest)

    def holds_records(self, positions: Sequence[StreamPositions[Any]]) -> int:
        """Return how many records a batch holds, or an upper bound."""
        return sum(batch.records() for batch in positions)

    def ends_at(self, epoch_secs: float) -> Mapping[tuple[str, Any], int | None] | None:
        """Return the ends of all streams; see `StreamAdmin.ends_at`."""
        found: dict[tuple[str, Any], int | None] = {}
        for stream in self._streams:
            ends = stream.source.admin.ends_at(epoch_secs)
            if ends is None:
                return None
            found.update(ends)
        return found

    def datasets(self, positions: Sequence[StreamPositions[Any]]) -> list[Dataset]:
        """Return the lineage names of the streams of a batch."""
        pairs = zip(self._streams, positions, strict=True)
        return sorted({stream.source.admin.dataset(name) for stream, batch in pairs for name in batch.streams()})

    def commit_groups(self, positions: Sequence[StreamPositions[Any]]) -> tuple[int, list[Exception]]:
        """Commit the ends of a published batch to consumer groups; return the number of commits, and the errors.

        Only monitoring tools read these offsets, so a failure is logged as a warning and the stream continues.
        """
        commits, failures = 0, list[Exception]()
        for stream, batch in zip(self._streams, positions, strict=True):
            if (groups := stream.source.groups) is None:
                continue
            try:
                groups.commit_group(batch)
                commits += 1
            except Exception as refused:  # noqa: BLE001  the groups of other streams must still commit
                failures.append(refused)
                log.warning("group_commit_failed", group=groups.group, reason=str(refused))
        return commits, failures

    def throttled_reads(self) -> list[int]:
        """Return the number of throttled reads of each source that has a limit on reads."""
        services = (stream.source.throttling for stream in self._streams)
        return [service.throttled_reads() for service in services if service is not None]

    def backlog(self, positions: Sequence[StreamPositions[Any]]) -> dict[str, int]:
        """Return the number of records after a batch, by `stream-shard`; raise EtlError if a source is unreachable."""
        pairs = zip(self._streams, positions, strict=True)
        return {shard: n for stream, batch in pairs for shard, n in stream.source.admin.backlog(batch).items()}


def named(positions: Sequence[StreamPositions[Any]]) -> dict[str, str]:
    """Return the log fields of a batch: `stream` with the names of its streams; empty for foreign sources."""
    names = sorted({stream for one in positions for stream in one.streams()})
    more = [f"and {len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return {"stream": ", ".join([*names[:MOST_NAMED], *more])} if names else {}
