"""Replaces many small files by few large ones, while jobs continue to write and readers to read.

Rows keep their values and their folders. Manifests stay as they are, so compaction does not affect exactly-once. See
`gluepot.commit.compaction` for the records that it writes, and their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import pyarrow as pa

from gluepot.commit.compaction import Compaction, created, end, settle
from gluepot.commit.record import FileEntry
from gluepot.connectors.files.formats.parquet.read_back import parquet_schema, read_parquet
from gluepot.connectors.files.formats.parquet.write import ParquetOutputFormat
from gluepot.connectors.files.sink.key_instants import with_instants
from gluepot.connectors.files.sink.layout import staging_of_compaction
from gluepot.connectors.files.sink.staging import Stage
from gluepot.connectors.values import StagedFile
from gluepot.core.clock import Clock
from gluepot.core.errors import TransientError
from gluepot.core.failpoints import reach
from gluepot.core.storage import Storage
from gluepot.frames.schema import align, merge_schemas
from gluepot.frames.sizes import memory_bytes
from gluepot.tables.columns import choose, table_columns
from gluepot.tables.file_check import file_finding
from gluepot.tables.files import TableFile, table_files
from gluepot.tables.reading import PARALLEL_READS, opened_file, side_by_side
from gluepot.tables.table import published_and_compacted

TARGET_BYTES = 128 << 20
# Files that already have this fraction of the target size are left alone.
_LARGE_ENOUGH = 0.5


@dataclass(frozen=True, slots=True)
class CompactSettings:
    """How to make the new files.

    Args:
        target_bytes: about how many bytes of files are combined into one.
        format: format of the new files.
        sort_by: a column to sort each new file by; None keeps the order of the rows.
    """

    target_bytes: int = TARGET_BYTES
    format: ParquetOutputFormat = field(default_factory=lambda: ParquetOutputFormat("zstd"))
    sort_by: str | None = None


@dataclass(frozen=True, slots=True)
class Compacted:
    """One group of files that was replaced by one file, or would be.

    Args:
        folder: folder of the files.
        files: number of replaced files.
        bytes_before: bytes of the replaced files.
        bytes_after: bytes of the new file; 0 if nothing was done yet.
        rows: number of rows in them.
    """

    folder: str
    files: int
    bytes_before: int
    bytes_after: int
    rows: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that is left alone because it differs from its manifest: rewriting it would hide the damage.

    Args:
        path: path of the file, relative to the table's folder.
        message: one sentence: what the manifest says, what the file has instead, and the next step.
    """

    path: str
    message: str


def plan(files: Iterable[TableFile], newest: Mapping[str, int], target_bytes: int) -> list[list[TableFile]]:
    """Return groups of files to combine: neighbours in one folder, so that rows stay in their order.

    The newest batch of each query is left out, because it is the only batch that may still be published again. Files of
    batch jobs are always left out, because each run is a query of its own with a single batch.

    Args:
        files: files of the table.
        newest: the last batch of each query.
        target_bytes: a group is closed when it has this many bytes.
    """
    groups: list[list[TableFile]] = []
    growing: dict[tuple[object, ...], tuple[list[TableFile], int]] = {}
    for file in files:
        is_newest = file.key.batch_id == newest.get(file.key.query_id)
        is_large = file.size_bytes >= _LARGE_ENOUGH * target_bytes
        if is_newest or is_large or file.encoding["format"] != "parquet":
            continue
        folder = _folder(file), *file.instants.items()
        if folder not in growing:
            growing[folder] = [], 0
            groups.append(growing[folder][0])
        group, held_bytes = growing.pop(folder)
        group.append(file)
        if held_bytes + file.size_bytes < target_bytes:
            growing[folder] = group, held_bytes + file.size_bytes
    return [group for group in groups if len(group) > 1]


def compact(storage: Storage, settings: CompactSettings, clock: Clock, owner: str) -> Iterator[Compacted | Refused]:
    """Finish or undo a compaction that died; then replace files group by group, and yield the outcome of each.

    Every file is compared with its manifest before it is replaced. A file that differs is left alone, and the others of
    its group are replaced without it.

    Args:
        storage: the table's folder.
        settings: how to make the new files.
        clock: gives the times in the records.
        owner: a name that no other compaction has, of letters and digits.

    Raises:
        ConfigError: nothing was ever published there, or the column to sort by does not exist.
        TransientError: a job or another compaction has replaced a file meanwhile; nothing is lost, run it again.
        PermanentError: a file is gone, although a manifest names it, or was damaged meanwhile.
        CheckpointError: a manifest or a record cannot be read.
    """
    settle(storage, owner)
    commits, done = published_and_compacted(storage)
    if settings.sort_by is not None:
        choose(table_columns(commits), [settings.sort_by], storage.url)
    number = len(done) + 1
    for together in plan(table_files(commits, done), commits.newest_batches(), settings.target_bytes):
        sound, refused = _compared(storage, together)
        yield from refused
        for group, schema in _alike(storage, sound):
            written = _written(storage, group, schema, settings, f"{owner}{number}")
            at = int(clock.epoch() * 1000)
            entry = FileEntry(written.final, written.size_bytes, written.rows, written.crc32, False, written.encoding)
            _swap(storage, Compaction(number, owner, [file.path for file in group], [entry], at), written)
            number += 1
            yield _summary(group, written.size_bytes)


def planned(storage: Storage, settings: CompactSettings) -> Iterator[Compacted]:
    """Yield what `compact` would replace, with the same errors. `compact` may combine fewer files if types differ."""
    commits, done = published_and_compacted(storage)
    for group in plan(table_files(commits, done), commits.newest_batches(), settings.target_bytes):
        yield _summary(group, 0)


