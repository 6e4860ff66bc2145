"""What to do with a manifest, given what was published under its key before."""

from __future__ import annotations

from dataclasses import dataclass

from batch.commit.record import CommitRecord
from connectors.ports import Manifest, ranges_digest


@dataclass(frozen=True, slots=True)
class Skip:
    """The same input was published already."""

    published: CommitRecord


@dataclass(frozen=True, slots=True)
class Write:
    """Publish `record`; files of the record it supersedes go afterwards.

    Args:
        record: of generation 1, or one above that of `superseded`.
        superseded: None the first time.
    """

    record: CommitRecord
    superseded: CommitRecord | None


def decide(manifest: Manifest, published: CommitRecord | None) -> Skip | Write:
    """Skip what was published from equal ranges, replace what was published from other ones.

    A batch id alone does not say which records are in a batch: a source may decide while reading where a batch ends,
    and a checkpoint may have been put back. Skipping then would lose records. Input that came through a DataFrame has
    no ranges; two such batches of one key count as equal.
    """
    if published is None:
        return Write(CommitRecord.of(manifest, 1), None)
    if published.input == ranges_digest([one for part in manifest.parts for one in part.ranges]):
        return Skip(published)
    return Write(CommitRecord.of(manifest, published.generation + 1), published)
