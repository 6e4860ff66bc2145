"""Compares one file of a table with its entry in the manifest."""

from __future__ import annotations

import zlib

import pyarrow as pa

from gluepot.connectors.registry import READERS
from gluepot.core.storage import Storage
from gluepot.tables.files import TableFile
from gluepot.tables.findings import Finding, words
from gluepot.tables.reading import BROKEN_FILE, was_replaced

_BLOCK_BYTES = 1 << 20


def file_finding(table: Storage, storage: Storage, file: TableFile) -> Finding | None:
    """Read a whole file and return what differs from its manifest: its size, its CRC or its number of rows.

    A file that is gone because it was replaced meanwhile is no finding.

    Args:
        table: the folder with the manifests.
        storage: the folder that the file's path is relative to.
        file: the file as its manifest describes it.
    """
    try:
        return _compared(storage, file)
    except FileNotFoundError:
        if was_replaced(table, file):
            return None
        return Finding("missing", file.path, f"{file.path} is gone; {words(file.key)} put {file.rows} records there")


def _compared(storage: Storage, file: TableFile) -> Finding | None:
    with storage.reader(file.path) as opened:
        size_bytes, crc32 = 0, 0
        while block := opened.read(_BLOCK_BYTES):
            size_bytes += len(block)
            crc32 = zlib.crc32(block, crc32)
    where = file.path
    if size_bytes != file.size_bytes:
        return Finding("size", where, f"{where} has {size_bytes} bytes and was published with {file.size_bytes}")
    if crc32 != file.crc32:
        return Finding("checksum", where, f"{where} has CRC {crc32:08x} and was published with {file.crc32:08x}")
    schema = pa.schema([]) if file.schema is None else pa.ipc.read_schema(pa.py_buffer(file.schema))
    try:
        with storage.reader(file.path) as opened:
            read = READERS[file.encoding["format"]]
            rows = sum(batch.num_rows for batch in read(opened, file.encoding, schema, ()))
    except FileNotFoundError:
        raise
    except BROKEN_FILE as error:
        return Finding("unreadable", where, f"{where} is as it was published and cannot be read: {error}")
    if rows != file.rows:
        return Finding("rows", where, f"{where} holds {rows} records, its manifest says {file.rows}")
    return None
