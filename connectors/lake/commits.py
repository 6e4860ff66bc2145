"""The marks by which commits of a lake table name their batch, and what a repeated write does. Pure.

A batch is what its last attempt wrote (docs/decisions/0065-lake-appends-are-compared-and-replaced.md). So an append
whose key is in the table already is skipped only if it would add the same rows; otherwise it replaces them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from gluepot.connectors.values import CommitKey
from gluepot.core.errors import CheckpointError, LeaseHeld, PermanentError

_QUERY, _BATCH, _CTX, _INPUT = "gluepot.query-id", "gluepot.batch-id", "gluepot.ctx", "gluepot.input"
_TOKEN, _ROWS = "gluepot.token", "gluepot.rows"
_TAKEN_BACK = "none"


@dataclass(frozen=True, slots=True)
class LakeCommit:
    """One commit of one write.

    Args:
        key: commit key of the write.
        input: text that is equal for equal input of the batch; empty if it is not compared: the commit does not record
            it, or a run's reads are not all planned yet when it writes.
        token: token of the driver that made the commit; 0 in commits of an older Gluepot.
        rows: which commit added the write's rows: empty for this commit itself, `none` if they were taken back,
            otherwise the id of an earlier commit, whose rows this one confirms for a later driver.
    """

    key: CommitKey
    input: str
    token: int = 0
    rows: str = ""

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> LakeCommit | None:
        """Read the marks of a commit; return None if the commit is not ours."""
        batch = properties.get(_BATCH, "")
        if _QUERY not in properties or not batch.isdecimal():
            return None
        key = CommitKey(properties[_QUERY], int(batch), properties.get(_CTX, ""))
        token = properties.get(_TOKEN, "")
        rows = properties.get(_ROWS, "")
        return cls(key, properties.get(_INPUT, ""), int(token) if token.isdecimal() else 0, rows)

    @property
    def properties(self) -> dict[str, str]:
        """The properties to store in the table's commit."""
        rows = {_ROWS: self.rows} if self.rows else {}
        return {
            _QUERY: self.key.query_id,
            _BATCH: str(self.key.batch_id),
            _CTX: self.key.ctx,
            _INPUT: self.input,
            _TOKEN: str(self.token),
            **rows,
        }

    def confirming(self, rows_at: int) -> LakeCommit:
        """Return the commit by which a driver confirms the rows that an earlier driver has added."""
        return replace(self, rows=str(rows_at))

    @classmethod
    def taking_back(cls, key: CommitKey, token: int) -> LakeCommit:
        """Return the commit that takes a write back."""
        return cls(key, "", token, _TAKEN_BACK)


@dataclass(frozen=True, slots=True)
class Earlier:
    """A commit of ours in the table.

    Args:
        commit: its marks.
        at: id of the commit: a snapshot or a version.
    """

    commit: LakeCommit
    at: int

    @property
    def rows_at(self) -> int | None:
        """The commit that added the write's rows; None if they were taken back."""
        rows = self.commit.rows
        if rows == _TAKEN_BACK:
            return None
        return int(rows) if rows else self.at


