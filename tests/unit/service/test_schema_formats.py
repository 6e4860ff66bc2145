"""Which schemas are valid, and which can read records of which others."""

import json
from io import BytesIO

import fastavro
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluepot.service.schemas import json_schemas
from gluepot.service.schemas.formats import digest_of, patch, problem_of, why_unreadable

ORDERS = """
syntax = "proto3";
package shop; // sold things
import "google/protobuf/timestamp.proto";
message Order {
  int32 id = 1 [deprecated = true, (own.option) = "x"];
  optional string message = 2;
  repeated Item items = 3;
  map<string, Item> by_name = 4;
  oneof payer { string person = 5; Item voucher = 6; }
  enum Colour { option allow_alias = true; RED = 0; BLUE = 1 [(own) = {a: 1 b: "c"}]; }
  Colour colour = 7;
  google.protobuf.Timestamp at = 8;
  message Item { string sku = 1; .shop.Order of = 2; reserved 5, 6 to 9, 100 to max; reserved "a", "b"; }
}
service Shop { rpc Buy (Order) returns (stream Order); }
"""


def of_json(reader, writer):
    return why_unreadable("JSON", json.dumps(reader), json.dumps(writer))


def thing(properties, **more):
    return {"type": "object", "properties": properties, **more}


TEXT, NUMBER, WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}
OLD_TREE = {
    "$ref": "#/definitions/tree",
    "definitions": {"tree": thing({"next": {"$ref": "#/definitions/tree"}, "v": WHOLE})},
}
NEW_TREE = {
    "$ref": "#/definitions/tree",
    "definitions": {"tree": thing({"next": {"$ref": "#/definitions/tree"}, "v": NUMBER})},
}


@pytest.mark.parametrize(
    ("reader", "writer", "why"),
    [
        (thing({"a": TEXT, "b": NUMBER}), thing({"a": TEXT}), None),
        (thing({"a": TEXT}), thing({"a": TEXT, "b": NUMBER}), None),
        (thing({"a": TEXT}, required=["a"]), thing({"a": TEXT}), "/a is required and may be absent."),
        (thing({"a": NUMBER}), thing({"a": WHOLE}), None),
        (thing({"a": WHOLE}), thing({"a": NUMBER}), "/a may be of the type number, which is not valid."),
        (thing({"a": TEXT}, additionalProperties=False), thing({"a": TEXT}), "/* is not allowed."),
        (
            thing({"a": TEXT}, additionalProperties=False),
            thing({"a": TEXT, "b": TEXT}, additionalProperties=False),
            "/b is not allowed.",
        ),
        (
            thing({"a": TEXT, "b": WHOLE}),
            thing({"a": TEXT}, additionalProperties=TEXT),
            "/b may be of the type string, which is not valid.",
        ),
        ({"oneOf": [TEXT, NUMBER]}, {"oneOf": [TEXT]}, None),
        ({"anyOf": [TEXT, NUMBER]}, {"type": ["string", "integer"]}, None),
        ({"oneOf": [NUMBER, WHOLE]}, {"oneOf": [NUMBER]}, "alternatives of oneOf may overlap"),
        ({"enum": [1, 2, 3]}, {"enum": [1, 2]}, None),
        ({"enum": [1, 2]}, {"enum": [1, 2, 3]}, "may be 3, which is not valid."),
        ({"enum": ["a"]}, TEXT, "may have other values"),
        (TEXT, {"const": "a"}, None),
        (NEW_TREE, OLD_TREE, None),
        (OLD_TREE, NEW_TREE, "/v may be of the type number"),
        ({"type": "array", "items": TEXT, "maxItems": 5}, {"type": "array", "items": TEXT}, "maxItems is 5"),
        ({"type": "array", "items": [TEXT]}, {"type": "array", "items": [WHOLE]}, "/0 may be of the type integer"),
        ({**WHOLE, "minimum": 1}, {**WHOLE, "minimum": 2}, None),
        ({**WHOLE, "minimum": 2}, {**WHOLE, "exclusiveMinimum": 1.5}, "minimum is 2"),
        ({**WHOLE, "minimum": 1}, {**WHOLE, "exclusiveMinimum": 1}, None),
        ({**WHOLE, "exclusiveMinimum": 1}, {**WHOLE, "minimum": 1}, "minimum is 1"),
        ({**NUMBER, "multipleOf": 2}, {**NUMBER, "multipleOf": 4}, None),
        ({**NUMBER, "multipleOf": 4}, {**NUMBER, "multipleOf": 2}, "multiple of 4"),
        ({**TEXT, "pattern": "^a"}, {**TEXT, "pattern": "^b"}, "pattern differs"),
        ({"not": TEXT}, NUMBER, "not differs"),
        ({"allOf": [TEXT, {"minLength": 1}]}, {**TEXT, "minLength": 2}, None),
        (TEXT, {"allOf": [{"minLength": 1}, TEXT]}, None),
        # Present in every document, and described by nobody.
        (thing({"a": TEXT}), {"type": "object", "required": ["a"]}, "may be"),
        (True, False, None),
        (False, TEXT, "is not allowed"),
    ],
)
def test_schemas_of_json_are_compared_keyword_by_keyword(reader, writer, why):
    found = of_json(reader, writer)
    assert found is None if why is None else why in found


