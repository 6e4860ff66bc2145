"""The marks by which commits of a lake table name their micro-batch, and how a repeated batch is recognised. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gluepot.connectors.ports import CommitKey
from gluepot.core.errors import CheckpointError

_QUERY, _BATCH, _CTX, _INPUT = "gluepot.query-id", "gluepot.batch-id", "gluepot.ctx", "gluepot.input"


@dataclass(frozen=True, slots=True)
class LakeCommit:
    """One append of one batch.

    Args:
        key: commit key of the write.
        input: text that is equal for equal input of the batch; empty if a commit does not record it.
    """

    key: CommitKey
    input: str

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> LakeCommit | None:
        """Read the marks of a commit; return None if the commit is not ours."""
        batch = properties.get(_BATCH, "")
        if _QUERY not in properties or not batch.isdecimal():
            return None
        key = CommitKey(properties[_QUERY], int(batch), properties.get(_CTX, ""))
        return cls(key, properties.get(_INPUT, ""))

    @property
    def properties(self) -> dict[str, str]:
        """The properties to store in the table's commit."""
        return {
            _QUERY: self.key.query_id,
            _BATCH: str(self.key.batch_id),
            _CTX: self.key.ctx,
            _INPUT: self.input,
        }


def is_published(planned: LakeCommit, commits: Iterable[LakeCommit], table: str) -> bool:
    """Tell whether a table already contains a batch, so that its replay appends nothing.

    The id of a batch alone does not decide this: a restored checkpoint plans other records under an old number.

    Args:
        planned: the append that is about to be made.
        commits: commits of the table, newest first; those of other queries and writes are ignored.
        table: name of the table, for the message.

    Raises:
        CheckpointError: the table contains this batch with other records, or later batches but not this one.
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
                f"{table} already contains batch {planned.key.batch_id} with other records: the checkpoint was "
                "restored or rewound; continue with a new checkpoint that starts where the table ends."
            )
        if one.key.batch_id < planned.key.batch_id:
            break
    if newest is not None and newest > planned.key.batch_id:
        raise CheckpointError(
            f"{table} contains batch {newest} of this query, but the checkpoint is at batch {planned.key.batch_id}: it "
            "is an older copy; restore the newest checkpoint, or use a new one that starts where the table ends."
        )
    return False
