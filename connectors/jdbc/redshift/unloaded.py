"""Files that Redshift has unloaded, as a batch source: each task reads some files as chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import parquet

from gluepot.connectors.jdbc.redshift.columns import Column, arrow_schema, typed
from gluepot.core.errors import PermanentError
from gluepot.core.storage import open_storage
from gluepot.frames.chunk import Chunk

_ROWS_AT_ONCE = 32_768


@dataclass(frozen=True, slots=True)
class UnloadedFile:
    """A file, which one task reads.

    Args:
        key: its key below the temporary folder.
        size_bytes: its length.
    """

    key: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class UnloadedSource:
    """Reads unloaded files as Arrow.

    Args:
        temp_dir: URL of the temporary folder.
        columns: the columns of all files, in order.
    """

    temp_dir: str
    columns: tuple[Column, ...]

    @property
    def guarantee(self) -> str:
        """The delivery guarantee."""
        return "Every planned row is read, as it was when the read was planned."

    @property
    def schema(self) -> pa.Schema:
        """Columns of every chunk."""
        return arrow_schema(self.columns)

    def read(self, split: UnloadedFile) -> Iterator[Chunk]:
        """Yield the rows of a file.

        Raises:
            PermanentError: the file is gone or damaged, or a value does not fit its type.
            TransientError: S3 cannot be reached.
        """
        schema = self.schema
        try:
            content = open_storage(self.temp_dir).reader(split.key)
            for batch in parquet.ParquetFile(content, coerce_int96_timestamp_unit="us").iter_batches(_ROWS_AT_ONCE):
                yield Chunk(typed(batch, self.columns, schema))
        except FileNotFoundError as error:
            raise PermanentError(
                f"{split.key}, which Redshift has unloaded, is not in {self.temp_dir} any more; run the job again, and"
                " keep files there for as long as a job runs."
            ) from error
        except pa.ArrowInvalid as error:
            raise PermanentError(
                f"{split.key} in {self.temp_dir} cannot be read ({error}); run the job again."
            ) from error
