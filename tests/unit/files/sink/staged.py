"""Writing chunks through a sink and reading the staged files back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from gluepot.connectors.files.sink import FileSink
from gluepot.connectors.ports import CommitKey, ManifestPart, StagedFile
from gluepot.frames.chunk import Chunk
from tests.duck import duck

KEY = CommitKey("query-1", 7, "sink0")


def write(sink: FileSink, *batches: pa.RecordBatch | Sequence[dict[str, Any]], task: int = 0) -> ManifestPart:
    """Stage one chunk per argument."""
    chunks = (
        Chunk(batch if isinstance(batch, pa.RecordBatch) else pa.RecordBatch.from_pylist(batch)) for batch in batches
    )
    return sink.write(chunks, task, "attempt/0")


def data_files(part: ManifestPart) -> dict[str, StagedFile]:
    """Return the data files by the folder they go to."""
    return {file.final.rpartition("/")[0]: file for file in part.files if not file.rejects}


def path(sink: FileSink, file: StagedFile) -> Path:
    """Return where a staged file is."""
    return Path(sink.rejects_root if file.rejects else sink.root) / file.staged


def parquet_rows(sink: FileSink, *files: StagedFile) -> list[dict[str, Any]]:
    """Read staged Parquet files with a reader that is not pyarrow."""
    names = [str(path(sink, file)) for file in files]
    found = duck().execute("SELECT * FROM read_parquet(?, union_by_name = true)", [names])
    columns = [column[0] for column in found.description]
    return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]
