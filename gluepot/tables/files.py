"""The files of a table, as its manifests list them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.commit.compaction import Compaction
from gluepot.commit.record import CommitRecord, FileEntry
from gluepot.connectors.files.partition_folders import partition_values
from gluepot.connectors.files.sink.key_instants import instants_of
from gluepot.connectors.values import CommitKey


@dataclass(frozen=True, slots=True)
class TableFile:
    """One file.

    Args:
        path: path relative to the table's folder, or for a rejects file relative to the folder of rejects.
        size_bytes: length of the file.
        rows: number of records in it.
        crc32: zlib CRC-32 of its bytes.
        encoding: how to read it; has the key `format`.
        key: the write that published it.
        generation: generation of that write.
        schema: columns of all files of the write (Arrow IPC bytes); None for Parquet, which has its own.
    """

    path: str
    size_bytes: int
    rows: int
    crc32: int
    encoding: Mapping[str, Any]
    key: CommitKey
    generation: int
    schema: bytes | None

    @property
    def partition(self) -> Mapping[str, str | None]:
        """The partition values in the names of the file's folders, as text."""
        return partition_values(self.path.rpartition("/")[0])

    @property
    def instants(self) -> Mapping[str, int]:
        """What times in the names of the file's folders stand for, if they are not in UTC."""
        return instants_of(self.encoding)


def data_files(commits: Iterable[CommitRecord]) -> Iterator[TableFile]:
    """Yield the files that hold rows, commit by commit."""
    # Equal schemas are shared, because the list of files is sent to tasks.
    schemas: dict[bytes | None, bytes | None] = {None: None}
    for commit in commits:
        schema = schemas.setdefault(commit.schema, commit.schema)
        for file in commit.files:
            if not file.rejects:
                yield _table_file(commit, file, None if file.encoding["format"] == "parquet" else schema)


def table_files(commits: Iterable[CommitRecord], compactions: Sequence[Compaction]) -> Iterator[TableFile]:
    """Yield the files with a table's rows: those of compactions first, then those that no compaction replaced.

    Args:
        commits: the live commits.
        compactions: the compactions. Read them before the commits, so that the commits name all replaced files.
    """
    replaced = {path for one in compactions for path in one.replaced}
    for one in compactions:
        for file in one.files:
            if file.path not in replaced:
                yield TableFile(file.path, file.size_bytes, file.rows, file.crc32, file.encoding, one.key, 1, None)
    yield from (file for file in data_files(commits) if file.path not in replaced)


def rejects_files(commits: Iterable[CommitRecord]) -> Iterator[TableFile]:
    """Yield the files of rejected records, commit by commit."""
    for commit in commits:
        for file in commit.files:
            if file.rejects:
                yield _table_file(commit, file, None)


def packs(files: Iterable[TableFile], pack_bytes: int) -> Iterator[Sequence[TableFile]]:
    """Yield groups of neighbouring files with at most `pack_bytes` together; a larger file comes alone."""
    pack: list[TableFile] = []
    held_bytes = 0
    for file in files:
        if pack and held_bytes + file.size_bytes > pack_bytes:
            yield pack
            pack, held_bytes = [], 0
        pack.append(file)
        held_bytes += file.size_bytes
    if pack:
        yield pack


def _table_file(commit: CommitRecord, file: FileEntry, schema: bytes | None) -> TableFile:
    return TableFile(
        file.path, file.size_bytes, file.rows, file.crc32, file.encoding, commit.key, commit.generation, schema
    )
