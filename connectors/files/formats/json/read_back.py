"""Files of JSON lines back to rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Any, BinaryIO

import orjson
import pyarrow as pa

from gluepot.connectors.files.formats.json.parse import holds_decimals, parsed, stored_field
from gluepot.connectors.files.formats.text_file import Compression, decompressed
from gluepot.frames.columns import Column, batch_of

_BATCH_ROWS = 1 << 14


def read_json(
    file: BinaryIO, encoding: Mapping[str, Any], schema: pa.Schema, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Do what `gluepot.connectors.files.contracts.RowReader` says; choices are text."""
    fields = [schema.field(name) for name in columns if name in schema.names]
    # orjson is several times as fast and reads every number with a point as a double.
    exact = any(holds_decimals(field.type) for field in fields)
    parse = partial(json.loads, parse_float=Decimal) if exact else orjson.loads
    with decompressed(file, Compression(encoding["compression"])) as lines:
        while rows := [parse(line) for line in islice(lines, _BATCH_ROWS)]:
            yield batch_of(
                [Column(stored_field(field), parsed([row.get(field.name) for row in rows], field)) for field in fields],
                len(rows),
            )
