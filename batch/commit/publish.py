"""The actions of publishing, in the order that the package's docstring explains."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress

from batch.commit.checks import check
from batch.commit.decide import Skip, Write, decide
from batch.commit.intent import Intent
from batch.commit.record import CommitRecord
from batch.commit.target import Target
from connectors.filesink.layout import (
    commit_key,
    intent_key,
    intents_of_query,
    staging_of_attempt,
    staging_of_query,
    staging_of_write,
)
from connectors.filesink.names import of_generation
from connectors.ports import AlreadyCommitted, CommitKey, Committed, Manifest
from etlcore.errors import PermanentError, TransientError
from etlcore.failpoints import reach

NamedFile = tuple[bool, str]  # whether a rejects file, and its final path


def publish(target: Target, manifest: Manifest) -> Committed | AlreadyCommitted:
    """Make the staged files of a manifest visible, exactly once per key.

    Called again with the same key and the same ranges it changes nothing; with other ranges it replaces what was
    published. The caller makes sure that a query has one driver; of two that publish the same key at the same moment
    one gets an error.

    Raises:
        PermanentError: the manifest's numbers contradict each other, or another driver published other ranges.
        TransientError: the storage was away, or a staged file is gone; publishing may be tried again from the start.
    """
    check(manifest)
    match decide(manifest, published(target, manifest.key)):
        case Skip(record):
            _remove_staging(target, manifest.key)
            return AlreadyCommitted(record.data_paths, record.rows_out)
        case Write(record, superseded):
            _begin(target, record)
            reach("publish.intent")
            _move(target, manifest, record.generation)
            reach("publish.manifest_temp")
            winner = _create(target, record)
            reach("publish.created")
            _end(target, Intent.to_publish(record), winner, superseded)
            reach("publish.ended")
            _remove_staging(target, manifest.key)
            return _outcome(target, record, winner)


def recover(target: Target, query_id: str) -> None:
    """Finish or undo what a dead driver of this query left in the middle; other queries' files are not touched.

    To be called before the query's first batch, when no task of an earlier driver runs any more.
    """
    for key in target.table.list(intents_of_query(query_id)):
        with suppress(FileNotFoundError):  # a listing may be older than the files
            intent = Intent.from_bytes(target.table.get(key))
            record = _read(target, intent.key, intent.generation)
            superseded = _read(target, intent.key, intent.generation - 1)
            _end(target, intent, record, superseded if record else None)
    for storage, _ in target.each():
        storage.delete_folder(staging_of_query(query_id))


def abort(target: Target, key: CommitKey, attempt: str) -> None:
    """Remove what the tasks of an attempt staged; what is gone already is fine."""
    for storage, _ in target.each():
        storage.delete_folder(staging_of_attempt(key, attempt))


def published(target: Target, key: CommitKey) -> CommitRecord | None:
    """Return the newest generation of what was published under a key, or None.

    Generations are tried one after the other, because a listing may lag behind.
    """
    newest, generation = None, 1
    while (record := _read(target, key, generation)) is not None:
        newest, generation = record, generation + 1
    return newest


def _begin(target: Target, record: CommitRecord) -> None:
    """Write the intent down, after undoing what an earlier try of the same generation left."""
    key = intent_key(record.key, record.generation)
    with suppress(FileNotFoundError):
        _end(target, Intent.from_bytes(target.table.get(key)), None, None)
    target.table.put(key, Intent.to_publish(record).to_bytes())


def _move(target: Target, manifest: Manifest, generation: int) -> None:
    for storage, kinds in target.each():
        files = [file for part in manifest.parts for file in part.files if file.rejects in kinds]
        try:
            storage.move([(file.staged, of_generation(file.final, generation)) for file in files])
        except FileNotFoundError as error:
            raise TransientError(
                f"a staged file of batch {manifest.key.batch_id} in {storage.url} is gone; the batch is tried again",
            ) from error
        reach("publish.moved")


def _create(target: Target, record: CommitRecord) -> CommitRecord:
    """Create the manifest; return the one that is there now, which is ours unless another driver came first.

    "It exists" may also be the answer to our own request, sent twice because the first reply was lost: then it is ours.
    """
    key = commit_key(record.key, record.generation)
    if target.table.create(key, record.to_bytes()):
        return record
    return CommitRecord.from_bytes(target.table.get(key))


def _outcome(target: Target, record: CommitRecord, winner: CommitRecord) -> Committed | AlreadyCommitted:
    if winner == record:
        return Committed(record.data_paths, record.rows_out)
    if winner.input == record.input:
        return AlreadyCommitted(winner.data_paths, winner.rows_out)
    raise PermanentError(
        f"batch {record.key.batch_id} of query {record.key.query_id} was published by another driver from other input, "
        f"see {target.table.url}/{commit_key(record.key, record.generation)}; stop one of the two",
    )


def _end(target: Target, intent: Intent, record: CommitRecord | None, superseded: CommitRecord | None) -> None:
    """Remove what the intent named and no manifest names, what was superseded, then the intent itself."""
    kept = _named(record)
    _remove(target, [file for file in intent.files if file not in kept])
    _remove(target, [file for file in _named(superseded) if file not in kept])
    target.table.delete([intent_key(intent.key, intent.generation)])


def _named(record: CommitRecord | None) -> Collection[NamedFile]:
    return {(file.rejects, file.path) for file in record.files} if record else set()


def _remove(target: Target, files: Iterable[NamedFile]) -> None:
    doomed = sorted(files)
    for storage, kinds in target.each():
        storage.delete(path for rejects, path in doomed if rejects in kinds)


def _remove_staging(target: Target, key: CommitKey) -> None:
    for storage, _ in target.each():
        storage.delete_folder(staging_of_write(key))


def _read(target: Target, key: CommitKey, generation: int) -> CommitRecord | None:
    try:
        return CommitRecord.from_bytes(target.table.get(commit_key(key, generation)))
    except FileNotFoundError:
        return None
