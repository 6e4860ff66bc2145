"""Few large files in the place of many small ones, while jobs go on writing and readers reading.

Rows keep their values and their folders; manifests stay as they are, so that what is known of batches, exactly-once
among it, is not touched. See `gluepot.commit.compaction` for what is written down, and in which order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pyarrow as pa

from gluepot.commit.compaction import Compaction, created, end, settle
from gluepot.commit.record import FileEntry
from gluepot.connectors.filesink.layout import staging_of_compaction
from gluepot.connectors.filesink.staging import Stage
from gluepot.connectors.glueparquet import ParquetFormat, parquet_schema, read_parquet
from gluepot.connectors.values import StagedFile
from gluepot.core.clock import Clock
from gluepot.core.errors import TransientError
from gluepot.core.failpoints import reach
from gluepot.core.storage import Storage
from gluepot.frames.schema import align, merge_schemas
from gluepot.tables.columns import choose, table_columns
from gluepot.tables.file_check import file_findings
from gluepot.tables.files import TableFile, table_files
from gluepot.tables.reading import PARALLEL_READS, side_by_side
from gluepot.tables.table import published_and_compacted

TARGET_BYTES = 128 << 20
_LARGE_ENOUGH = 0.5
"""Of the target: what is as large as this is not written again."""


@dataclass(frozen=True, slots=True)
class CompactSettings:
    """How files are made.

    Args:
        target_bytes: the files that become one have so many together, about.
        format: of the new files.
        sort_by: a column to sort each new file by; None keeps the order of the rows.
    """

    target_bytes: int = TARGET_BYTES
    format: ParquetFormat = field(default_factory=lambda: ParquetFormat("zstd"))
    sort_by: str | None = None


@dataclass(frozen=True, slots=True)
class Compacted:
    """What was done, or would be.

    Args:
        folder: of the files.
        files: that were replaced.
        bytes_before: of these.
        bytes_after: of the one in their place; 0 where nothing was done yet.
        rows: in them.
    """

    folder: str
    files: int
    bytes_before: int
    bytes_after: int
    rows: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that stays as it is, because it is not as its manifest says: a new file would hide the damage.

    Args:
        path: of the file, relative to the table's folder.
        message: one sentence: what the manifest says, what is there, and the next step.
    """

    path: str
    message: str


def plan(files: Iterable[TableFile], newest: Mapping[str, int], target_bytes: int) -> list[list[TableFile]]:
    """Return the files that become one, group by group; neighbours of one folder, whose rows stay in their order.

    The newest batch of each query is left out: it is the only one that may yet be published anew. What a batch job
    wrote is that always, since each of its runs is a query of its own.

    Args:
        files: of the table.
        newest: the last batch of each query.
        target_bytes: a group is closed when it has so many.
    """
    groups: list[list[TableFile]] = []
    growing: dict[str, tuple[list[TableFile], int]] = {}
    for file in files:
        is_newest = file.key.batch_id == newest.get(file.key.query_id)
        is_large = file.size_bytes >= _LARGE_ENOUGH * target_bytes
        if is_newest or is_large or file.encoding["format"] != "parquet":
            continue
        folder = _folder(file)
        if folder not in growing:
            growing[folder] = [], 0
            groups.append(growing[folder][0])
        group, held_bytes = growing.pop(folder)
        group.append(file)
        if held_bytes + file.size_bytes < target_bytes:
            growing[folder] = group, held_bytes + file.size_bytes
    return [group for group in groups if len(group) > 1]


