"""CSV files back to rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO

import orjson
import pyarrow as pa
import pyarrow.csv as pc

from gluepot.connectors.files.formats.csv.dialect import convert_options, escaped_cell, unescaped
from gluepot.connectors.files.formats.csv.lines import WholeBreaks
from gluepot.connectors.files.formats.json.parse import parsed, stored_field
from gluepot.connectors.files.formats.text_file import Compression, decompressed
from gluepot.connectors.files.sink.typed import typed
from gluepot.frames.columns import Column, batch_of

_BATCH_ROWS = 1 << 14
# pyarrow gives up on a line that is longer than two blocks.
_BLOCK_BYTES = 64 << 20


def read_csv(
    file: BinaryIO, encoding: Mapping[str, Any], schema: pa.Schema, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Do what `gluepot.connectors.files.contracts.RowReader` says; choices are text.

    In a file of one column a null cannot be told from an empty string; it is taken for the latter.
    """
    names = encoding["columns"]
    wanted = [name for name in columns if name in names]
    with decompressed(file, Compression(encoding["compression"])) as text:
        batches = _unquoted(text, encoding) if encoding["quote"] is None else _quoted(text, encoding)
        for batch in batches:
            read = [_column(batch.column(names.index(name)), schema.field(name)) for name in wanted]
            yield batch_of(read, batch.num_rows)


def _column(cells: pa.StringArray, field: pa.Field) -> Column:
    stored = stored_field(field)
    if pa.types.is_string(stored.type):
        return Column(stored, cells)
    texts = [text or None for text in cells.to_pylist()]
    if pa.types.is_nested(stored.type):
        return Column(stored, parsed([None if text is None else orjson.loads(text) for text in texts], field))
    if pa.types.is_binary(stored.type):
        return Column(stored, parsed(texts, field))
    return Column(stored, typed(pa.array(texts, pa.string()), stored.type))


def _quoted(text: BinaryIO, encoding: Mapping[str, Any]) -> Iterator[pa.RecordBatch]:
    names = encoding["columns"]
    yield from pc.open_csv(
        pa.PythonFile(WholeBreaks(text), "r"),
        pc.ReadOptions(column_names=None if encoding["header"] else names, block_size=_BLOCK_BYTES),
        pc.ParseOptions(
            delimiter=encoding["separator"],
            quote_char=encoding["quote"],
            newlines_in_values=True,
            ignore_empty_lines=False,
        ),
        convert_options(names, pa.string()),
    )


def _unquoted(text: BinaryIO, encoding: Mapping[str, Any]) -> Iterator[pa.RecordBatch]:
    """Read lines in which a backslash escapes separators and line breaks; an empty cell is null."""
    names, cell = encoding["columns"], escaped_cell(encoding["separator"])
    lines = islice(text, 1 if encoding["header"] else 0, None)
    while rows := [cell.findall(line.decode().removesuffix("\n"))[: len(names)] for line in islice(lines, _BATCH_ROWS)]:
        cells = zip(*rows, strict=True)
        yield pa.RecordBatch.from_arrays([pa.array(map(unescaped, column), pa.string()) for column in cells], names)