def _compared(storage: Storage, files: Sequence[TableFile]) -> tuple[list[TableFile], list[Refused]]:
    """Compare files with their manifests; return the sound files, and a refusal for each of the others."""
    sound: list[TableFile] = []
    refused: list[Refused] = []
    with ThreadPoolExecutor(PARALLEL_READS) as pool:
        compared = list(pool.map(lambda file: file_finding(storage, storage, file), files))
    for file, found in zip(files, compared, strict=True):
        if found is not None:
            restore = f"restore {storage.url}/{file.path} from a copy and compact again"
            refused.append(Refused(file.path, f"{found.message}; compaction leaves it alone: {restore}"))
        else:
            sound.append(file)
    return sound, refused


def _alike(storage: Storage, files: Sequence[TableFile]) -> Iterator[tuple[list[TableFile], pa.Schema]]:
    """Yield groups of at least two files whose columns fit together, with these columns.

    No value may change its type, not even to a wider one, because a double cannot represent every long. Columns and
    fields of structs may be missing.
    """

    def schema_of(file: TableFile) -> pa.Schema:
        with opened_file(storage, file) as opened:
            return parquet_schema(opened)

    groups: list[tuple[list[TableFile], pa.Schema]] = []
    with ThreadPoolExecutor(PARALLEL_READS) as pool:
        for file, schema in zip(files, pool.map(schema_of, files), strict=True):
            for at, (group, known) in enumerate(groups):
                merged = merge_schemas(known, schema)
                if _fits(known, merged) and _fits(schema, merged):
                    group.append(file)
                    groups[at] = group, merged
                    break
            else:
                groups.append(([file], schema))
    yield from (one for one in groups if len(one[0]) > 1)


def _fits(have: pa.Schema | pa.DataType, merged: pa.Schema | pa.DataType) -> bool:
    """Tell whether values of type `have` can be stored as `merged` without changing their type."""
    if isinstance(have, pa.Schema) or (pa.types.is_struct(have) and pa.types.is_struct(merged)):
        types = {one.name: one.type for one in merged}
        return all(one.name in types and _fits(one.type, types[one.name]) for one in have)
    if pa.types.is_list(have) and pa.types.is_list(merged):
        return _fits(have.value_type, merged.value_type)
    return bool(have.equals(merged))


def _written(
    storage: Storage, files: Sequence[TableFile], schema: pa.Schema, settings: CompactSettings, name: str
) -> StagedFile:
    """Stage the rows of several files as one file."""
    stage = Stage(storage, f"{staging_of_compaction(name)}/0")
    try:
        output = stage.open(f"{_folder(files[0])}{_file_name(name, settings.format)}")
        sort_by = settings.sort_by if settings.sort_by in schema.names else None
        # Sorted rows are one batch. Otherwise later batches may have NaN, and the result must be one file.
        encoder = replace(settings.format, float_statistics=sort_by is not None).open(output, schema)
        rows = 0
        for batch in _gathered(_rows(storage, files, schema), settings.format.gather_bytes, sort_by):
            encoder.write(batch)
            rows += batch.num_rows
        encoder.close()
        staged = output.finish(rows, with_instants(settings.format.encoding(schema), files[0].instants))
        stage.settle()
    except BaseException:
        stage.discard()
        raise
    return staged


def _rows(storage: Storage, files: Sequence[TableFile], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    def read(file: TableFile) -> Iterator[pa.RecordBatch]:
        with opened_file(storage, file) as opened:
            for batch in read_parquet(opened, file.encoding, schema, schema.names):
                plain = pa.schema([pa.field(one.name, one.type) for one in batch.schema])
                yield align(pa.RecordBatch.from_arrays(batch.columns, schema=plain), schema)

    return side_by_side(files, read)


def _gathered(batches: Iterable[pa.RecordBatch], gather_bytes: int, sort_by: str | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows in batches of one row group each; with `sort_by`, all rows sorted as one batch."""
    gathered: list[pa.RecordBatch] = []
    held_bytes = 0
    for batch in batches:
        gathered.append(batch)
        held_bytes += memory_bytes(batch)
        if sort_by is None and held_bytes >= gather_bytes:
            yield pa.concat_batches(gathered)
            gathered, held_bytes = [], 0
    if gathered:
        rows = pa.concat_batches(gathered)
        yield rows if sort_by is None else rows.sort_by(sort_by)


def _swap(storage: Storage, compaction: Compaction, staged: StagedFile) -> None:
    storage.put(compaction.intent_key, compaction.to_bytes())
    reach("compact.intent")
    try:
        storage.move([(staged.staged, staged.final)])
    except FileNotFoundError as gone:  # another compaction removed our staged file, as if we were dead
        raise _overtaken(storage, compaction) from gone
    reach("compact.moved")
    if not created(storage, compaction):
        raise _overtaken(storage, compaction)
    reach("compact.created")
    end(storage, compaction, is_done=True)
    reach("compact.ended")


def _overtaken(storage: Storage, compaction: Compaction) -> TransientError:
    end(storage, compaction, is_done=False)
    return TransientError(f"another compaction of {storage.url} came first; nothing is lost, run this one again")


def _summary(group: Sequence[TableFile], bytes_after: int) -> Compacted:
    size_bytes, rows = (sum(getattr(file, name) for file in group) for name in ("size_bytes", "rows"))
    return Compacted(_folder(group[0]).rstrip("/"), len(group), size_bytes, bytes_after, rows)


def _folder(file: TableFile) -> str:
    folder, slash, _ = file.path.rpartition("/")
    return f"{folder}{slash}"


def _file_name(name: str, format: ParquetOutputFormat) -> str:  # noqa: A002  it is one
    return f"compact-{name}-{format.ending(0, 0)}"
