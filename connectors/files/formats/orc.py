"""Reading ORC: columns with types of their own, stripe by stripe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
from pyarrow import orc
from pyarrow.dataset import OrcFileFormat

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.arrow_types import glue_types
from gluepot.connectors.files.formats.bounds import gathered
from gluepot.connectors.files.formats.columnar import BATCH_ROWS, present, unreadable
from gluepot.frames.chunk import Chunk
from gluepot.frames.sizes import memory_bytes

# A stripe may hold one long text in every row, and does not say so. Reading few rows at a time costs processor time and
# bounds the memory. Arrow and the library below it hold several of these pieces at once.
_ORC_ROWS = 128
_ORC_COPIES = 8


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
        """Yield the records in order."""
        try:
            found = orc.ORCFile(pa.PythonFile(file.plain, "r"))
            columns = present(found.schema.names, self.columns)
            fragment = OrcFileFormat().make_fragment(pa.PythonFile(file.plain, "r"))
            few = fragment.to_batches(columns=columns, batch_size=_ORC_ROWS, use_threads=False)
            for some in gathered(
                ((batch, _ORC_COPIES * memory_bytes(batch)) for batch in few), BATCH_ROWS // _ORC_ROWS
            ):
                yield Chunk(glue_types(some[0] if len(some) == 1 else pa.concat_batches(some)))
        except (pa.ArrowException, OSError) as error:
            raise unreadable(file, "ORC", b"ORC", error) from error
