"""Reads and writes rollups: copies of manifests, a thousand batches in one file.

    <query>/<first>.<number>.parquet   the newest manifest of each write of the batches from <first> on
    <query>/<number>.json              the index: which of these files are valid, and a summary

Rollups are copies. The manifests stay where they are, because their names, which are never given twice, keep a driver
that was taken for dead from publishing. A listing of manifests leaves out those that are in a rollup. The rules:

1. The indexes of a query form a chain, each created exclusively; only the newest is valid. To remove the indexes loses
   nothing: the manifests themselves are then read.
2. A query's own driver rolls up its manifests, a thousand batches at a time, once a later thousand has begun. After
   that, none of the batches is normally published again.
3. A manifest of such a batch may still be created: when a checkpoint was restored, or rejected records are purged. That
   process takes the thousand out of the index, creates the manifest, and then checks whether the thousand is in the
   index again. The process that rolls up checks the folder again after it has created the index. So one of the two
   notices the other, and takes the thousand out.
4. Files that no index names are removed with the next thousand, so readers have that long to read them.
"""

from __future__ import annotations

import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from itertools import chain

import pyarrow as pa
import pyarrow.parquet as pq

from gluepot.commit.links import missing
from gluepot.commit.reading import newest_generations, records_by_write
from gluepot.commit.record import CommitRecord
from gluepot.commit.rollup import Index, Summary
from gluepot.connectors.files.sink.layout import (
    FOLDER_BATCHES,
    ROLLUPS,
    commit_key,
    commits_from,
    commits_of_query,
    first_batch,
    first_of_folder,
    rollup_index,
    rollup_index_key,
    rollup_key,
    rollup_number,
    rollups_of_query,
)
from gluepot.core.errors import CheckpointError, TransientError
from gluepot.core.logging import get_logger
from gluepot.core.storage import Storage
from gluepot.core.storage.port import Stretch

log = get_logger(__name__)

_SCHEMA = pa.schema(
    [("batch_id", pa.int64()), ("ctx", pa.string()), ("generation", pa.int64()), ("manifest", pa.binary())]
)
_SUMMARY = b"gluepot.summary"
_TRIES = 10


def indexes(storage: Storage) -> Mapping[str, Index]:
    """Return the index of each query of a table that has rollups, by query.

    Raises:
        CheckpointError: an index cannot be read.
    """
    return {one.query_id: one for one in _newest(storage, ROLLUPS)}


def index_of(storage: Storage, query_id: str) -> Index:
    """Return the index of one query; an empty one of number 0 if it has no rollups. Raises as `indexes`."""
    return next(iter(_newest(storage, rollups_of_query(query_id))), Index(query_id))


def rolled_up_folders(by_query: Mapping[str, Index]) -> list[Stretch]:
    """Return the folders whose manifests are in rollups, of all queries, in order; they need not be listed."""
    return sorted(chain.from_iterable(one.stretches() for one in by_query.values()))


def rolled_records(storage: Storage, index: Index) -> Iterator[CommitRecord]:
    """Yield the manifests in the rollups of an index, in order of batch and ctx.

    Raises:
        TransientError: a rollup was replaced since the index was read; open the table again.
        CheckpointError: a rollup cannot be read.
    """
    for first in sorted(index.files):
        rows = _file(storage, index, first).read(["manifest"]).column("manifest")
        yield from (CommitRecord.from_bytes(text) for text in rows.to_pylist())


def roll_up(storage: Storage, query_id: str, token: int, batch_id: int, *, with_gaps: bool = False) -> int:
    """Roll up the query's manifests in all folders that lie completely before a batch; return the number of folders.

    Args:
        storage: the table's folder.
        query_id: id of the query.
        token: token of the query's driver, which calls this.
        batch_id: a batch that has begun.
        with_gaps: whether missing manifests are accepted.

    Raises:
        CheckpointError: a manifest cannot be read, or is missing.
        TransientError: the storage could not be reached, or another process changed the index.
    """
    index = index_of(storage, query_id)
    if index.token > token:
        return 0  # a later driver has taken over, and rolls up
    by_first: defaultdict[int, list[str]] = defaultdict(list)
    for key in storage.list(commits_of_query(query_id), index.stretches()):
        first = first_batch(key)
        if first is not None and first + FOLDER_BATCHES <= batch_id:
            by_first[first].append(key)
    for first in sorted(by_first):
        index = _rolled_up(storage, index, token, first, by_first[first], with_gaps=with_gaps)
    if by_first:
        _clean(storage, index)
        log.info("manifests_rolled_up", table=storage.url, folders=len(by_first), writes=index.summary.writes)
    return len(by_first)


def unroll(storage: Storage, query_id: str, first: int, last: int | None = None) -> None:
    """Take folders of batches out of a query's index, so that their manifests are read again.

    Args:
        storage: the table's folder.
        query_id: id of the query.
        first: the first batch of the first folder.
        last: the first batch of the last folder; None for all from `first` on.
    """
    for _ in range(_TRIES):
        index = index_of(storage, query_id)
        files = {at: key for at, key in index.files.items() if at < first or (last is not None and at > last)}
        if len(files) == len(index.files):
            return
        left = Index(query_id, index.number + 1, index.token, files)
        summaries = (_summary(_file(storage, left, at), query_id) for at in sorted(files))
        if _created(storage, replace(left, summary=reduce(Summary.and_then, summaries, Summary()))):
            return
    raise TransientError(f"the index of rollups in {storage.url} changed {_TRIES} times; try again")


