"""Decides what to do with a manifest, given what was published under its key before."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gluepot.commit.record import CommitRecord, input_text
from gluepot.connectors.values import CommitKey, Manifest


@dataclass(frozen=True, slots=True)
class Skip:
    """This driver has already published the same input."""

    published: CommitRecord


@dataclass(frozen=True, slots=True)
class Adopt:
    """An earlier driver published the same input: its files stay, under a record of this driver.

    Without that record the earlier driver, if it is only slow and not dead, could still replace the published files.

    Args:
        record: the record of the next generation, with the files of the generation before.
    """

    record: CommitRecord


@dataclass(frozen=True, slots=True)
class Write:
    """Publish `record`, then remove the files of the record that it supersedes.

    Args:
        record: the record to publish; its generation is 1, or one higher than that of `superseded`.
        superseded: the record that it supersedes; None the first time.
    """

    record: CommitRecord
    superseded: CommitRecord | None


@dataclass(frozen=True, slots=True)
class Fenced:
    """A later driver has published under this key, so this driver is no longer the owner."""

    by: CommitRecord


def decide(manifest: Manifest, published: CommitRecord | None) -> Skip | Adopt | Write | Fenced:
    """Skip a write if equal work on equal input was published, otherwise replace it; give way to a later driver.

    A batch id alone does not say which records are in a batch: a source may decide only while reading where a batch
    ends, or someone may have restored an old checkpoint. Skipping by the id alone would lose records. The key does not
    say either what the function does with the records: a retry may write two frames to one table in another order, or
    take another branch. So the record must also name the same work. If a function of the script or Spark makes the
    rows, the work is unknown; a database's table then compares digests of the rows, which are known when the tasks have
    run. Otherwise a manifest without parts, before the tasks have run, gets the same answer as the complete manifest.

    Every driver that takes over leaves its own record under each key that it meets, and records are created
    exclusively, generation by generation. So an earlier driver that still runs collides with it, whenever it wakes up.
    """
    if published is None:
        return Write(CommitRecord.of(manifest, 1), None)
    if published.token > manifest.token:
        return Fenced(published)
    generation = published.generation + 1
    same_input = published.input == input_text(manifest.input_ranges, manifest.offsets_digest)
    same_rows = published.rows_digest != "" and published.rows_digest == manifest.rows_digest
    if not same_input or not (same_rows or published.work == manifest.work):
        return Write(CommitRecord.of(manifest, generation), published)
    if published.token == manifest.token:
        return Skip(published)
    return Adopt(seal(manifest.key, generation, manifest.token, published))


def seal(key: CommitKey, generation: int, token: int, published: CommitRecord | None) -> CommitRecord:
    """Return a record that takes a generation without changing anything: it has the files of `published`, or none."""
    before = published or CommitRecord.nothing(key)
    return replace(before, generation=generation, token=token)
