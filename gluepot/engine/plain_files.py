"""Finds the files of a read that Spark's own reader may scan, because it finds in them what ours does. No Spark.

Spark does not get the files themselves, but links to them in a folder of ours. So a script may overwrite or purge the
folder that it reads from, as it may where the rows were read before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
from pyarrow import parquet

from gluepot.connectors.files.formats.parquet.plain import plain_schema
from gluepot.connectors.files.formats.parquet.read import ParquetInputFormat
from gluepot.connectors.files.formats.parquet.statistics import statistics_miss_nan
from gluepot.connectors.files.source.files_source import FilesSource
from gluepot.connectors.files.source.grouping import FileGroup
from gluepot.connectors.files.source.hive import partition_values
from gluepot.connectors.files.source.versions import FileVersion
from gluepot.core.errors import PermanentError
from gluepot.core.storage import LocalRoot, parse_url
from gluepot.engine.pipeline import Pipeline, SplitInput
from gluepot.engine.row_files import RowFile, RowFolders, Stamp, can_hold
from gluepot.frames.schema import merge_schemas

# Beyond so many a plan of Spark's with all of them becomes too large.
_MOST_PARTITIONS, _MOST_FILES = 64, 10_000
_THREADS = 8

Partition = tuple[tuple[str, str | None], ...]
"""Names and values of the folders that a file lies in."""


@dataclass(frozen=True, slots=True)
class PlainFiles:
    """Files that Spark reads as we do.

    Args:
        partitions: the files of each partition.
        schema: the columns of all files, without those of partitions.
    """

    partitions: dict[Partition, list[RowFile]]
    schema: pa.Schema

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns whose values are those of partitions."""
        return tuple(name for name, _ in next(iter(self.partitions)))

    @property
    def files(self) -> list[RowFile]:
        """All files."""
        return [file for files in self.partitions.values() for file in files]


def plain_files(pipeline: Pipeline, folders: RowFolders) -> PlainFiles | None:
    """Return the files that a pipeline reads, if it does nothing else and Spark's reader finds the same in them.

    Files that a bookmark remembers are not among them: one that is written again in its place meanwhile would be read
    twice.

    Args:
        pipeline: gives the records.
        folders: where links to the files go. None is left there if the files cannot be read by Spark.
    """
    given = pipeline.input
    if pipeline.steps or not isinstance(given, SplitInput) or given.bookmark or not _is_plain(given.source):
        return None
    versions = dict.fromkeys(_versions(given.splits))
    if not 0 < len(versions) <= _MOST_FILES or any(not isinstance(parse_url(one.root), LocalRoot) for one in versions):
        return None
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="gluepot-footers") as pool:
        files = list(pool.map(lambda one: _linked(one, folders), versions))
    found = _together([one.partition for one in versions], files)
    if found is None:
        for file in filter(None, files):
            Path(file.path).unlink()
    return found


def _together(folders: Sequence[str], files: Sequence[RowFile | None]) -> PlainFiles | None:
    partitions: dict[Partition, list[RowFile]] = {}
    for folder, file in zip(folders, files, strict=True):
        if file is None:
            return None
        partitions.setdefault(tuple(partition_values(folder)), []).append(file)
    schema = reduce(merge_schemas, (file.schema for file in files if file), pa.schema([]))
    found = PlainFiles(partitions, schema)
    return found if _fit(found) else None


def _is_plain(source: object) -> bool:
    return (
        isinstance(source, FilesSource)
        and source.format == ParquetInputFormat()
        and not source.attach_filename
        and not source.attach_timestamp
    )


def _versions(splits: Sequence[object]) -> Iterator[FileVersion]:
    for split in splits:
        assert isinstance(split, FileGroup)
        yield from split.files


def _fit(given: PlainFiles) -> bool:
    """Return whether the files have the same types, and partitions the same keys, of which no file has one."""
    keys = [tuple(name for name, _ in one) for one in given.partitions]
    same = all(one == keys[0] for one in keys) and len(keys) <= _MOST_PARTITIONS
    names = pa.schema([*given.schema, *(pa.field(name, pa.string()) for name in keys[0])])
    types = all(field.type == given.schema.field(field.name).type for file in given.files for field in file.schema)
    return same and types and can_hold(names)


def _linked(version: FileVersion, folders: RowFolders) -> RowFile | None:
    """Return a link to a file; None if it is another version than planned, or if not all readers read it alike."""
    root = parse_url(version.root)
    assert isinstance(root, LocalRoot)
    link = _link(root.path / version.inside / version.name, folders)
    if link is None:
        return None
    try:
        stamp = Stamp.of(link)
        with parquet.ParquetFile(link) as file:
            schema, rows = plain_schema(file.metadata, version.url), file.metadata.num_rows
            if schema is not None and statistics_miss_nan(file):
                schema = None  # Spark and DuckDB would skip rows with NaN, which our reader does not
    except (OSError, pa.ArrowException, PermanentError):
        schema = None  # our reader says what is wrong
    if schema is None or (stamp.size_bytes, stamp.mtime_ns // 1000) != (version.size_bytes, version.mtime_us):
        link.unlink()
        return None
    return RowFile(str(link), schema, rows, stamp)


def _link(path: Path, folders: RowFolders) -> Path | None:
    """Link a file into the folder that lies on its file system; None if none does, or it may not be linked."""
    for folder in filter(None, (folders.disk, folders.memory)):
        link = Path(folder) / f"{uuid4().hex}.parquet"
        with suppress(OSError):
            link.hardlink_to(path)
            return link
    return None
