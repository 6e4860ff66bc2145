"""What to do with a manifest, given what was published under its key before."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gluepot.commit.record import CommitRecord, input_text
from gluepot.connectors.values import CommitKey, Manifest


@dataclass(frozen=True, slots=True)
class Skip:
    """This driver published the same input already."""

    published: CommitRecord


@dataclass(frozen=True, slots=True)
class Adopt:
    """An earlier driver published the same input: its files stay, under a record of this driver.

    Without that record the earlier driver, if it is not dead but slow, could still replace what both of them published.

    Args:
        record: of the next generation, with the files of the one before.
    """

    record: CommitRecord


@dataclass(frozen=True, slots=True)
class Write:
    """Publish `record`; files of the record it supersedes go afterwards.

    Args:
        record: of generation 1, or one above that of `superseded`.
        superseded: None the first time.
    """

    record: CommitRecord
    superseded: CommitRecord | None


@dataclass(frozen=True, slots=True)
class Fenced:
    """A later driver has published under this key: this one is no longer the owner."""

    by: CommitRecord


def decide(manifest: Manifest, published: CommitRecord | None) -> Skip | Adopt | Write | Fenced:
    """Skip what was published by equal work on equal input, replace what was published otherwise, obey a later driver.

    A batch id alone does not say which records are in a batch: a source may decide while reading where a batch ends,
    and a checkpoint may have been put back. Skipping then would lose records. Nor does a key say what a function does
    with the records: a retry may write two frames to one table in another order, or take another branch. So the record
    has to tell of the same work, too. A manifest without parts, of which only the input is known yet, gets the same
    answer as the one with them.

    Every driver that takes over leaves a record of its own under each key it meets, and records are created
    exclusively, generation by generation. So an earlier driver that still runs collides with it, whenever it wakes up.
    """
    if published is None:
        return Write(CommitRecord.of(manifest, 1), None)
    if published.token > manifest.token:
        return Fenced(published)
    generation = published.generation + 1
    same_input = published.input == input_text(manifest.input_ranges, manifest.offsets_digest)
    if not same_input or published.work != manifest.work:
        return Write(CommitRecord.of(manifest, generation), published)
    if published.token == manifest.token:
        return Skip(published)
    return Adopt(seal(manifest.key, generation, manifest.token, published))


def seal(key: CommitKey, generation: int, token: int, published: CommitRecord | None) -> CommitRecord:
    """Return a record that takes a generation and changes nothing: the files stay those of `published`, or none."""
    before = published or CommitRecord.nothing(key)
    return replace(before, generation=generation, token=token)
