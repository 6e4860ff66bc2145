"""Records that name their schema: headers, schemas side by side, and what becomes of records that fit none."""

import io
import json
import struct
import zlib
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import fastavro
import pyarrow as pa
import pytest
from google.protobuf.message_factory import GetMessageClass

from gluepot.frames.chunk import is_choice
from gluepot.frames.declared.avro_types import columns, parsed
from gluepot.frames.declared.json_records import DeclaredJson
from gluepot.frames.refusal import Refusal
from gluepot.frames.registered import (
    ConfluentHeader,
    DeclaredRegistered,
    GlueHeader,
    RegisteredPayload,
    Wanted,
    WrittenSchema,
)
from gluepot.frames.registered.headers import Framed
from gluepot.frames.registered.proto_schemas import ProtoSchema
from gluepot.frames.registered.proto_text import ProtoProblem
from gluepot.frames.schema.hive_types import arrow_of_hive

ID = UUID("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")
PAGE = {"name": "page", "type": ["null", "string"], "default": None}
PROTO = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message Order {
  message Line { string sku = 1; uint32 count = 2; }
  enum State { NEW = 0; PAID = 1; }
  int64 id = 1;
  optional string note = 2;
  repeated Line lines = 3;
  map<string, Line> gifts = 4;
  State state = 5;
  oneof by { string mail = 6; bytes key = 7; }
  google.protobuf.Timestamp at = 8;
  uint64 big = 9;
  google.protobuf.Int64Value maybe = 10;
}
message Audit { string who = 1; }
message Nothing {}
message Knot { Knot knot = 1; }
"""


def click(*fields, id_type="int"):
    return {"type": "record", "name": "Click", "fields": [{"name": "id", "type": id_type}, *fields]}


class Registry:
    header = ConfluentHeader()

    def __init__(self, *schemas):
        self.schemas = schemas
        self.asked = []

    def schema(self, schema_id):
        self.asked.append(schema_id)
        return self.schemas[int(schema_id)] if int(schema_id) < len(self.schemas) else None


def avro(schema):
    return WrittenSchema("AVRO", json.dumps(schema))


def record(number, payload):
    return b"\0" + struct.pack(">I", number) + payload


def datum(schema, value):
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return out.getvalue()


def decode(decoder, *values):
    return decoder.decode(values, range(len(values)), "clicks", "0")


def growing(registry, *values):
    return decode(RegisteredPayload(registry).decoder(), *values)


def reasons(chunk):
    return [(error.at.position, error.reason) for error in chunk.errors]


@pytest.mark.parametrize(
    ("value", "framed"),
    [
        (b"\x03\0" + ID.bytes + b"abc", Framed(str(ID), b"abc")),
        (b"\x03\x05" + ID.bytes + zlib.compress(b"abc"), Framed(str(ID), b"abc")),
        (b"\x03\0" + ID.bytes, Framed(str(ID), b"")),
    ],
)
def test_a_header_of_glue_has_version_compression_and_id(value, framed):
    assert GlueHeader().framed(value) == framed


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "null_value"),
        (b"", "no_schema_header"),
        (b"\x03\0" + ID.bytes[:15], "no_schema_header"),
        (b"\x02\0" + ID.bytes + b"abc", "no_schema_header"),
        (b"\x03\x01" + ID.bytes + b"abc", "no_schema_header"),
        (b"\x03\x05" + ID.bytes + b"abc", "no_schema_header"),
        (b"\x03\x05" + ID.bytes + zlib.compress(b"abc")[:-1], "no_schema_header"),
        (b"\x03\x05" + ID.bytes + zlib.compress(bytes((64 << 20) + 1)), "too_large"),
    ],
)
def test_what_is_no_header_of_glue_is_refused(value, reason):
    refusal = GlueHeader().framed(value)
    assert isinstance(refusal, Refusal)
    assert refusal.reason == reason


def test_records_of_several_schemas_keep_their_order_and_share_columns():
    old, new = click(), click(PAGE, id_type="long")
    registry = Registry(avro(old), avro(new), WrittenSchema("JSON", "{}"))
    chunk = growing(
        registry,
        record(0, datum(old, {"id": 1})),
        record(1, datum(new, {"id": 2, "page": "/"})),
        record(2, b'{"id": 3, "more": [true]}'),
        record(0, datum(old, {"id": 4})),
    )
    assert chunk.batch.to_pylist() == [
        {"id": 1, "page": None, "more": None},
        {"id": 2, "page": "/", "more": None},
        {"id": 3, "page": None, "more": [True]},
        {"id": 4, "page": None, "more": None},
    ]
    assert registry.asked == ["0", "1", "2"]


MIXED = [
    "null",
    "boolean",
    "int",
    "string",
    {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2},
    {"type": "long", "logicalType": "timestamp-micros"},
    {"type": "int", "logicalType": "date"},
    {"type": "array", "items": ["null", "int", "string"]},
    {"type": "map", "values": [click(), "double"]},
    "Click",
    {
        "type": "record",
        "name": "View",
        "fields": [{"name": "id", "type": "string"}, {"name": "page", "type": "string"}],
    },
]


@pytest.mark.parametrize(
    ("value", "member", "held"),
    [
        (True, "boolean", True),
        (-7, "int", -7),
        ("", "string", ""),
        (Decimal("1.25"), "decimal", Decimal("1.25")),
        (date(2026, 1, 2), "date", date(2026, 1, 2)),
        (datetime(2026, 1, 2, 3, 4, 5, 6, UTC), "timestamp", datetime(2026, 1, 2, 3, 4, 5, 6, UTC)),
        ([1, "x", None], "array", [{"int": 1, "string": None}, {"int": None, "string": "x"}, None]),
        ({"a": 0.5, "b": ("Click", {"id": 3})}, "map", [("a", {"double": 0.5, "struct": None}), ("b", {"id": 3})]),
        (("Click", {"id": 1}), "struct", {"id": {"int": 1, "string": None}, "page": None}),
        (("View", {"id": "1", "page": "/"}), "struct", {"id": {"int": None, "string": "1"}, "page": "/"}),
    ],
    ids=str,
)
def test_a_union_of_avro_is_a_choice_that_holds_each_value_under_its_type(value, member, held):
    schema = {"type": "record", "name": "Row", "fields": [{"name": "mixed", "type": MIXED}]}
    values = [record(0, datum(schema, {"mixed": one})) for one in (None, value)]
    chunk = growing(Registry(avro(schema)), *values)
    assert not chunk.errors
    assert is_choice(chunk.batch.schema.field("mixed"))
    nothing, found = chunk.batch["mixed"].to_pylist()
    assert nothing is None
    if member == "map":
        held = [("a", held[0][1]), ("b", {"double": None, "struct": held[1][1]})]
    assert {name: one for name, one in found.items() if one is not None} == {member: held}


def test_a_union_of_types_that_one_type_holds_is_no_choice():
    view = {"type": "record", "name": "View", "fields": [{"name": "page", "type": "string"}]}
    schema = click({"name": "n", "type": ["int", "long", "null"]}, {"name": "r", "type": ["Click", view]})
    schema = {"type": "record", "name": "Both", "fields": [{"name": "c", "type": click()}, *schema["fields"][1:]]}
    rows = [
        {"c": {"id": 1}, "n": 2**40, "r": ("View", {"page": "/"})},
        {"c": {"id": 1}, "n": None, "r": ("Click", {"id": 2})},
    ]
    chunk = growing(Registry(avro(schema)), *(record(0, datum(schema, one)) for one in rows))
    assert chunk.batch.to_pylist() == [
        {"c": {"id": 1}, "n": 2**40, "r": {"id": None, "page": "/"}},
        {"c": {"id": 1}, "n": None, "r": {"id": 2, "page": None}},
    ]


def test_a_union_is_read_into_the_columns_that_are_declared():
    kinds = {kind: ["int", "string", {"type": "array", "items": "int"}] for kind in ("text", "number", "list")}
    fields = [{"name": name, "type": kind} for name, kind in kinds.items()]
    schema = {"type": "record", "name": "Row", "fields": fields}
    wanted = Wanted(pa.schema([("text", pa.string()), ("number", pa.int64()), ("list", pa.list_(pa.int64()))]))
    decoder = DeclaredRegistered(Registry(avro(schema)), wanted).decoder()
    chunk = decode(decoder, *(record(0, datum(schema, dict.fromkeys(kinds, one))) for one in (5, "x", [1])))
    assert chunk.batch.to_pydict() == {"text": ["5", "x", "[1]"], "number": [5, None, None], "list": [None, None, [1]]}
    assert chunk.misfits == {"number": 2, "list": 2}


def test_a_decoder_begins_with_the_columns_known_so_far():
    registry = Registry(avro(click(PAGE)))
    known = growing(registry, record(0, datum(click(PAGE), {"id": 1, "page": "/"}))).batch.schema
    decoder = RegisteredPayload(Registry(avro(click()))).decoder(known)
    assert decode(decoder, record(0, datum(click(), {"id": 2}))).batch.to_pylist() == [{"id": 2, "page": None}]
    assert decode(decoder, b"junk").batch.schema == known


def test_refused_records_keep_all_their_bytes_and_their_places():
    schema = click()
    knot = click({"name": "u", "type": ["null", "Click"]})
    values = [
        record(0, datum(schema, {"id": 1})),
        record(0, b""),
        b"junk",
        record(7, b"?"),
        record(1, b"?"),
        record(0, datum(schema, {"id": 2}) + b"!"),
        None,
        record(2, b"[1]"),
        record(0, datum(schema, {"id": 3})),
    ]
    chunk = growing(Registry(avro(schema), avro(knot), WrittenSchema("JSON", "{}")), *values)
    assert chunk.batch.column("id").to_pylist() == [1, 3]
    assert reasons(chunk) == [
        ("1", "malformed_avro"),
        ("2", "no_schema_header"),
        ("3", "unknown_schema"),
        ("4", "unreadable_schema"),
        ("5", "malformed_avro"),
        ("6", "null_value"),
        ("7", "not_an_object"),
    ]
    assert [error.raw for error in chunk.errors] == values[1:8]


def test_a_reader_of_avro_gets_its_own_columns_by_avros_rules():
    wanted = click(PAGE, {"name": "n", "type": "int", "default": 7}, id_type="long")
    old, clash = click({"name": "gone", "type": "string"}), click(id_type="string")
    payload = DeclaredRegistered(
        Registry(avro(old), avro(clash)), Wanted(columns(*parsed(json.dumps(wanted))), json.dumps(wanted))
    )
    values = [record(0, datum(old, {"id": 1, "gone": "x"})), record(1, datum(clash, {"id": "x"}))]
    chunk = decode(payload.decoder(), *values)
    assert chunk.batch.schema == payload.schema
    assert chunk.batch.to_pylist() == [{"id": 1, "page": None, "n": 7}]
    assert reasons(chunk) == [("1", "malformed_avro")]


def test_declared_columns_are_matched_by_name_in_every_format():
    declared = arrow_of_hive("struct<id:bigint,who:struct<name:string,age:int>,tags:array<string>>")
    import pyarrow as pa

    wanted = Wanted(DeclaredJson.of(pa.schema(list(declared))).schema)
    who = {"type": "record", "name": "Who", "fields": [{"name": "name", "type": "string"}]}
    old = click({"name": "who", "type": who}, {"name": "tags", "type": "int"})
    registry = Registry(avro(old), WrittenSchema("JSON", "{}"), WrittenSchema("PROTOBUF", PROTO))
    values = [
        record(0, datum(old, {"id": 1, "who": {"name": "ada"}, "tags": 5})),
        record(1, b'{"id": 2, "tags": ["x"], "more": 1}'),
        record(2, b"\0" + GetMessageClass(ProtoSchema(PROTO).message("shop.Order"))(id=3).SerializeToString()),
    ]
    chunk = decode(DeclaredRegistered(registry, wanted).decoder(), *values)
    assert chunk.batch.schema == wanted.schema
    assert chunk.batch.to_pylist() == [
        {"id": 1, "who": {"name": "ada", "age": None}, "tags": None},
        {"id": 2, "who": None, "tags": ["x"]},
        {"id": 3, "who": None, "tags": None},
    ]


def test_avro_schemas_may_refer_to_others():
    line = {"type": "record", "name": "Line", "fields": [{"name": "sku", "type": "string"}]}
    order = {"type": "record", "name": "Order", "fields": [{"name": "line", "type": "Line"}]}
    whole = {"type": "record", "name": "Order", "fields": [{"name": "line", "type": line}]}
    registry = Registry(WrittenSchema("AVRO", json.dumps(order), (("Line", json.dumps(line)),)))
    chunk = growing(registry, record(0, datum(whole, {"line": {"sku": "a"}})))
    assert chunk.batch.to_pylist() == [{"line": {"sku": "a"}}]


def message(name, text=PROTO, **fields):
    return GetMessageClass(ProtoSchema(text).message(name))(**fields)


def test_a_message_becomes_a_row():
    order = message("shop.Order", id=1, note="", state=1, key=b"k", big=2**63)
    order.lines.add(sku="a", count=2**31)
    order.gifts["b"].sku = "c"
    order.at.FromJsonString("2026-05-01T00:00:00.5Z")
    order.maybe.value = 0
    (row,) = growing(
        Registry(WrittenSchema("PROTOBUF", PROTO)), record(0, b"\0" + order.SerializeToString())
    ).batch.to_pylist()
    assert row.pop("at").isoformat() == "2026-05-01T00:00:00.500000+00:00"
    assert row == {
        "id": 1,
        "note": "",
        "lines": [{"sku": "a", "count": 2**31}],
        "gifts": [("b", {"sku": "c", "count": 0})],
        "state": "PAID",
        "mail": None,
        "key": b"k",
        "big": Decimal(2**63),
        "maybe": 0,
    }


def test_a_field_that_is_absent_is_null_or_its_default():
    (row,) = growing(Registry(WrittenSchema("PROTOBUF", PROTO)), record(0, b"\0")).batch.to_pylist()
    absent = ("note", "mail", "key", "at", "maybe")
    assert [row[name] for name in absent] == [None] * 5
    assert (row["id"], row["lines"], row["gifts"], row["state"], row["big"]) == (0, [], [], "NEW", 0)


@pytest.mark.parametrize(
    ("path", "name"),
    [(b"\0", "shop.Order"), (b"\2\0", "shop.Order"), (b"\2\2", "shop.Audit"), (b"\4\0\0", "shop.Order.Line")],
)
def test_confluents_header_leads_to_a_message_by_a_path(path, name):
    assert ConfluentHeader().message(path + b"rest", ProtoSchema(PROTO)) == (name, b"rest")


def test_glues_header_counts_messages_in_alphabetical_order_entries_of_maps_among_them():
    schema = ProtoSchema(PROTO)
    assert list(schema.names) == [
        "shop.Audit", "shop.Knot", "shop.Nothing", "shop.Order", "shop.Order.GiftsEntry", "shop.Order.Line",
    ]  # fmt: skip
    assert GlueHeader().message(b"\x05rest", schema) == ("shop.Order.Line", b"rest")


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "malformed_protobuf"),
        (b"\2", "malformed_protobuf"),
        (b"\1", "malformed_protobuf"),
        (b"\2\x0c", "malformed_protobuf"),
        (b"\xff" * 12, "malformed_protobuf"),
        (b"\0\x08", "malformed_protobuf"),
        (b"\2\4", "unreadable_schema"),
        (b"\2\6", "unreadable_schema"),
    ],
)
def test_what_is_no_message_is_refused(payload, reason):
    chunk = growing(Registry(WrittenSchema("PROTOBUF", PROTO)), record(0, payload))
    assert reasons(chunk) == [("0", reason)]


def test_a_time_outside_of_all_calendars_is_refused():
    order = message("shop.Order")
    order.at.seconds = 10**15
    chunk = growing(Registry(WrittenSchema("PROTOBUF", PROTO)), record(0, b"\0" + order.SerializeToString()))
    assert reasons(chunk) == [("0", "malformed_protobuf")]


def test_a_schema_of_protocol_buffers_may_import_others():
    line = 'syntax = "proto3"; package shop; message Line { string sku = 1; }'
    order = 'syntax = "proto3"; package shop; import "line.proto"; message Order { Line line = 1; }'
    schema = WrittenSchema("PROTOBUF", order, (("line.proto", line),))
    made = GetMessageClass(ProtoSchema(order, schema.beside).message("shop.Order"))()
    made.line.sku = "a"
    chunk = growing(Registry(schema), record(0, b"\0" + made.SerializeToString()))
    assert chunk.batch.to_pylist() == [{"line": {"sku": "a"}}]


@pytest.mark.parametrize("text", ["", "message", 'syntax = "proto3"; message A { B b = 1; }', "AAAA"])
def test_what_is_no_schema_of_protocol_buffers_is_refused(text):
    with pytest.raises(ProtoProblem):
        ProtoSchema(text)
    chunk = growing(Registry(WrittenSchema("PROTOBUF", text)), record(0, b"\0"))
    assert reasons(chunk) == [("0", "unreadable_schema")]
