"""Reading ORC: columns with types of their own, stripe by stripe."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from pyarrow import orc
from pyarrow.dataset import OrcFileFormat

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.arrow_types import glue_types
from gluepot.connectors.files.formats.bounds import gathered
from gluepot.connectors.files.formats.columnar import BATCH_ROWS, present, refuse_twins, unreadable
from gluepot.core.errors import PermanentError
from gluepot.frames.cast.calendar import timestamp_text
from gluepot.frames.chunk import Chunk
from gluepot.frames.sizes import memory_bytes

# A stripe may hold one long text in every row, and does not say so. Reading few rows at a time costs processor time and
# bounds the memory. Arrow and the library below it hold several of these pieces at once.
_ORC_ROWS = 128
_ORC_COPIES = 8

_SECONDS_AND_NANOS = re.compile(r"\((-?\d+)s \+ (-?\d+)ns\)")


@dataclass(frozen=True, slots=True)
class OrcInputFormat:
    """Settings of the reader.

    Args:
        columns: the only ones to read, in lower case, those that a file has of them; None for all.
    """

    columns: frozenset[str] | None = None

    @property
    def needs_seek(self) -> bool:
        """The footer says where everything is."""
        return True

    def only(self, columns: frozenset[str]) -> OrcInputFormat:
        """See `ColumnarInputFormat`."""
        return replace(self, columns=columns)

    @property
    def splits(self) -> bool:
        """Stripes are read one after the other."""
        return False

    def reader(self) -> OrcInputFormat:
        """Return itself: nothing is kept from file to file."""
        return self

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order.

        Raises:
            PermanentError: the file is broken, or a column that is read has a union or a timestamp out of range.
        """
        fields: list[pa.Field] = []
        try:
            schema = orc.ORCFile(pa.PythonFile(file.plain, "r")).schema
            refuse_twins(schema.names, file, "ORC")
            columns = present(schema.names, self.columns)
            fields = [field for field in schema if columns is None or field.name in columns]
            refuse_unions(fields, file.place)
            for some in gathered(
                ((batch, _ORC_COPIES * memory_bytes(batch)) for batch in _batches(file, columns)),
                BATCH_ROWS // _ORC_ROWS,
            ):
                yield Chunk(glue_types(some[0] if len(some) == 1 else pa.concat_batches(some)))
        except (pa.ArrowException, OSError) as error:
            # Arrow's own refusal of a value is `ArrowInvalid`; a file that cannot be decoded is an `OSError`.
            if isinstance(error, pa.ArrowInvalid) and (refused := _out_of_range(file, fields)):
                raise refused from error
            raise unreadable(file, "ORC", b"ORC", error) from error


def refuse_unions(fields: Sequence[pa.Field], place: str) -> None:
    """Raise a `PermanentError` if a column holds a union, at any depth. Spark does not read such files either."""
    for field in fields:
        if _holds(field.type, pa.types.is_union):
            raise PermanentError(
                f"The ORC file {place} cannot be read, because its column '{field.name}' holds a union, for which Glue"
                " and Spark have no type; write the column as a struct or a string, or leave the file out with"
                " exclusions"
            )


def _batches(file: OpenFile, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    fragment = OrcFileFormat().make_fragment(pa.PythonFile(file.plain, "r"))
    yield from fragment.to_batches(columns=columns, batch_size=_ORC_ROWS, use_threads=False)


def _out_of_range(file: OpenFile, fields: Sequence[pa.Field]) -> PermanentError | None:
    """Return the error of the first column with a timestamp that nanoseconds of 64 bits cannot hold; None if none has.

    ORC has timestamps of any year, and Arrow reads all of them as nanoseconds.
    """
    for field in fields:
        if not _holds(field.type, pa.types.is_timestamp):
            continue
        try:
            for _ in _batches(file, [field.name]):
                pass
        except pa.ArrowInvalid as error:
            return PermanentError(
                f"The ORC file {file.place} cannot be read, because its column '{field.name}' holds {_value(error)},"
                " and the ORC reader holds only the years 1678 to 2261; read the file with spark.read.orc and"
                " DynamicFrame.fromDF, or write the column as a string or the file as Parquet"
            )
    return None


def _value(error: pa.ArrowInvalid) -> str:
    """Return the timestamp that Arrow's message names."""
    named = _SECONDS_AND_NANOS.search(str(error))
    if named is None:
        return f"a timestamp out of range ({error})"
    seconds, nanos = map(int, named.groups())
    return f"the timestamp {timestamp_text(seconds * 1_000_000 + nanos // 1000)}"


def _holds(kind: pa.DataType, is_wanted: Callable[[pa.DataType], bool]) -> bool:
    return is_wanted(kind) or any(_holds(kind.field(number).type, is_wanted) for number in range(kind.num_fields))
