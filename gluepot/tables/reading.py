"""Reads rows from a table's files."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import BinaryIO

import pyarrow as pa

from gluepot.commit.compaction import compactions
from gluepot.connectors.files.sink.layout import commit_key
from gluepot.connectors.registry import READERS
from gluepot.core.errors import PermanentError, TransientError
from gluepot.core.storage import Storage
from gluepot.tables.columns import TableColumn, in_columns
from gluepot.tables.files import TableFile, packs

# The errors that the libraries below raise for a damaged or foreign file. The first two include pyarrow's own errors.
BROKEN_FILE = (ValueError, OSError, EOFError, zlib.error)

# Small files are read several at a time, since each costs a round trip or two on an object store.
PARALLEL_READS = 8
_PACK_BYTES = 8 << 20


def read_files(
    storage: Storage, files: Sequence[TableFile], columns: Sequence[TableColumn]
) -> Iterator[pa.RecordBatch]:
    """Return the rows of files, in order, in exactly the given columns; each file is read when its rows are needed.

    Raises:
        TransientError: a file was replaced or purged since its manifest was read; open the table again.
        PermanentError: a file is gone or damaged.
    """
    return side_by_side(files, lambda file: read_file(storage, file, columns))


def side_by_side(
    files: Sequence[TableFile], read: Callable[[TableFile], Iterator[pa.RecordBatch]]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of files, in order; small neighbouring files are read in parallel.

    Args:
        files: the files.
        read: yields the rows of one file.
    """
    with ThreadPoolExecutor(PARALLEL_READS) as pool:
        for pack in packs(files, _PACK_BYTES):
            if len(pack) == 1:
                yield from read(pack[0])
            else:
                for batches in pool.map(lambda file: list(read(file)), pack):
                    yield from batches


def read_file(storage: Storage, file: TableFile, columns: Sequence[TableColumn]) -> Iterator[pa.RecordBatch]:
    """Yield one file's rows; see `read_files`."""
    read = READERS[file.encoding["format"]]
    partition = file.partition
    schema = pa.schema([]) if file.schema is None else pa.ipc.read_schema(pa.py_buffer(file.schema))
    names = [column.source.name for column in columns if column.source.name not in partition]
    with opened_file(storage, file) as opened:
        for batch in read(opened, file.encoding, schema, names):
            yield in_columns(batch, partition, columns, file.instants)


@contextmanager
def opened_file(storage: Storage, file: TableFile) -> Iterator[BinaryIO]:
    """Open a data file that is read while this is open.

    Raises:
        TransientError: it was replaced, compacted or purged since the table was opened.
        PermanentError: it is gone, although a manifest names it, or it is damaged.
    """
    try:
        with storage.reader(file.path) as opened:
            yield opened
    except FileNotFoundError as error:
        raise _gone(storage, file) from error
    except BROKEN_FILE as error:
        raise PermanentError(
            f"{storage.url}/{file.path} cannot be read ({error}); `gluepot table verify` tells what else is damaged"
        ) from error


def was_replaced(storage: Storage, file: TableFile) -> bool:
    """Tell whether the write that published a file has a later generation now, or the file was compacted or purged."""
    try:
        storage.get(commit_key(file.key, file.generation + 1))
    except FileNotFoundError:
        return any(file.path in one.replaced for one in compactions(storage))
    return True


def _gone(storage: Storage, file: TableFile) -> TransientError | PermanentError:
    where = f"{storage.url}/{file.path}"
    if was_replaced(storage, file):
        return TransientError(f"{where} was replaced or purged since the table was opened; open it again", wait_secs=0)
    return PermanentError(
        f"{where} is gone, although the manifest of batch {file.key.batch_id} names it; restore it, or run "
        "`gluepot table verify` to see what else is missing"
    )