class Rows(Enum):
    """How the rows of an earlier commit compare with those of the frame that is to be appended."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


# What was found out about the rows of earlier commits, by the ids of the commits.
Compared: TypeAlias = dict[int, Rows] | None


class Step(Enum):
    """What an append does with the table."""

    APPEND = "append"
    SKIP = "skip"
    CONFIRM = "confirm"
    REPLACE = "replace"


def decide(planned: LakeCommit, earlier: Earlier | None, rows: Rows) -> Step:
    """Decide what an append does if the table has an earlier commit under its key.

    If another driver made the earlier commit, this one leaves a commit of its own. Otherwise that driver, if it is only
    slow and not dead, could still replace the rows.

    Args:
        planned: the append.
        earlier: what `find_earlier` has found.
        rows: whether the append would add the same rows.
    """
    if earlier is None or earlier.rows_at is None:
        return Step.APPEND
    if rows is not Rows.EQUAL:
        return Step.REPLACE
    return Step.SKIP if earlier.commit.token == planned.token else Step.CONFIRM


def is_taken_back(planned: LakeCommit, earlier: Earlier | None) -> bool:
    """Tell whether this driver has taken a write back already."""
    return earlier is not None and earlier.rows_at is None and earlier.commit.token == planned.token


def find_earlier(planned: LakeCommit, commits: Iterable[Earlier], table: str) -> Earlier | None:
    """Return the newest commit under the key of a write; None if the table has none.

    The id of a batch alone does not decide whether it is the same batch: a restored checkpoint plans other records
    under an old number.

    Args:
        planned: the write that is about to be made.
        commits: commits of the table, newest first; those of other queries and writes are ignored.
        table: name of the table, for messages.

    Raises:
        CheckpointError: the table contains this batch with other records, or later batches but not this one.
        LeaseHeld: a later driver has written this batch.
    """
    newest = None
    for one in commits:
        key = one.commit.key
        if (key.query_id, key.ctx) != (planned.key.query_id, planned.key.ctx):
            continue
        newest = key.batch_id if newest is None else newest
        if key.batch_id == planned.key.batch_id:
            _check(planned, one.commit, table)
            return one
        if key.batch_id < planned.key.batch_id:
            break
    if newest is not None and newest > planned.key.batch_id:
        raise CheckpointError(
            f"{table} contains batch {newest} of this query, but the checkpoint is at batch {planned.key.batch_id}: it "
            "is an older copy; restore the newest checkpoint, or use a new one that starts where the table ends."
            if planned.input
            else f"{table} contains run {newest} of this job, but its bookmarks are at run {planned.key.batch_id}: they"
            " are an older copy; restore the newest ledger, or put the rows of the later runs right by hand."
        )
    return None


def published(
    commits: Iterable[LakeCommit],
    find: Callable[[LakeCommit], Earlier | None],
    compare: Callable[[int], Rows],
    compared: dict[int, Rows],
) -> tuple[Sequence[str], frozenset[str]]:
    """Look for writes that earlier attempts of the batch may have published.

    Args:
        commits: the writes, as this attempt would make them.
        find: returns what an earlier attempt did to the table for a write; None if there was none.
        compare: compares the rows that a commit of the table added with those that are about to be appended.
        compared: takes what is found out about rows, so that they are compared once.

    Returns:
        The labels of the writes that have added the same rows, and of all that have added rows.
    """
    equal, every = [], set()
    for commit in commits:
        earlier = find(commit)
        if earlier is None or (at := earlier.rows_at) is None:
            continue
        if at not in compared:
            compared[at] = compare(at)
        every.add(commit.key.ctx)
        if compared[at] is Rows.EQUAL:
            equal.append(commit.key.ctx)
    return equal, frozenset(every)


def _check(planned: LakeCommit, earlier: LakeCommit, table: str) -> None:
    batch = planned.key.batch_id
    if planned.input and earlier.input and planned.input != earlier.input:
        raise CheckpointError(
            f"{table} already contains batch {batch} with other records: the checkpoint was "
            "restored or rewound; continue with a new checkpoint that starts where the table ends."
        )
    if earlier.token > planned.token:
        raise LeaseHeld(
            f"batch {batch} of query {planned.key.query_id} was written to {table} by driver {earlier.token}, and this"
            f" one is {planned.token}: another driver has taken over, so this one ends"
        )


class CannotRemove(Exception):
    """Rows of an earlier commit cannot be removed; the message is a clause that says why."""


def refusal(planned: LakeCommit, table: str, why: str, before: str) -> PermanentError:
    """Return the error for rows of an earlier attempt that are wrong and cannot be removed.

    Args:
        planned: the write.
        table: name of the table.
        why: why they cannot be removed, as a clause.
        before: the state of the table before these rows, such as `version 3`.
    """
    name = f"batch {planned.key.batch_id} (write {planned.key.ctx})"
    return PermanentError(
        f"An earlier attempt of {name} appended rows to {table} that the last attempt does not append, and they cannot"
        f" be removed, because {why}, so they are still there. Restore the table to {before} and start the job again,"
        " or put the rows right by hand and continue with a new checkpoint that starts after the batch."
    )
