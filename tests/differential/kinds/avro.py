"""Avro files: our reader, which uses fastavro, beside the values that were written with the library `avro`.

Each file is written twice: once with logical types, for our reader, and once without, for the reader of `avro`, which
must return the stored values. What our reader makes of a stored value is said by docs/glue 5.2 and spark-avro.
"""

from __future__ import annotations

import bz2
import io
import json
import lzma
import math
import struct
import zlib
from dataclasses import dataclass, field
from decimal import Context, Decimal
from random import Random
from typing import Any

import avro.io
import avro.schema
import pyarrow as pa
from avro.datafile import DataFileReader

from gluepot.core.errors import PermanentError
from tests.differential.kind import Difference, Round, World
from tests.differential.plain_rows import entries_of, plain_rows, record
from tests.unit.files.reading import chunks

FILES = 50
EXPLAINED = "Where reading files differs from Glue's"
SYNC = bytes(range(16))
WORDS = ("", "a", "é", "漢字", "NULL", "0", "x" * 70, "\u0000", "a\nb")
LONGS = (0, 1, -1, 63, 64, -65, 2**31 - 1, -(2**31), 2**53 + 1, 2**62, -(2**62), 2**63 - 1, -(2**63))
DOUBLES = (0.0, -0.0, 1.5, -1e300, 1e-300, math.inf, -math.inf, 16777217.0, 0.1)
LOGIC = {
    "int": ("date", "time-millis", "timestamp-millis", "unknown"),
    "long": (
        "timestamp-millis",
        "timestamp-micros",
        "timestamp-nanos",
        "local-timestamp-millis",
        "local-timestamp-micros",
        "local-timestamp-nanos",
        "time-micros",
        "date",
    ),
    "string": ("uuid", "decimal"),
    "bytes": ("decimal", "big-decimal", "uuid"),
}
MEANT = {
    None: {
        "date",
        "decimal",
        "timestamp-millis",
        "timestamp-micros",
        "local-timestamp-millis",
        "local-timestamp-micros",
    },
    "1.8": {"date", "decimal", "timestamp-millis"},
    "1.7": set(),
}


class Kind:
    """See `tests.differential.kind.Kind`."""

    name = "avro"
    unit = "files"

    def round(self, random: Random, world: World) -> Round:
        """Compare some files."""
        result = Round()
        folder = world.folder / "files"
        folder.mkdir()
        for _ in range(FILES):
            case = _Case.of(random)
            result.cases += 1
            stored = case.file(random, has_logic=False, codec="null")
            if case.read_by_library(stored) != [value.stored for value in case.values]:
                raise AssertionError(f"the library reads something else than was written: {case.schema}")
            data = case.file(random, has_logic=True, codec=random.choice(list(_CODECS)))
            is_cut = random.random() < 0.1
            if is_cut:
                data = data[: random.randrange(4, len(data) - 1)]
            (folder / "a.avro").write_bytes(data)
            ours = _ours(folder, case.version)
            result.taken += isinstance(ours, list)
            rows = [value.wanted for value in case.values]
            wanted = "refused" if is_cut or case.is_refused else rows
            explained = EXPLAINED if isinstance(ours, str) and "is a map in one" in ours else ""
            if is_cut and isinstance(ours, list) and _same(ours, rows[: len(ours)]) and len(data) in case.blocks:
                continue
            if not _same(ours, wanted):
                text = json.dumps(
                    {
                        "version": case.version,
                        "schema": case.schema,
                        "records": repr([value.stored for value in case.values]),
                    }
                )
                result.differences.append(Difference(text, repr(ours), repr(wanted), explained))
        return result


def _ours(folder: Any, version: str | None) -> Any:
    try:
        found = chunks(folder, "avro", **({} if version is None else {"version": version}))
    except PermanentError as error:
        if "Avro file" not in str(error) or "is not an Avro" in str(error):
            raise
        return str(error)
    return [row for chunk in found for row in plain_rows(chunk.batch)]


