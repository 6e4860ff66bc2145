"""The actions of publishing, in the order that the package's docstring explains."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import replace

from gluepot.commit.checks import check
from gluepot.commit.decide import Adopt, Fenced, Skip, Write, decide, seal
from gluepot.commit.intent import Intent
from gluepot.commit.later import Later, at_once
from gluepot.commit.record import CommitRecord
from gluepot.commit.target import Target
from gluepot.connectors.files.sink.layout import (
    STAGING,
    commit_key,
    intents_of_query,
    is_staged_by,
    staging_of_attempt,
    staging_of_query,
    token_of_staged,
)
from gluepot.connectors.files.sink.names import published_name
from gluepot.connectors.values import AlreadyCommitted, CommitKey, Committed, Manifest
from gluepot.core.clock import Clock, SystemClock
from gluepot.core.errors import LeaseHeld, TransientError
from gluepot.core.failpoints import reach
from gluepot.core.storage import Storage

_CLOCK = SystemClock()

NamedFile = tuple[bool, str]  # whether a rejects file, and its final path


def publish(
    target: Target, manifest: Manifest, clock: Clock = _CLOCK, *, is_new: bool = False, later: Later = at_once
) -> Committed | AlreadyCommitted:
    """Make the staged files of a manifest visible, exactly once per key.

    A second call with the same key and the same input changes nothing; a call with other input replaces what was
    published. If two drivers publish the same key, the one with the higher token wins, in whatever order they come.

    Args:
        target: where the write goes.
        manifest: of the staged files.
        clock: tells when it was published.
        is_new: there was no record under this key when this driver recovered the table, and it has not published under
            it since; so it does not look again. If another driver was faster, the exclusive create tells.
        later: has done what is left when the manifest is there, namely to remove what is no longer needed.

    Raises:
        PermanentError: the manifest's numbers contradict each other.
        LeaseHeld: a later driver has published under this key.
        TransientError: the storage could not be reached, a staged file is missing, or an earlier driver came first with
            other input; the batch may be tried again.
    """
    check(manifest)
    newest = None if is_new else published(target, manifest.key)
    while True:
        match decide(manifest, newest):
            case Fenced(record):
                abort(target, manifest.key, str(manifest.token))
                raise _fenced(target, manifest, record)
            case Skip(record) if (later_try := _settle_next(target, manifest, record)) is not None:
                newest = later_try
            case Skip(record):
                _finish(target, manifest, record)
                abort(target, manifest.key, str(manifest.token))
                return AlreadyCommitted(record.data_paths, record.rows_out, record.rejects_paths)
            case Adopt(record):
                newest = _create(target, record)  # decides again, in case another driver's record is there now
            case Write(record, superseded) if (
                settled := None if is_new else _settle_own(target, manifest, record, superseded)
            ) is not None:
                newest = settled  # an earlier try of this driver has used up this generation
            case Write(record, superseded):
                if superseded is not None and superseded.token == manifest.token:
                    _finish(target, manifest, superseded)
                stamped = replace(record, committed_at_epoch_ms=int(clock.epoch() * 1000))
                if _announce(target, stamped):
                    return _write(target, manifest, stamped, superseded, later)
                newest = _settle_own(target, manifest, record, superseded)  # its intent has just come, late
                if newest is None:
                    raise TransientError(
                        f"an intent of batch {manifest.key.batch_id} in {target.table.url} is gone again"
                    )


def adopted(target: Target, manifest: Manifest) -> CommitRecord | None:
    """Return the record of a publication that already used the manifest's input; None if the tasks have to run.

    Args:
        target: where the write goes.
        manifest: the manifest, still without parts; its `ranges` or `offsets_digest` say what it reads.

    Raises:
        LeaseHeld: a later driver has published under this key.
    """
    newest = published(target, manifest.key)
    while newest is not None:
        match decide(manifest, newest):
            case Fenced(record):
                raise _fenced(target, manifest, record)
            case Skip(record) if (later_try := _settle_next(target, manifest, record)) is not None:
                newest = later_try
            case Skip(record):
                _finish(target, manifest, record)
                return record
            case Adopt(record):
                newest = _create(target, record)
            case Write():
                return None
    return None


def recover(target: Target, query_id: str, token: int, place: str = "") -> None:
    """Finish or undo the publications that a dead driver of this query left unfinished.

    Call this before the query's first batch. It touches neither files of other queries nor publications that a later
    driver has begun.

    Args:
        target: where the query writes.
        query_id: id of the query.
        token: token of the driver.
        place: the `target` of the commit keys. In a folder of rejected records that several tables share, it tells this
            table's files from those of the others.
    """
    # Remove staged files before published ones: a copy that the store carries out late then finds nothing to copy.
    for storage, _ in target.each():
        _remove_staged(storage, query_id, token, None if storage == target.table else place)
    for path in target.table.list(intents_of_query(query_id)):
        with suppress(FileNotFoundError):  # a listing may be older than the files
            intent = Intent.from_bytes(target.table.get(path))
            if intent.token <= token:
                before = _read(target, intent.key, intent.generation - 1)
                taken = _taken(target, intent, token, before)
                # A driver that is slow instead of dead may have staged these files after they were listed above.
                _unstage(target, replace(intent.key, target=place), intent.token)
                _end(target, intent, taken, before)
        reach("recover.intent")
    reach("recover.ended")


def _remove_staged(storage: Storage, query_id: str, token: int, place: str | None) -> None:
    """Remove what this driver and earlier ones have staged, for one place; with None, for all places."""
    folder = STAGING if place is None else staging_of_query(query_id, place)
    staged = [one for one in storage.list(folder) if is_staged_by(one, query_id)]
    if any(token_of_staged(one) > token for one in staged):
        storage.delete(one for one in staged if token_of_staged(one) <= token)
        return
    for one in dict.fromkeys("/".join(key.split("/")[:3]) for key in staged):
        storage.delete_folder(one)


def abort(target: Target, key: CommitKey, attempt: str) -> None:
    """Remove what the tasks of an attempt staged; files that are already gone are no error."""
    for storage, _ in target.each():
        storage.delete_folder(staging_of_attempt(key, attempt), within=staging_of_query(key.query_id, key.target))


def _unstage(target: Target, key: CommitKey, token: int, kept: Collection[str] = ()) -> None:
    """Remove what a driver has staged for a write, so that it moves nothing to names of a generation that is taken."""
    for storage, _ in target.each():
        staged = storage.list(staging_of_attempt(key, str(token)))
        storage.delete(one for one in staged if one not in kept)


def fence(target: Target, key: CommitKey, token: int) -> None:
    """Keep earlier drivers from publishing under a key from now on; what is published stays as it is.

    Args:
        target: where the write goes.
        key: the key of the write.
        token: token of the caller, which is higher than those of the drivers that it keeps out.

    Raises:
        LeaseHeld: a later driver has published under this key.
        TransientError: the storage could not be reached.
    """
    newest = published(target, key)
    while newest is None or newest.token < token:
        _create(target, seal(key, 1 + (newest.generation if newest else 0), token, newest))
        newest = published(target, key)
    if newest.token > token:
        raise _fenced(target, Manifest(key, token=token), newest)


def published(target: Target, key: CommitKey) -> CommitRecord | None:
    """Return the record of the newest generation that was published under a key, or None.

    Generations are tried one after the other, because a listing may lag behind.
    """
    newest, generation = None, 1
    while (record := _read(target, key, generation)) is not None:
        newest, generation = record, generation + 1
    return newest


def _taken(target: Target, intent: Intent, token: int, before: CommitRecord | None) -> CommitRecord:
    """Return the record of an intent's generation, after making sure that nobody can create another one.

    An earlier driver may be slow instead of dead, and a store may carry out a request of this driver after the driver
    gave it up. So moved files can be removed only once the generation is taken. If it has no record, this driver takes
    it with a record of the generation before, or with an empty one.
    """
    record = _read(target, intent.key, intent.generation)
    return record or _create(target, seal(intent.key, intent.generation, token, before))


def _settle_own(
    target: Target, manifest: Manifest, record: CommitRecord, superseded: CommitRecord | None
) -> CommitRecord | None:
    """Undo an earlier try of this driver to publish the same generation, or find that it succeeded.

    Returns:
        The record that now has the generation; None if there was no such try.
    """
    intent = _begun(target, record)
    if intent is None:
        return None
    taken = _taken(target, intent, record.token, superseded)
    _unstage_earlier_tries(target, manifest)
    _end(target, intent, taken, superseded)
    return taken


def _settle_next(target: Target, manifest: Manifest, published: CommitRecord) -> CommitRecord | None:
    """Settle a try of this driver to replace what is published, although that is now what the manifest wants.

    An attempt in between did other work, and got no answer to the creation of its record. Without this, that record
    could still appear and replace the published files after the batch has ended.

    Returns:
        The record that now has the next generation; None if there was no such try.
    """
    following = replace(published, generation=published.generation + 1)
    return _settle_own(target, manifest, following, published)


def _finish(target: Target, manifest: Manifest, record: CommitRecord) -> None:
    """Complete an earlier try of this driver that has a record but was not cleaned up."""
    intent = _begun(target, record)
    if intent is not None:
        _unstage_earlier_tries(target, manifest)
        _end(target, intent, record, _read(target, record.key, record.generation - 1))


def _unstage_earlier_tries(target: Target, manifest: Manifest) -> None:
    """Remove what earlier tries of a write have staged, and keep what the manifest names.

    This comes before published files are removed: the store may still carry out a copy of an earlier try.
    """
    _unstage(target, manifest.key, manifest.token, {file.staged for part in manifest.parts for file in part.files})


def _begun(target: Target, record: CommitRecord) -> Intent | None:
    """Return the intent that an earlier try to publish a record has left; None if there is none."""
    try:
        return Intent.from_bytes(target.table.get(Intent.to_publish(record).path))
    except FileNotFoundError:
        return None


def _write(
    target: Target, manifest: Manifest, record: CommitRecord, superseded: CommitRecord | None, later: Later
) -> Committed | AlreadyCommitted:
    intent = Intent.to_publish(record)
    _move(target, manifest, record.generation)
    reach("publish.manifest_temp")
    winner = _create(target, record)
    reach("publish.created")

    def clear() -> None:
        _end(target, intent, record, superseded)
        abort(target, manifest.key, str(manifest.token))
        reach("publish.ended")

    if winner == record:
        later(clear)
        return Committed(record.data_paths, record.rows_out, record.rejects_paths)
    _end(target, intent, winner, None)  # the winner itself removes the files that it superseded
    abort(target, manifest.key, str(manifest.token))
    raise _overtaken(target, manifest, winner)


def _announce(target: Target, record: CommitRecord) -> bool:
    """Create the intent to publish a record; return False if another intent of this driver is there.

    It is created and not put, as an intent of an earlier try may arrive late: it must not replace this one, because it
    may name other files.
    """
    intent = Intent.to_publish(record)
    if not target.table.create(intent.path, intent.to_bytes()) and _begun(target, record) != intent:
        return False
    reach("publish.intent")
    return True


def _move(target: Target, manifest: Manifest, generation: int) -> None:
    for storage, kinds in target.each():
        files = [file for part in manifest.parts for file in part.files if file.rejects in kinds]
        try:
            storage.move([(file.staged, published_name(file.final, generation, manifest.token)) for file in files])
        except FileNotFoundError as error:
            raise TransientError(
                f"a staged file of batch {manifest.key.batch_id} in {storage.url} is gone",
            ) from error
        reach("publish.moved")


def _create(target: Target, record: CommitRecord) -> CommitRecord:
    """Create the manifest, and return the existing one, which is ours unless another driver came first.

    The store may also answer "it exists" to our own request, if that was sent twice because the first reply was lost.
    """
    key = commit_key(record.key, record.generation)
    if target.table.create(key, record.to_bytes()):
        return record
    return CommitRecord.from_bytes(target.table.get(key))


def _overtaken(target: Target, manifest: Manifest, winner: CommitRecord) -> LeaseHeld | TransientError:
    if winner.token > manifest.token:
        return _fenced(target, manifest, winner)
    return TransientError(f"batch {manifest.key.batch_id} was published by an earlier driver at the same moment")


def _fenced(target: Target, manifest: Manifest, record: CommitRecord) -> LeaseHeld:
    return LeaseHeld(
        f"batch {manifest.key.batch_id} of query {manifest.key.query_id} was published by a later driver, see"
        f" {target.table.url}/{commit_key(record.key, record.generation)}; this driver publishes no more",
    )


def _end(target: Target, intent: Intent, record: CommitRecord | None, superseded: CommitRecord | None) -> None:
    """Remove files that the intent names and the record does not, then superseded files, then the intent itself."""
    kept = _named(record)
    _remove(target, [file for file in intent.files if file not in kept])
    _remove(target, [file for file in _named(superseded) if file not in kept])
    target.table.delete([intent.path])


def _named(record: CommitRecord | None) -> Collection[NamedFile]:
    return {(file.rejects, file.path) for file in record.files} if record else set()


def _remove(target: Target, files: Iterable[NamedFile]) -> None:
    doomed = sorted(files)
    for storage, kinds in target.each():
        storage.delete(path for rejects, path in doomed if rejects in kinds)


def _read(target: Target, key: CommitKey, generation: int) -> CommitRecord | None:
    try:
        return CommitRecord.from_bytes(target.table.get(commit_key(key, generation)))
    except FileNotFoundError:
        return None
