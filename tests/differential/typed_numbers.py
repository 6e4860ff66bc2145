"""Numbers in files of Parquet and Avro that disagree about their type, for the kind `numbers`."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.avro import AvroInputFormat
from gluepot.connectors.files.formats.parquet.read import ParquetInputFormat
from gluepot.frames.chunk import Chunk
from gluepot.frames.columns import columns_of
from gluepot.frames.rows import plain_values
from gluepot.frames.schema import align, merge_schemas, observed, unmarked
from gluepot.frames.transforms.resolve_choice import ResolveChoice
from tests.unit.files.sink.drifting import Table

EDGES = [2**53, 2**53 + 1, 2**53 + 2, 2**60, 2**63 - 1, 2**63 - 1024, 1580661436132757507]


@dataclass(frozen=True, slots=True)
class Check:
    """What one way made of one column."""

    way: str
    case: str
    ours: Any
    expected: str
    is_right: bool


def names_of(field: pa.Field) -> list[str]:
    inner = field
    if field.metadata is None and pa.types.is_struct(field.type):
        inner = field.type.field("n")
    elif pa.types.is_list(field.type):
        inner = field.type.value_field
    if pa.types.is_struct(inner.type):
        return [one.name for one in inner.type]
    return [{"int64": "long", "decimal128(38, 0)": "decimal"}.get(str(inner.type), str(inner.type))]


_TYPES = {
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "uint64": pa.uint64(),
    "decimal(20,0)": pa.decimal128(20, 0),
    "decimal(38,2)": pa.decimal128(38, 2),
    "decimal(38,30)": pa.decimal128(38, 30),
    "string": pa.string(),
}


def _typed_value(random: Random, kind: str) -> Any:
    match kind:
        case "int":
            return random.choice([0, 5, -(2**31), 2**31 - 1])
        case "long":
            return random.choice([5, -5, *EDGES]) if random.random() < 0.5 else random.randint(-99, 99)
        case "float":
            return random.choice([0.5, 16777216.0, 5.0])
        case "double":
            return random.choice([0.5, 5.0, 1e300, 9007199254740992.0])
        case "uint64":
            return random.choice([5, 2**64 - 1, 2**63])
        case "string":
            return random.choice(["x", "12"])
        case _:
            scale = int(kind.partition(",")[2].rstrip(")"))
            return Decimal(random.randint(-(10**8), 10**8)).scaleb(-scale)


def typed_case(random: Random, folder: Path) -> Iterator[Check]:
    """Read files of Parquet or Avro that disagree about a type, each value against what was written."""
    is_avro = random.random() < 0.4
    usable = ["int", "long", "float", "double", "string"] if is_avro else list(_TYPES)
    kinds = random.choices(random.sample(usable, k=2), k=random.randint(1, 4))
    files = [[None if random.random() < 0.2 else _typed_value(random, kind) for _ in range(3)] for kind in kinds]
    chunks: list[list[Chunk]] = []
    for kind, values in zip(kinds, files, strict=True):
        if is_avro:
            chunks.append(_read_avro(random, kind, values))
        else:
            chunks.append(_read_parquet(pa.table({"v": pa.array(values, _TYPES[kind])})))
    case = f"{'avro' if is_avro else 'parquet'} {list(zip(kinds, files, strict=True))}"
    schema = unmarked(
        reduce(merge_schemas, (observed(chunk.batch) for some in chunks for chunk in some), pa.schema([]))
    )
    aligned = pa.concat_batches([align(chunk.batch, schema) for some in chunks for chunk in some])
    got = plain_values(columns_of(aligned)[0])
    flat = [value for values in files for value in values]
    right = len(got) == len(flat) and all(map(_equal, got, flat))
    yield Check("rows", case, got, str(flat), right)
    has_inexact = any(kind == "long" and any(v is not None and abs(v) > 2**53 for v in values)
                      for kind, values in zip(kinds, files, strict=True))  # fmt: skip
    if set(kinds) == {"long", "double"}:
        names = names_of(schema.field("v"))
        expected = ["long", "double"] if has_inexact else ["double"]
        yield Check("type", case, names, str(expected), names == expected)
    casts = ResolveChoice([("v", "cast:string")]).bound(None)
    texts = [text for some in chunks for chunk in some for text in casts(chunk).batch.column(0).to_pylist()]
    yield Check("cast:string", case, texts, str(flat), all(map(_equal_text, texts, flat)))
    table = Table.of(folder / "table")
    tasks = [
        pa.record_batch([pa.array(range(first, first + 3)), chunk.batch.column(0)],
                        schema=pa.schema([pa.field("id", pa.int64()), chunk.batch.schema.field(0)]))
        for first, some in zip(range(0, 99, 3), chunks, strict=False) for chunk in some
    ]  # fmt: skip
    table.write(*tasks)
    # With pyarrow: DuckDB reads decimals of more than 38 digits as doubles.
    rows = [row for file in table.files for row in pq.read_table(file).to_pylist()]
    written = {row.pop("id"): [value for value in row.values() if value is not None] for row in rows}
    there = [written.get(at, [])[:1] for at in range(len(flat))]
    values = [one[0] if one else None for one in there]
    yield Check("table", case, values, str(flat), all(map(_equal_text, values, flat)))


def _equal(got: Any, value: Any) -> bool:
    if got is None or value is None:
        return got is value
    return got == value if isinstance(value, str) else not isinstance(got, str) and Decimal(got) == Decimal(value)


def _equal_text(got: Any, value: Any) -> bool:
    if got is None or value is None or isinstance(value, str):
        return bool(got == value)
    return float(got) == value if isinstance(value, float) else Decimal(got) == value


def _read_parquet(table: pa.Table) -> list[Chunk]:
    file = io.BytesIO()
    pq.write_table(table, file)
    file.seek(0)
    return list(ParquetInputFormat().reader().read(OpenFile(file, "file", "")))


def _read_avro(random: Random, kind: str, values: Sequence[Any]) -> list[Chunk]:
    union = ["null", kind] if random.random() < 0.5 else ["null", *dict.fromkeys([kind, "double"])]
    schema = {"type": "record", "name": "r", "fields": [{"name": "v", "type": union}]}
    file = io.BytesIO()
    fastavro.writer(file, schema, [{"v": None if value is None else (kind, value)} for value in values])
    file.seek(0)
    return list(AvroInputFormat().reader().read(OpenFile(file, "file", "")))
