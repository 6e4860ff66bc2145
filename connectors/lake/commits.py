"""What a commit of a table says of the micro-batch it holds, and what follows for the batch that comes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gluepot.connectors.values import CommitKey
from gluepot.core.errors import CheckpointError

_QUERY, _BATCH, _CTX, _INPUT = "gluepot.query-id", "gluepot.batch-id", "gluepot.ctx", "gluepot.input"


@dataclass(frozen=True, slots=True)
class LakeCommit:
    """One append of one batch.

    Args:
        key: of the write.
        input: text that is equal for equal input of the batch; empty where a commit does not tell.
    """

    key: CommitKey
    input: str

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> LakeCommit | None:
        """Read what a commit says; None for one that is not ours."""
        batch = properties.get(_BATCH, "")
        if _QUERY not in properties or not batch.isdecimal():
            return None
        key = CommitKey(properties[_QUERY], int(batch), properties.get(_CTX, ""))
        return cls(key, properties.get(_INPUT, ""))

    @property
    def properties(self) -> dict[str, str]:
        """What the table's commit is to say."""
        return {
            _QUERY: self.key.query_id,
            _BATCH: str(self.key.batch_id),
            _CTX: self.key.ctx,
            _INPUT: self.input,
        }


def is_published(planned: LakeCommit, commits: Iterable[LakeCommit], table: str) -> bool:
    """Tell whether a table holds a batch already, so that its replay appends nothing.

    The id of a batch alone does not say that: a checkpoint that was put back plans other records under an old number.

    Args:
        planned: what is about to be appended.
        commits: of the table, newest first; those of other queries and writes mean nothing here.
        table: its name, for the message.

    Raises:
        CheckpointError: the table holds this batch with other records, or later batches and not this one.
    """
    newest = None
    for one in commits:
        if (one.key.query_id, one.key.ctx) != (planned.key.query_id, planned.key.ctx):
            continue
        newest = one.key.batch_id if newest is None else newest
        if one.key.batch_id == planned.key.batch_id:
            if one.input in {"", planned.input}:
                return True
            raise CheckpointError(
                f"Batch {planned.key.batch_id} is in {table} already, made of other records: the checkpoint was put "
                "back or rewound; go on with a new checkpoint that starts where the table ends."
            )
        if one.key.batch_id < planned.key.batch_id:
            break
    if newest is not None and newest > planned.key.batch_id:
        raise CheckpointError(
            f"{table} holds batch {newest} of this query, and batch {planned.key.batch_id} comes now: the "
            "checkpoint is an older one; put the newest back, or start anew where the table ends."
        )
    return False
