"""Files as a batch source: in the task, a group of files to chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.connectors.files.compression import compression_of, decompressed
from gluepot.connectors.files.contracts import ChunkReader, ColumnarInputFormat, InputFormat, OpenFile
from gluepot.connectors.files.source.grouping import FileGroup
from gluepot.connectors.files.source.hive import partition_values
from gluepot.connectors.files.source.versions import FileVersion
from gluepot.connectors.files.text_encoding import as_utf8
from gluepot.core.errors import PermanentError, TransientError
from gluepot.core.logging import configure_once, get_logger
from gluepot.core.storage import Entry, VersionGone, open_source
from gluepot.frames.chunk import Chunk

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FilesSource:
    """Reads exactly the versions of files that were planned.

    Args:
        format: of all files.
        compression: forced by the script; None: as the names say.
        fail_fast: a record that cannot be read ends the job.
        attach_filename: name of a column to add with the file's URL.
        attach_timestamp: name of a column to add with the file's time.
        encoding: of text files; None for UTF-8. Positions of records are those of the text as UTF-8.
        has_bookmark: the next run reads what this one finds deleted or overwritten; without, that ends the job.
    """

    format: InputFormat
    compression: str | None = None
    fail_fast: bool = False
    attach_filename: str | None = None
    attach_timestamp: str | None = None
    encoding: str | None = None
    has_bookmark: bool = False

    @property
    def guarantee(self) -> str:
        """What a reader may rely on."""
        return (
            "Every version of a file is read once, unless it is gone before its turn: then the next run has the newer,"
            " or the job fails if it has no bookmark."
        )

    @property
    def finds_records_by(self) -> str:
        """The option by which records are found in a file that has other text, too; empty if all text is records."""
        return str(getattr(self.format, "finds_records_by", ""))

    def only(self, columns: frozenset[str]) -> FilesSource:
        """See `ColumnarSource`; formats that are read from start to end give all columns."""
        form = self.format
        return replace(self, format=form.only(columns)) if isinstance(form, ColumnarInputFormat) else self

    def read(self, split: FileGroup) -> Iterator[Chunk]:
        """Yield the records of a group.

        Raises:
            PermanentError: a file is damaged, or with `isFailFast` a record.
            TransientError: the storage was away; or a file is not as it was listed, and no bookmark remembers that.
        """
        reader = self.format.reader()
        for file in split.files:
            try:
                yield from self._of_file(reader, file, split.piece)
            except VersionGone as gone:
                if not self.has_bookmark:
                    raise TransientError(f"{gone}, so its rows would be missing; run the job again") from gone
                configure_once()
                log.warning(
                    "file_gone", file=file.url, reason=str(gone), hint="a newer version is read by the next run"
                )

    def splits(self, file: FileVersion) -> bool:
        """Tell whether a file can be read in pieces."""
        plain = self.format.needs_seek or compression_of(file.name, self.compression) == "none"
        return self.format.splits and plain and self.encoding is None

    def _of_file(self, reader: ChunkReader, file: FileVersion, piece: tuple[int, int] | None) -> Iterator[Chunk]:
        entry = Entry(file.inside, file.name, file.size_bytes, file.mtime_us, file.etag)
        raw = open_source(file.root).open(entry)
        with raw:
            compression = "none" if self.format.needs_seek else compression_of(file.name, self.compression)
            plain = decompressed(raw, compression, file.size_bytes, file.url)
            if self.encoding is not None:
                plain = as_utf8(plain, self.encoding, file.url)
            added = list(self._added_columns(file))
            opened = OpenFile(plain, file.url, file.partition, piece, is_unpacked=compression != "none")
            is_told = False
            for chunk in reader.read(opened):
                if not is_told and (hidden := _hidden(chunk.batch, added)):
                    is_told = True
                    configure_once()
                    hint = "the column of the folder or of attachFilename takes the place of the file's own"
                    log.warning("columns_hidden", file=file.url, columns=hidden, hint=hint)
                if self.fail_fast and chunk.errors:
                    first = chunk.errors[0]
                    raise PermanentError(
                        f"{file.url}, byte {first.at.position}: {first.message} The job fails because of isFailFast;"
                        " correct the file or remove isFailFast"
                    )
                yield replace(chunk, batch=_with_columns(chunk.batch, added))

    def _added_columns(self, file: FileVersion) -> Iterator[tuple[str, pa.Scalar]]:
        for name, value in partition_values(file.partition):
            yield name, pa.scalar(value, pa.string())
        if self.attach_filename:
            yield self.attach_filename, pa.scalar(file.url, pa.string())
        if self.attach_timestamp:
            yield self.attach_timestamp, pa.scalar(file.mtime_us, pa.timestamp("us", "UTC"))


def _hidden(batch: pa.RecordBatch, added: list[tuple[str, Any]]) -> list[str]:
    """Return the columns that give way to others of their names and have other values."""
    columns = [(name, batch.column(name), value) for name, value in added if name in batch.schema.names]
    return [name for name, column, value in columns if not _holds_only(column, value)]


def _holds_only(column: pa.Array, value: pa.Scalar) -> bool:
    try:
        return not pc.any(pc.not_equal(pc.cast(column, value.type), value)).as_py()
    except pa.ArrowException:
        return False


def _with_columns(batch: pa.RecordBatch, added: list[tuple[str, Any]]) -> pa.RecordBatch:
    """Append columns of one value; one that the file has already gives way, as in Spark."""
    if not added:
        return batch
    names = {name for name, _ in added}
    if names.intersection(batch.schema.names):
        batch = batch.select([name for name in batch.schema.names if name not in names])
    fields = [*batch.schema, *(pa.field(name, value.type) for name, value in added)]
    columns = [*batch.columns, *(pa.repeat(value, batch.num_rows) for _, value in added)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