def test_a_comparison_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(json_schemas, "_MOST_COMPARISONS", 10)
    many = [f"a{number}" for number in range(20)]
    reader, writer = ({name: thing({name: kind}) for name in many} for kind in (NUMBER, WHOLE))
    assert of_json(thing(reader), thing(writer)) == "The schemas are too large to be compared."


SCALARS = st.sampled_from(
    [TEXT, NUMBER, WHOLE, {"type": "null"}, {"enum": [1, "a"]}, {**TEXT, "minLength": 2}, {**NUMBER, "maximum": 3}, {}]
)
SCHEMAS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.builds(
            lambda properties, required, further: {
                **thing(properties, required=sorted(required & set(properties)) or ["a"]),
                **({} if further is None else {"additionalProperties": further}),
            },
            st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            st.sets(st.sampled_from("ab")),
            st.one_of(st.none(), st.just(value=False), inner),
        ),
        st.builds(lambda items, most: {"type": "array", "items": items, "maxItems": most}, inner, st.integers(0, 2)),
        st.builds(lambda word, some: {word: some}, st.sampled_from(["anyOf", "oneOf", "allOf"]), st.lists(inner, min_size=1, max_size=2)),
    ),
    max_leaves=4,
)  # fmt: skip
VALUES = st.recursive(
    st.sampled_from([None, 0, 1, 3, 4, 2.5, "", "a", "ab"]),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    max_leaves=4,
)