def compact(storage: Storage, settings: CompactSettings, clock: Clock, owner: str) -> Iterator[Compacted | Refused]:
    """Finish or undo what a compaction that died left; then replace files, a group at a time, telling of each.

    Every file is compared with its manifest before it is replaced. One that differs is refused and stays; the others of
    its group are replaced without it.

    Args:
        storage: the table's folder.
        settings: how.
        clock: for the records.
        owner: a name that no other compaction has, of letters and digits.

    Raises:
        ConfigError: nothing was ever published there, or there is no such column to sort by.
        TransientError: another compaction came first; nothing is lost, run it again.
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
    """Tell what `compact` would replace; see there for errors. Files of different types may stay apart."""
    commits, done = published_and_compacted(storage)
    for group in plan(table_files(commits, done), commits.newest_batches(), settings.target_bytes):
        yield _summary(group, 0)


def _compared(storage: Storage, files: Sequence[TableFile]) -> tuple[list[TableFile], list[Refused]]:
    """Part the files that are as their manifests say from the others."""
    sound: list[TableFile] = []
    refused: list[Refused] = []
    with ThreadPoolExecutor(PARALLEL_READS) as pool:
        found = list(pool.map(lambda file: list(file_findings(storage, storage, file)), files))
    for file, findings in zip(files, found, strict=True):
        if findings:
            restore = f"restore {storage.url}/{file.path} from a copy and compact again"
            refused.append(Refused(file.path, f"{findings[0].message}; compaction leaves it alone: {restore}"))
        else:
            sound.append(file)
    return sound, refused


def _alike(storage: Storage, files: Sequence[TableFile]) -> Iterator[tuple[list[TableFile], pa.Schema]]:
    """Yield the files whose columns go together, at least two at a time, with the columns.

    No value changes its type, not even to a wider one: a double does not hold every long. Columns and fields of structs
    may be missing.
    """

    def schema_of(file: TableFile) -> pa.Schema:
        with storage.reader(file.path) as opened:
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
    """Tell whether values go where others are merged in without changing their type."""
    if isinstance(have, pa.Schema) or (pa.types.is_struct(have) and pa.types.is_struct(merged)):
        types = {one.name: one.type for one in merged}
        return all(one.name in types and _fits(one.type, types[one.name]) for one in have)
    if pa.types.is_list(have) and pa.types.is_list(merged):
        return _fits(have.value_type, merged.value_type)
    return bool(have.equals(merged))


def _written(
    storage: Storage, files: Sequence[TableFile], schema: pa.Schema, settings: CompactSettings, name: str
) -> StagedFile:
    """Stage the rows of files as one."""
    stage = Stage(storage, f"{staging_of_compaction(name)}/0")
    try:
        output = stage.open(f"{_folder(files[0])}{_file_name(name, settings.format)}")
        encoder = settings.format.open(output, schema)
        rows = 0
        sort_by = settings.sort_by if settings.sort_by in schema.names else None
        for batch in _gathered(_rows(storage, files, schema), settings.format.gather_bytes, sort_by):
            encoder.write(batch)
            rows += batch.num_rows
        encoder.close()
        staged = output.finish(rows, settings.format.encoding(schema))
        stage.settle()
    except BaseException:
        stage.discard()
        raise
    return staged


def _rows(storage: Storage, files: Sequence[TableFile], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    def read(file: TableFile) -> Iterator[pa.RecordBatch]:
        with storage.reader(file.path) as opened:
            for batch in read_parquet(opened, file.encoding, schema, schema.names):
                plain = pa.schema([pa.field(one.name, one.type) for one in batch.schema])
                yield align(pa.RecordBatch.from_arrays(batch.columns, schema=plain), schema)

    return side_by_side(files, read)


def _gathered(batches: Iterable[pa.RecordBatch], gather_bytes: int, sort_by: str | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows in batches of a row group each; all at once, in order, where they are to be sorted."""
    held: list[pa.RecordBatch] = []
    held_bytes = 0
    for batch in batches:
        held.append(batch)
        held_bytes += batch.nbytes
        if sort_by is None and held_bytes >= gather_bytes:
            yield pa.concat_batches(held)
            held, held_bytes = [], 0
    if held:
        rows = pa.concat_batches(held)
        yield rows if sort_by is None else rows.sort_by(sort_by)


def _swap(storage: Storage, compaction: Compaction, staged: StagedFile) -> None:
    storage.put(compaction.intent_key, compaction.to_bytes())
    reach("compact.intent")
    try:
        storage.move([(staged.staged, staged.final)])
    except FileNotFoundError as gone:  # the other one took what we staged for left behind
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


def _file_name(name: str, format: ParquetFormat) -> str:  # noqa: A002  it is one
    return f"compact-{name}-{format.ending(0, 0)}"
