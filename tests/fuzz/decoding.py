"""Targets that decode records of streams and files of formats."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import struct
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import md5
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
from amazon.ion import simpleion
from google.protobuf.message_factory import GetMessageClass

from gluepot.connectors.kinesis.aggregation import MAGIC, taken_apart
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.registered import RegisteredPayload, WrittenSchema
from gluepot.frames.registered.headers import Header
from gluepot.frames.registered.proto_schemas import ProtoSchema
from scripts.test_folder import root
from tests.fuzz.rules import MOST_MESSAGE, good_neighbours, must, one_place_each, refusing
from tests.unit.files.avro_bytes import avro_file
from tests.unit.files.reading import each_chunk
from tests.unit.hostile.records import GOOD, WRITTEN_DOWN
from tests.unit.kinesis.packed import aggregate

# A byte that ends a record in an input with several of them; no JSON text needs it.
BETWEEN = b"\x1e"
LONGEST_SEED = 4_096
# Most things that are known of the first record hold for these, so that the compiled kernel reads them.
KNOWN = pa.schema(
    [
        ("id", pa.int64()),
        ("v", pa.float64()),
        ("s", pa.string()),
        ("b", pa.bool_()),
        ("o", pa.struct([("x", pa.int64()), ("y", pa.list_(pa.string()))])),
        ("l", pa.list_(pa.struct([("z", pa.float64())]))),
    ]
)
OF_KNOWN = b'{"id":1,"v":1.5e3,"s":"a\\u00e9","b":true,"o":{"x":-2,"y":["p",null]},"l":[{"z":0.1},{}]}'


def json_records(data: bytes) -> None:
    good_neighbours(JsonDecoder, b'{"id":1}', data.split(BETWEEN))


def json_seeds() -> list[bytes]:
    several = [GOOD[0] + BETWEEN + GOOD[1], BETWEEN.join([b'{"a":1}', b'{"a":"x"}', b'{"a":', b'{"a":1.5}'] * 5)]
    return [*GOOD, *several, *(one for one in WRITTEN_DOWN if one is not None and len(one) < LONGEST_SEED)]


def known_json_records(data: bytes) -> None:
    """Read by the kernel, whatever can be; what it refuses is what a decoder without a schema refuses, too."""
    records = data.split(BETWEEN)
    refused = one_place_each(JsonDecoder(KNOWN), [OF_KNOWN, *records, OF_KNOWN])
    must({at - 1 for at in refused} == one_place_each(JsonDecoder(), records), "The kernel refuses other records.")


def kpl_records(data: bytes) -> None:
    taken_apart(data)
    # With the right digest, so that what follows is read.
    found = taken_apart(MAGIC + data + md5(data).digest())
    must(found is None or sum(len(one.data) for one in found) <= len(data), "Records are larger than their aggregate.")


def kpl_seeds() -> list[bytes]:
    whole = aggregate([("a", b"1"), ("b", b'{"id": 2}'), ("a", b"")])
    return [whole, whole[len(MAGIC) : -16], b"\x1a\x00", b"\x1a\x02\x08\x00"]


AVRO = {
    "type": "record",
    "name": "Click",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "page", "type": ["null", "string"]},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "more", "type": {"type": "map", "values": "double"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "key", "type": {"type": "fixed", "name": "Key", "size": 4}},
    ],
}
CLICK = {
    "id": 1, "page": "a", "tags": ["x"], "more": {"y": 1.5}, "at": 1_700_000_000_000, "day": 19_000, "price": b"\1\2",
    "kind": "B", "key": b"abcd",
}  # fmt: skip
PROTO = """
syntax = "proto3";
import "google/protobuf/timestamp.proto";
import "google/protobuf/struct.proto";
message Order {
  message Line { string sku = 1; uint32 count = 2; }
  enum State { NEW = 0; PAID = 1; }
  int64 id = 1;
  optional string note = 2;
  repeated Line lines = 3;
  map<string, Line> gifts = 4;
  State state = 5;
  google.protobuf.Timestamp at = 6;
  google.protobuf.Struct rest = 7;
  double price = 8;
}
"""
JSON_SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "s": {"type": "string"},
        "l": {"type": "array", "items": {"type": "number"}},
    },
}


@dataclass(frozen=True)
class Registry:
    """A registry that knows a schema in each of the three formats, by the last digit of its id."""

    header: Header
    title = "a registry"

    def schema(self, schema_id: str) -> WrittenSchema | None:
        by_end = {"1": ("AVRO", json.dumps(AVRO)), "2": ("JSON", json.dumps(JSON_SCHEMA)), "3": ("PROTOBUF", PROTO)}
        return WrittenSchema(*by_end[schema_id[-1]]) if schema_id[-1] in by_end else None


def registered(header: Header, number: Callable[[int], bytes]) -> Callable[[bytes], None]:
    """Return a target of records behind headers; the first byte chooses the schema of a header that is put before."""

    def check(data: bytes) -> None:
        def new() -> Any:
            return RegisteredPayload(Registry(header)).decoder()

        good = number(1) + _datum()
        framed = number(data[0] % 5) + data[1:] if data else b""
        rejected = one_place_each(new(), [good, data, framed, good])
        must(not rejected & {0, 3}, "A good record was rejected because of its neighbours.")

    return check


def confluent_number(schema: int) -> bytes:
    return b"\0" + struct.pack(">I", schema)


def glue_number(schema: int) -> bytes:
    return b"\3\0" + bytes(15) + bytes([schema])


def _datum() -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(AVRO), CLICK)
    return out.getvalue()


def _message() -> bytes:
    order = GetMessageClass(ProtoSchema(PROTO).message("Order"))(id=5, note="n", state=1, price=2.5)
    order.lines.add(sku="a", count=3)
    order.gifts["g"].sku = "b"
    order.at.seconds = 1_700_000_000
    order.rest["k"] = [1, {"l": None}]
    return order.SerializeToString()


def payloads() -> list[bytes]:
    """Return payloads after the byte that chooses their schema, and whole records of both registries."""
    datum = _datum()
    text = b'{"id":1,"s":"x","l":[1,2.5]}'
    bodies = [b"\1" + datum, b"\2" + text, b"\3\0" + _message(), b"\3\2\0" + _message()]
    squeezed = b"\3\5" + bytes(15) + b"\1" + zlib.compress(datum)
    return [*bodies, confluent_number(1) + datum, glue_number(1) + datum, squeezed]


@cache
def _folder() -> Path:
    """Return a folder of this process, in memory where there is room."""
    return Path(tempfile.mkdtemp(prefix="gluepot-fuzz-file-", dir=root()))


def files(format_name: str, *, lines: bool = False, **options: object) -> Callable[[bytes], None]:
    """Return a target of files.

    Args:
        format_name: name of the format.
        lines: whether each line that is not blank is a record, and errors hold such lines.
        options: options of the format.
    """

    def check(data: bytes) -> None:
        (_folder() / "file").write_bytes(data)
        chunks = refusing(lambda: list(each_chunk(_folder(), format_name, **options)))
        if chunks is None:
            return
        errors = [error for chunk in chunks for error in chunk.errors]
        for chunk in chunks:
            chunk.batch.validate(full=True)
        for error in errors:
            must(error.reason and 0 < len(error.message) <= MOST_MESSAGE, "An error has no message, or a long one.")
        if lines and data[:2] not in PACKED:
            given = [one for one in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if one.strip()]
            count = sum(chunk.batch.num_rows for chunk in chunks) + len(errors)
            # JSON records may spread over lines or share one, so only files of one object on each line are counted.
            if format_name != "json" or all(map(_is_object, given)):
                must(count == len(given), f"{count} rows and errors of {len(given)} lines.")
            must(count or b"{" not in data, "A file with records has neither rows nor errors.")
            must(all((error.raw or b"") in data for error in errors), "A rejected line lost its bytes.")

    return check


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


# The first bytes of files that are unpacked before they are read.
PACKED = (b"\x1f\x8b", b"BZ", b"\x28\xb5", b"\x04\x22", b"\xff\x06", b"\xfd7")


def avro_files() -> list[bytes]:
    made = []
    for codec in ("null", "deflate", "bzip2", "xz", "zstandard", "snappy"):
        out = io.BytesIO()
        try:
            fastavro.writer(out, AVRO, [CLICK, {**CLICK, "page": None}], codec=codec)
        except ValueError:  # a codec that needs another package
            continue
        made.append(out.getvalue())
    return [*made, avro_file(AVRO, 1, _datum()), avro_file(AVRO, 3, _datum())]


def ion_files() -> list[bytes]:
    text = (
        b'{id: 1, price: 2.50, at: 2024-01-02T03:04:05+01:00, tags: [a, "b"], y: 1e0}\nunit::{id: 2, raw: {{aGk=}}} 5'
    )
    values = [{"id": 1, "s": "x"}, {"id": 2, "l": [1, {"k": None}]}]
    return [text, simpleion.dumps(values, binary=True, sequence_as_stream=True), b"\xe0\x01\x00\xea", b"{a:[[[[1]]]]}"]


def xml_files() -> list[bytes]:
    text = b'<?xml version="1.0"?><a><row id="1"><x>1</x><x>2</x><y z="t">u</y></row><row><x/><!-- c --></row></a>'
    bomb = b'<!DOCTYPE a [<!ENTITY e "ee"><!ENTITY f "&e;&e;">]><a><row>&f;</row></a>'
    return [
        text,
        bomb,
        '<?xml version="1.0" encoding="utf-16"?><a><row>é</row></a>'.encode("utf-16"),
        gzip.compress(text),
    ]


def csv_files() -> list[bytes]:
    text = b'id,name,"a ""b"""\n1,x,\n2,"two\nlines",3.5\n3\n4,a,b,c\n"open,1\n'
    return [text, text.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + text, b"", b"\n\n", bz2.compress(text)]


def json_files() -> list[bytes]:
    return [
        b"\n".join(GOOD),
        b'[{"a":1},\n{"a":"x"}]',
        b'{"a":\n1}\n{"b":2}',
        gzip.compress(GOOD[0]),
        *json_seeds()[:60],
    ]


GROK = r"\[%{INT:id:int}\] %{IPORHOST:host} %{GREEDYDATA:rest}"
GROK_FILES = [b"[7] example.com GET /x\n[8] 10.0.0.1 \xff\n\nnothing\n", b"[99999999999999999999] a b"]