def closed(schema):
    """Return a schema whose documents have no other properties than it lists, unless it says what they are like."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: one if name in {"enum", "required"} else closed(one) for name, one in schema.items()}
    if inner.get("type") == "object":
        inner.setdefault("additionalProperties", False)
    return inner


@settings(max_examples=300)
@given(SCHEMAS, SCHEMAS, st.lists(VALUES, min_size=1, max_size=8))
def test_whatever_a_writer_describes_is_valid_for_a_reader_that_can_read_it(reader, writer, values):
    if of_json(reader, writer) is not None:
        return
    describes, accepts = (jsonschema.Draft7Validator(one) for one in (closed(writer), reader))
    for value in values:
        if describes.is_valid(value):
            assert accepts.is_valid(value)


@settings(max_examples=100)
@given(SCHEMAS)
def test_a_schema_of_json_can_read_what_it_describes(schema):
    assert of_json(schema, schema) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"$ref": "#/x"}', "which the schema does not have"),
        ('{"$ref": "http://elsewhere/x"}', "may only refer to its own parts"),
        ('{"type": "foo"}', "'foo' is not valid"),
        ('{"$schema": "https://json-schema.org/draft/2020-12/schema"}', "use draft-04, draft-06 or draft-07"),
        ("[]", "A schema is a JSON object."),
        ("{", "It is not JSON"),
    ],
)
def test_a_wrong_schema_of_json_is_told(text, problem):
    assert problem in problem_of("JSON", text)


def record(*fields, name="A"):
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": one, "type": kind, **more} for one, kind, more in fields],
    }


FIELD_TYPES = st.sampled_from(
    ["int", "long", "float", "double", "string", "bytes", ["null", "int"], {"type": "array", "items": "int"}]
)
RECORDS = st.builds(
    lambda fields, optional: record(
        *[(name, kind, {}) for name, kind in fields.items()],
        *[(name, ["null", "string"], {"default": None}) for name in optional],
    ),
    st.dictionaries(st.sampled_from("ab"), FIELD_TYPES, max_size=2),
    st.sets(st.sampled_from("cd")),
)
SAMPLES = {"int": 1, "long": 2**40, "float": 0.5, "double": 0.1, "string": "x", "bytes": b"x"}


def sample(kind):
    if isinstance(kind, list):
        return None
    return [1] if isinstance(kind, dict) else SAMPLES[kind]


@settings(max_examples=100)
@given(RECORDS, RECORDS)
def test_records_of_avro_are_read_if_the_schemas_are_compatible(reader, writer):
    value = {one["name"]: sample(one["type"]) for one in writer["fields"]}
    written = BytesIO()
    fastavro.schemaless_writer(written, fastavro.parse_schema(writer), value)
    written.seek(0)
    try:
        fastavro.schemaless_reader(written, fastavro.parse_schema(writer), fastavro.parse_schema(reader))
    except (fastavro.read.SchemaResolutionError, TypeError):
        assert why_unreadable("AVRO", json.dumps(reader), json.dumps(writer)) is not None
    else:
        # A sample of a union is null, so it does not show that its other type cannot be read.
        found = why_unreadable("AVRO", json.dumps(reader), json.dumps(writer))
        assert found is None or "null" in json.dumps(writer)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (json.dumps(record(("x", "int", {"default": "a"}))), "Default value"),
        (json.dumps(record(("x", "B", {}))), "B"),
        ("int", "It is not JSON"),
        ('{"type": "enum", "name": "E", "symbols": ["a-b"]}', "symbol"),
        ("[" * 5000, "nested too deeply"),
    ],
)
def test_a_wrong_schema_of_avro_is_told(text, problem):
    assert problem in problem_of("AVRO", text)


def test_logical_types_of_avro_change_nothing():
    dated = json.dumps(record(("x", {"type": "int", "logicalType": "date"}, {})))
    assert problem_of("AVRO", dated.replace("date", "of our own")) is None
    assert why_unreadable("AVRO", dated, json.dumps(record(("x", "int", {})))) is None


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("int32 id", "bool id", None),
        ("int32 id", "Colour id", None),
        ("string message", "bytes message", None),
        ("optional string message = 2;", "", None),
        ("Colour colour = 7;", "Colour color = 7; string note = 9;", None),
        ("int32 id", "string id", "is of the type string, and was int32"),
        ("int32 id", "sint32 id", "is of the type sint32, and was int32"),
        ("repeated Item", "Item", "is singular, and was repeated"),
        ("map<string, Item>", "map<int32, Item>", "is of the type int32,shop.Order.Item"),
        ("package shop;", "package store;", "The package is 'store'"),
        ("message Item {", "message Item { message Inner {} ", None),
        ("service Shop", "message Other {} service Shop", None),
        ('int32 id = 1 [deprecated = true, (own.option) = "x"];\n  optional string message = 2;',
         "oneof key { int32 id = 1; string message = 2; }", "are now in the oneof key"),
    ],
)  # fmt: skip
def test_messages_are_compared_by_their_wire_format(old, new, why):
    changed = ORDERS.replace(old, new, 1)
    changed = changed.replace(".shop.", ".store.") if "store" in new else changed
    assert problem_of("PROTOBUF", changed) is None
    found = why_unreadable("PROTOBUF", changed, ORDERS)
    assert found is None if why is None else why in found


def test_a_message_that_is_missing_cannot_be_read():
    assert why_unreadable("PROTOBUF", ORDERS, ORDERS + "message Other {}") == "The message shop.Other is missing."
    assert (
        why_unreadable("PROTOBUF", ORDERS, ORDERS + "enum Size { S = 0; }") == "The enumeration shop.Size is missing."
    )


def test_a_required_field_of_proto2_may_neither_come_nor_be_missing():
    with_it = "message A { required int32 a = 1; optional int32 b = 2; }"
    without = "message A { optional int32 b = 2; }"
    assert "is required and may be absent" in why_unreadable("PROTOBUF", with_it, without)
    assert why_unreadable("PROTOBUF", without, with_it) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("message A {", "It ends too early."),
        ('syntax = "proto3"; message A { B b = 1; }', "of the type B, which the schema does not define"),
        ('syntax = "proto3"; message A { int32 b = 1; int32 c = 1; }', "two fields with the number 1"),
        ('syntax = "proto3"; message A { int32 b = 1; int32 b = 2; }', "two fields b"),
        ('syntax = "proto3"; message A { int32 b = 0; }', "has the number 0"),
        ('syntax = "proto3"; message A { required int32 b = 1; }', "which proto3 does not have"),
        ('syntax = "proto3"; message A { map<double, int32> b = 1; }', "keys of the type double"),
        ('syntax = "proto3"; enum E { A = 1; } message M {}', "must be 0 in proto3"),
        ("message A { int32 a = 1; }", "needs optional, required or repeated"),
        ("message A { extensions 4 to 5; }", "extensions"),
        ("message A {} message A {}", "defined twice"),
        ('syntax = "proto4";', "use proto2 or proto3"),
        ("", "It has no message."),
        ("message A { optional group G = 1 {} }", "is not expected at line 1"),
        ("message Ä {}", "is not expected at line 1"),
    ],
)
def test_a_wrong_schema_of_protobuf_is_told(text, problem):
    assert problem in problem_of("PROTOBUF", text)


def test_the_layout_of_a_schema_makes_no_difference():
    flat = ORDERS.replace("// sold things", "").replace("\n", " ")
    assert digest_of("PROTOBUF", ORDERS) == digest_of("PROTOBUF", flat)
    assert digest_of("JSON", '{"a": 1, "b": 2}') == digest_of("JSON", '{"b":2,"a":1}')
    assert digest_of("JSON", '{"a": 1}') != digest_of("JSON", '{"a": 2}')


def test_a_patch_removes_adds_and_replaces():
    old, new = {"a": [1, 2, 3], "x/y": 1, "b": {"c": 1}}, {"a": [1, 5], "b": {"c": True}, "~": None}
    assert json.loads(patch("JSON", json.dumps(old), json.dumps(new))) == [
        {"op": "remove", "path": "/x~1y"},
        {"op": "replace", "path": "/a/1", "value": 5},
        {"op": "remove", "path": "/a/2"},
        {"op": "replace", "path": "/b/c", "value": True},
        {"op": "add", "path": "/~0", "value": None},
    ]
    assert json.loads(patch("PROTOBUF", "a", "b")) == [{"op": "replace", "path": "", "value": "b"}]
