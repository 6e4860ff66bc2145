"""Which JSON schemas can read the documents of others, rule by rule; the documents say who is right."""

from __future__ import annotations

import json

import jsonschema
import pytest
from jsonschema.validators import validator_for

from gluepot.service.schemas.json_schemas import check, why_unreadable
from gluepot.service.schemas.problems import SchemaProblem

DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def is_valid(document, schema):
    return validator_for(schema, default=jsonschema.Draft7Validator)(schema).is_valid(document)


def kind(value):
    return {"type": "object", "properties": {"kind": {"const": value}}, "required": ["kind"]}


@pytest.mark.parametrize(
    ("reader", "writer", "document", "why"),
    [
        ({"type": "array", "uniqueItems": True}, {"type": "array"}, [1, 1], "may have equal items"),
        (
            {"$schema": DRAFT_4, "type": "number", "minimum": 1, "exclusiveMinimum": True},
            {"$schema": DRAFT_4, "type": "number", "minimum": 1},
            1,
            "minimum is 1, and was 1",
        ),
        (
            {"type": "number", "minimum": 0, "exclusiveMinimum": 5},
            {"type": "number", "minimum": 5},
            5,
            "minimum is 5, and was 5",
        ),
        ({"type": "number", "exclusiveMaximum": 5}, {"type": "number"}, 6, "maximum is 5, and was not limited"),
        ({"type": "integer", "multipleOf": 2}, {"type": "integer"}, 3, "something else than a multiple of 2"),
        (
            {"type": "object", "properties": {"xa": {"type": "string"}}},
            {"type": "object", "patternProperties": {"^x": {"type": "integer"}}},
            {"xa": 1},
            "xa",
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"type": "object", "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": False},
            {"xa": 1},
            "",
        ),
        ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, {"type": "integer"}, 1, "may overlap"),
        (
            {"type": "array", "items": [{"type": "string"}], "additionalItems": False},
            {"type": "array", "items": [{"type": "string"}, {"type": "string"}]},
            ["a", "b"],
            "",
        ),
        (
            {"allOf": [{"type": "object"}, {"required": ["a"]}]},
            {"type": "object", "properties": {"a": {}}},
            {},
            "a is required and may be absent",
        ),
    ],
)
def test_a_document_that_the_reader_refuses_is_foreseen(reader, writer, document, why):
    assert is_valid(document, writer)
    assert not is_valid(document, reader)
    found = why_unreadable(json.dumps(reader), json.dumps(writer))
    assert found is not None
    assert why in found


@pytest.mark.parametrize(
    ("reader", "writer"),
    [
        ({"type": "number", "multipleOf": 0.5}, {"type": "integer", "multipleOf": 2}),
        ({"type": "integer", "multipleOf": 1}, {"type": "integer"}),
        ({"type": "number", "exclusiveMinimum": 1}, {"type": "number", "minimum": 0, "exclusiveMinimum": 2}),
        ({"type": "array", "uniqueItems": True}, {"type": "array", "maxItems": 1}),
        ({"type": "number", "minimum": 5, "exclusiveMinimum": 1}, {"type": "number", "minimum": 5}),
        (
            {
                "definitions": {"text": {"type": "string"}, "number": {"type": "number"}},
                "oneOf": [{"$ref": "#/definitions/text"}, {"$ref": "#/definitions/number"}],
            },
            {"type": "string"},
        ),
        ({"oneOf": [{"type": "string"}, False]}, {"type": "string"}),
        ({"oneOf": [kind("a"), kind("b")]}, kind("b")),
        ({"allOf": [{"type": "object"}, {"minProperties": 1}]}, {"type": "object", "minProperties": 2}),
    ],
)
def test_a_reader_that_takes_every_document_of_the_writer_may_read_them(reader, writer):
    assert why_unreadable(json.dumps(reader), json.dumps(writer)) is None


def test_a_schema_that_is_nested_too_deeply_is_refused():
    with pytest.raises(SchemaProblem, match=r"^It is nested too deeply\.$"):
        check('{"items":' * 100_000)
