"""The error messages for a write that is refused because the checkpoint does not fit the table (see `overlap`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gluepot.commit.overlap import Ahead, Clear, History, Less, Skipped, Twice, judge
from gluepot.connectors.files.sink.layout import commit_key
from gluepot.connectors.ports import CommitKey, Manifest, SourceRange
from gluepot.core.errors import CheckpointError


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a streaming query comes from.

    Args:
        checkpoint: location of its checkpoint.
        start_was_chosen: whether a person chose where it starts (`gluepot checkpoint rewind`).
        allow_overlap: whether the user accepts records that are twice in a table, or left out between two queries.
    """

    checkpoint: str
    start_was_chosen: bool = False
    allow_overlap: bool = False


def refuse_overlap(planned: Manifest, history: History, origin: Origin, table: str) -> None:
    """Make sure that a write continues from the contents of the table.

    Raises:
        CheckpointError: it does not; the message names table, checkpoint and remedy.
    """
    ck = origin.checkpoint
    remedy = f"run `gluepot checkpoint rewind {ck} --from-table {table}` to go on where the table ends"
    consent = "set the option allowOverlap of forEachBatch to true"
    match judge(planned, history, start_was_chosen=origin.start_was_chosen):
        case Ahead(newest):
            raise CheckpointError(
                f"The checkpoint {ck} is older than the table {table}: it is at batch {planned.key.batch_id}, with"
                f" other ranges than before, but the table contains batches up to {newest} of the same query; restore"
                f" the newer checkpoint, or {remedy}.",
            )
        case Less(missing):
            raise CheckpointError(
                f"The table {table} contains {_where(missing)} as part of batch {planned.key.batch_id}, but in the"
                f" checkpoint {ck} that batch ends before: replacing it would remove published records; {remedy}.",
            )
        case Twice(found, by, first) if not origin.allow_overlap:
            batches = f"batch {by.batch_id}" if first == by.batch_id else f"the batches {first} to {by.batch_id}"
            whose = f"in {batches} of " + (
                "this query" if by.query_id == planned.key.query_id else f"query {by.query_id}"
            )
            raise CheckpointError(
                f"The table {table} already contains {_where(found)}, {whose}, and the checkpoint {ck} would write them"
                f" again; {remedy}, or {consent} to have these records twice.",
            )
        case Skipped(gap, by) if not origin.allow_overlap:
            raise CheckpointError(
                f"The table {table} ends at offset {gap.start} of {_shard(gap)}, written by query {by.query_id}, and"
                f" the checkpoint {ck} is new and starts at {gap.end}: the records in between would never be written;"
                f" {remedy}, or {consent} to leave them out.",
            )
        case Clear() | Twice() | Skipped():
            return


def refuse_gap(gone: Sequence[tuple[CommitKey, CommitKey]], origin: Origin, table: str) -> None:
    """Make sure that no manifest of the query is missing.

    Args:
        gone: keys of missing manifests, each with the key of the manifest that names it.
        origin: origin of the query.
        table: location of the table.

    Raises:
        CheckpointError: one is missing, and the user has not accepted that.
    """
    if not gone or origin.allow_overlap:
        return
    before, later = gone[0]
    name = commit_key(before, 1).removesuffix(".1.json")
    raise CheckpointError(
        f"The table {table} lacks the manifest {name}.*.json: batch {later.batch_id} of this query names batch"
        f" {before.batch_id} as the one before it. Readers that use the manifests do not see its rows; restore the"
        " file, or set the option allowOverlap of forEachBatch to true to go on without it."
    )


def _where(one: SourceRange) -> str:
    return f"offsets {one.start} to {one.end - 1} of {_shard(one)}"


def _shard(one: SourceRange) -> str:
    return f"{one.stream} partition {one.shard}"
