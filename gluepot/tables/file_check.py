"""Compares one file of a table with its entry in the manifest."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import pyarrow as pa

from gluepot.connectors.registry import READERS
from gluepot.core.storage import Storage
from gluepot.tables.files import TableFile
from gluepot.tables.findings import Finding, words
from gluepot.tables.reading import BROKEN_FILE, was_replaced

_BLOCK_BYTES = 1 << 20


def file_findings(table: Storage, storage: Storage, file: TableFile) -> Iterator[Finding]:
    """Read a whole file and yield what differs from its manifest: its size, its CRC or its number of rows.

    A file that is gone because it was replaced meanwhile yields nothing.

    Args:
        table: the folder with the manifests.
        storage: the folder that the file's path is relative to.
        file: the file as its manifest describes it.
    """
    try:
        with storage.reader(file.path) as opened:
            size_bytes, crc32 = 0, 0
            while block := opened.read(_BLOCK_BYTES):
                size_bytes += len(block)
                crc32 = zlib.crc32(block, crc32)
    except FileNotFoundError:
        if not was_replaced(table, file):
            yield Finding("missing", file.path, f"{file.path} is gone; {words(file.key)} put {file.rows} records there")
        return
    if size_bytes != file.size_bytes:
        yield Finding("size", file.path, f"{file.path} has {size_bytes} bytes and was published with {file.size_bytes}")
    elif crc32 != file.crc32:
        yield Finding("checksum", file.path, f"{file.path} has CRC {crc32:08x} and was published with {file.crc32:08x}")
    else:
        yield from _row_findings(storage, file)


def _row_findings(storage: Storage, file: TableFile) -> Iterator[Finding]:
    schema = pa.schema([]) if file.schema is None else pa.ipc.read_schema(pa.py_buffer(file.schema))
    try:
        with storage.reader(file.path) as opened:
            read = READERS[file.encoding["format"]]
            rows = sum(batch.num_rows for batch in read(opened, file.encoding, schema, ()))
    except BROKEN_FILE as error:
        yield Finding("unreadable", file.path, f"{file.path} is as it was published and cannot be read: {error}")
    else:
        if rows != file.rows:
            yield Finding("rows", file.path, f"{file.path} holds {rows} records, its manifest says {file.rows}")