def create_again(storage: Storage, record: CommitRecord) -> bool:
    """Create a manifest of a batch that may be rolled up; return False if a manifest of that name exists."""
    key, first = record.key, first_of_folder(record.key.batch_id)
    unroll(storage, key.query_id, first, first)
    created = storage.create(commit_key(key, record.generation), record.to_bytes())
    unroll(storage, key.query_id, first, first)
    return created


def _rolled_up(
    storage: Storage, index: Index, token: int, first: int, keys: Sequence[str], *, with_gaps: bool
) -> Index:
    newest = newest_generations(keys)
    found = (record for _, record in records_by_write(storage, newest))
    records = sorted(found, key=lambda one: (one.key.batch_id, one.key.ctx))
    gone = next(missing(records, lambda _, batch_id: index.holds(batch_id)), None)
    if gone is not None and not with_gaps:
        before, later = gone
        raise CheckpointError(
            f"{storage.url} lacks the manifest of batch {before.batch_id} of query {before.query_id}, which that of"
            f" batch {later.batch_id} names; restore it, so that the batches from {first} on can be rolled up"
        )
    number, summary = index.number + 1, Summary.of(records)
    key = rollup_key(index.query_id, first, number)
    storage.put(key, _to_parquet(records, summary))
    later_index = Index(index.query_id, number, token, {**index.files, first: key}, index.summary.and_then(summary))
    if not _created(storage, later_index):
        raise TransientError(f"somebody else changed the index of rollups in {storage.url}")
    if newest_generations(storage.list(commits_from(index.query_id, first))) != newest:
        unroll(storage, index.query_id, first, first)
        raise TransientError(f"a batch from {first} on was published again in {storage.url}")
    return later_index


def _created(storage: Storage, index: Index) -> bool:
    """Create an index; return False if another index has taken its number."""
    key, text = rollup_index_key(index.query_id, index.number), index.to_bytes()
    # "It exists" may also be the answer to our own request, sent twice because the first reply was lost.
    return storage.create(key, text) or storage.get(key) == text


def _clean(storage: Storage, index: Index) -> None:
    """Remove rollups and indexes that neither an index nor the one before it uses; leave files of other names."""
    numbers = {key: rollup_number(key) for key in storage.list(rollups_of_query(index.query_id))}
    used = set(index.files.values())
    storage.delete(
        key for key, number in numbers.items() if number is not None and number < index.number - 1 and key not in used
    )


def _newest(storage: Storage, folder: str) -> list[Index]:
    for _ in range(_TRIES):
        named = sorted((*one, key) for key in storage.list(folder) if (one := rollup_index(key)))
        newest = {query: (number, key) for query, number, key in named}  # the last of each query
        with suppress(FileNotFoundError):  # a later index was created, and this one was removed
            return [_index(storage, number, key) for number, key in newest.values()]
    raise TransientError(f"the indexes of rollups in {storage.url} changed {_TRIES} times; try again")


def _index(storage: Storage, number: int, key: str) -> Index:
    text = storage.get(key)
    try:
        return Index.from_bytes(number, text)
    except CheckpointError as damaged:
        raise CheckpointError(f"{storage.url}/{key} {damaged}") from damaged


def _file(storage: Storage, index: Index, first: int) -> pq.ParquetFile:
    key = index.files[first]
    try:
        return pq.ParquetFile(io.BytesIO(storage.get(key)))
    except FileNotFoundError as gone:
        if index_of(storage, index.query_id).files.get(first) != key:
            raise TransientError(f"{storage.url}/{key} was replaced; open the table again", wait_secs=0) from gone
        raise _unreadable(storage, index, key, "is gone") from gone
    except (pa.ArrowException, ValueError) as damaged:
        raise _unreadable(storage, index, key, f"cannot be read ({damaged})") from damaged


def _unreadable(storage: Storage, index: Index, key: str, what: str) -> CheckpointError:
    folder = rollups_of_query(index.query_id)
    return CheckpointError(
        f"{storage.url}/{key} {what}; it is only a copy of manifests: remove the folder {storage.url}/{folder}, and the"
        " manifests themselves are read"
    )


def _summary(file: pq.ParquetFile, query_id: str) -> Summary:
    return Summary.from_json(json.loads(file.schema_arrow.metadata[_SUMMARY]), query_id)


def _to_parquet(records: Iterable[CommitRecord], summary: Summary) -> bytes:
    rows = [
        {"batch_id": one.key.batch_id, "ctx": one.key.ctx, "generation": one.generation, "manifest": one.to_bytes()}
        for one in records
    ]
    schema = _SCHEMA.with_metadata({_SUMMARY: json.dumps(summary.to_json())})
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema), buffer, compression="zstd")
    return buffer.getvalue()