def _same(left: Any, right: Any) -> bool:
    """Compare values; a long in a column of doubles is equal to the nearest double."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[name], right[name]) for name in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, str) and "Avro file" in left:
        return bool(right == "refused")
    if isinstance(left, float) and isinstance(right, int | float):
        return left == float(right) or (math.isnan(left) and math.isnan(right))
    return type(left) is type(right) and bool(left == right)


def _branch(schema: Any) -> str:
    """Return what must be different among the branches of a union."""
    return schema if isinstance(schema, str) else schema.get("name") or schema["type"]


def _without_logic(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_logic(each) for each in schema]
    if isinstance(schema, dict):
        return {name: _without_logic(each) for name, each in schema.items() if name not in _LOGIC_KEYS}
    return schema


def _has_wide_decimal(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(_has_wide_decimal, schema))
    if not isinstance(schema, dict):
        return False
    precision = schema.get("precision", 0)
    is_decimal = schema.get("logicalType") == "decimal" and schema.get("scale", 0) <= precision
    is_wide = schema.get("type") == "bytes" and is_decimal and precision > 38
    return is_wide or any(map(_has_wide_decimal, schema.values()))


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def _snappy(data: bytes) -> bytes:
    return pa.compress(data, "snappy", asbytes=True) + zlib.crc32(data).to_bytes(4)


_LOGIC_KEYS = ("logicalType", "precision", "scale")
_CONTEXT = Context(prec=60)
_CODECS = {
    "null": bytes,
    "deflate": _raw_deflate,
    "bzip2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zstandard": lambda data: pa.compress(data, "zstd", asbytes=True),
    "snappy": _snappy,
}


@dataclass
class _Value:
    """A value as it is stored, its bytes, and what a column has of it."""

    stored: Any
    data: bytes
    wanted: Any


@dataclass
class _Case:
    """A schema with records; see the fields of `_Value`."""

    version: str | None
    schema: Any = None
    values: list[_Value] = field(default_factory=list)
    is_refused: bool = False
    named: dict[str, Any] = field(default_factory=dict)
    number: int = 0
    blocks: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, random: Random) -> _Case:
        case = cls(random.choice([None, None, "1.7", "1.8"]))
        case.schema = case._record_type(random, 0)
        if random.random() < 0.3:
            case.schema["namespace"] = "n.s"
        case.is_refused = case.version != "1.7" and _has_wide_decimal(case.schema)
        case.values = [case._value(random, case.schema) for _ in range(random.choice([0, 1, 2, 5, 20]))]
        return case

    def read_by_library(self, data: bytes) -> list[Any]:
        with DataFileReader(io.BytesIO(data), avro.io.DatumReader()) as reader:
            return list(reader)

    def file(self, random: Random, *, has_logic: bool, codec: str) -> bytes:
        text = json.dumps(self.schema if has_logic else _without_logic(self.schema))
        entries = {"avro.schema": text.encode(), "avro.codec": codec.encode(), "note": b"\xff"}
        out = io.BytesIO()
        encoder = avro.io.BinaryEncoder(out)
        out.write(b"Obj\x01")
        encoder.write_long(len(entries))
        for key, value in entries.items():
            encoder.write_utf8(key)
            encoder.write_bytes(value)
        encoder.write_long(0)
        out.write(SYNC)
        self.blocks = [out.tell()]
        left = list(self.values)
        while left:
            size = random.randint(1, len(left))
            packed = _CODECS[codec](b"".join(value.data for value in left[:size]))
            encoder.write_long(size)
            encoder.write_bytes(packed)
            out.write(SYNC)
            self.blocks.append(out.tell())
            left = left[size:]
        return out.getvalue()

    def _name(self, prefix: str) -> str:
        self.number += 1
        return f"{prefix}{self.number}"

    def _record_type(self, random: Random, depth: int) -> dict[str, Any]:
        count = random.choice([0, 1, 2, 3]) if depth else random.choice([1, 2, 4])
        name = self._name("R")
        fields = [{"name": f"f{number}", "type": self._type(random, depth + 1)} for number in range(count)]
        made = {"type": "record", "name": name, "fields": fields, "doc": "d", "aliases": [f"{name}x"]}
        self.named[name] = made
        return made

    def _type(self, random: Random, depth: int) -> Any:
        chance = random.random()
        if chance < 0.2 and depth < 4:
            return self._union(random, depth)
        if chance < 0.3 and depth < 4:
            return {"type": "array", "items": self._type(random, depth + 1)}
        if chance < 0.4 and depth < 4:
            return {"type": "map", "values": self._type(random, depth + 1)}
        if chance < 0.5 and depth < 4:
            return self._record_type(random, depth)
        if chance < 0.55 and self.named:
            return random.choice(list(self.named))
        if chance < 0.65:
            return self._fixed(random)
        if chance < 0.7:
            made = {"type": "enum", "name": self._name("E"), "symbols": ["A", "B", "C"]}
            self.named[made["name"]] = made
            return made
        return self._primitive(random)

    def _primitive(self, random: Random) -> Any:
        kind = random.choice(["null", "boolean", "int", "long", "float", "double", "bytes", "string"])
        if kind not in LOGIC or random.random() < 0.5:
            return kind if random.random() < 0.8 else {"type": kind}
        made: dict[str, Any] = {"type": kind, "logicalType": random.choice(LOGIC[kind])}
        if made["logicalType"] == "decimal":
            precision = random.choice([1, 5, 18, 38, 39] if random.random() < 0.9 else [0])
            made |= {"precision": precision, "scale": random.randint(0, precision)}
            if random.random() < 0.1:
                del made["scale"]
        return made

    def _fixed(self, random: Random) -> Any:
        size = random.choice([0, 1, 2, 8, 12, 16, 17])
        made: dict[str, Any] = {"type": "fixed", "name": self._name("F"), "size": size}
        logic = {12: "duration", 16: "uuid"}.get(size)
        if random.random() < 0.5:
            made |= {
                "logicalType": "decimal",
                "precision": random.choice([1, 4, 18, 19, 38]),
                "scale": random.choice([0, 1]),
            }
        elif logic:
            made["logicalType"] = logic
        self.named[made["name"]] = made
        return made

    def _union(self, random: Random, depth: int) -> Any:
        branches: list[Any] = []
        for _ in range(random.choice([1, 2, 3, 4])):
            named = dict(self.named)
            made = "null" if random.random() < 0.5 else self._type(random, depth + 1)
            if isinstance(made, list) or _branch(made) in map(_branch, branches):
                self.named = named  # what was made is not used, and neither are the types that it defines
            else:
                branches.append(made)
        return branches or ["null"]

    def _value(self, random: Random, schema: Any) -> _Value:
        out = io.BytesIO()
        stored, wanted = self._write(random, schema, avro.io.BinaryEncoder(out), in_union=False)
        return _Value(stored, out.getvalue(), wanted)

    def _write(self, random: Random, schema: Any, out: Any, *, in_union: bool) -> tuple[Any, Any]:
        """Write a random value; return it as it is stored, and what a column has of it."""
        if isinstance(schema, list):
            at = random.randrange(len(schema))
            out.write_long(at)
            several = sum(_branch(one) != "null" for one in schema) > 1
            return self._write(random, schema[at], out, in_union=several)
        if isinstance(schema, str) and schema in self.named:
            schema = self.named[schema]
        kind = schema if isinstance(schema, str) else schema["type"]
        match kind:
            case "record":
                pairs = {one["name"]: self._write(random, one["type"], out, in_union=False) for one in schema["fields"]}
                stored = {name: pair[0] for name, pair in pairs.items()}
                return stored, record({name: pair[1] for name, pair in pairs.items()})
            case "array":
                pairs = [self._write(random, schema["items"], out, in_union=False) for _ in self._items(random, out)]
                return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            case "map":
                entries = {}
                for number in self._items(random, out):
                    out.write_utf8(f"k{number}")
                    entries[f"k{number}"] = self._write(random, schema["values"], out, in_union=False)
                stored = {key: pair[0] for key, pair in entries.items()}
                return stored, entries_of({key: pair[1] for key, pair in entries.items()})
        return self._write_simple(random, kind, schema if isinstance(schema, dict) else {}, out, in_union=in_union)

    def _items(self, random: Random, out: Any) -> Any:
        """Yield the numbers of the items of an array or a map, and write their counts around them."""
        count = random.choice([0, 1, 3])
        if count:
            out.write_long(count)
            yield from range(count)
        out.write_long(0)

    def _write_simple(self, random: Random, kind: str, schema: Any, out: Any, *, in_union: bool) -> tuple[Any, Any]:
        match kind:
            case "null":
                return None, None
            case "boolean":
                value: Any = random.random() < 0.5
                out.write_boolean(value)
            case "int" | "long":
                value = self._integer(random, kind, schema, in_union=in_union)
                out.write_long(value)
                return value, self._of_integer(value, schema)
            case "float":
                value = struct.unpack("<f", struct.pack("<f", random.choice([0.0, -1.5, 0.1, math.inf, 3e38])))[0]
                out.write_float(value)
            case "double":
                value = random.choice(DOUBLES)
                out.write_double(value)
            case "string":
                value = random.choice(WORDS)
                out.write_utf8(value)
            case "enum":
                at = random.randrange(3)
                value = schema["symbols"][at]
                out.write_int(at)
            case _:
                return self._write_bytes(random, kind, schema, out)
        return value, value

    def _integer(self, random: Random, kind: str, schema: Any, *, in_union: bool) -> int:
        if schema.get("logicalType") in MEANT[None] and (in_union or schema.get("logicalType", "").endswith("millis")):
            return random.randint(-10_000, 10_000)  # Python's objects, which unions need, have a last year
        bits = 31 if kind == "int" else 63
        value = random.choice(LONGS) if random.random() < 0.5 else random.randrange(-(2**bits), 2**bits)
        return max(-(2**bits), min(2**bits - 1, value))

    def _of_integer(self, value: int, schema: Any) -> int:
        logic = schema.get("logicalType")
        is_millis = logic in {"timestamp-millis", "local-timestamp-millis"} and logic in MEANT[self.version]
        return value * 1000 if is_millis and schema["type"] == "long" else value

    def _write_bytes(self, random: Random, kind: str, schema: Any, out: Any) -> tuple[Any, Any]:
        precision, scale = schema.get("precision", 0), schema.get("scale", 0)
        size = schema.get("size")
        is_decimal = schema.get("logicalType") == "decimal" and precision > 0 and scale <= precision
        if kind == "fixed":
            is_decimal = is_decimal and bool(size) and 10**precision <= 2 ** (8 * size - 1)
        wanted: Any
        if is_decimal:
            unscaled = random.randint(-(10**precision) + 1, 10**precision - 1)
            value = unscaled.to_bytes(size or (unscaled.bit_length() + 8) // 8, signed=True)
            wanted = Decimal(unscaled).scaleb(-scale, _CONTEXT) if "decimal" in MEANT[self.version] else value
        else:
            value = wanted = random.randbytes(random.choice([0, 1, 5]) if size is None else size)
        if kind == "fixed":
            out.write(value)
        else:
            out.write_bytes(value)
        return value, wanted
