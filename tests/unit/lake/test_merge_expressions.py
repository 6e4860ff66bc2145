"""Expressions of a MERGE over Arrow columns."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pyarrow as pa
import pytest

from gluepot.connectors.lake.merging.expressions import (
    Columns,
    OnlySpark,
    conjuncts,
    kind_of,
    parsed,
    translated,
    widened,
)

SPARK = "org.apache.spark.sql.catalyst.expressions."


def column(number: int, kind: str) -> list[dict[str, Any]]:
    named = {"dataType": kind, "exprId": {"id": number}}
    return [{"class": f"{SPARK}AttributeReference", "num-children": 0, **named}]


def literal(value: str | None, kind: str) -> list[dict[str, Any]]:
    return [{"class": f"{SPARK}Literal", "num-children": 0, "value": value, "dataType": kind}]


def call(name: str, *children: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    own = {"class": f"{SPARK}{name}", "num-children": len(children), **more}
    return [own, *(node for one in children for node in one)]


def tree(nodes: list[dict[str, Any]]) -> Any:
    return parsed(json.dumps(nodes))


def computed(nodes: list[dict[str, Any]], **columns: list[Any]) -> list[Any]:
    arrays = {int(name[1:]): pa.array(values) for name, values in columns.items()}
    return translated(tree(nodes)).of(Columns(arrays, len(next(iter(arrays.values()))))).to_pylist()


TEXT, OTHER = column(1, "string"), column(2, "string")


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        (call("EqualTo", TEXT, OTHER), [True, False, None, None]),
        (call("EqualNullSafe", TEXT, OTHER), [True, False, False, True]),
        (call("Not", call("LessThan", TEXT, OTHER)), [True, False, None, None]),
        (call("Or", call("IsNull", TEXT), call("EqualTo", TEXT, OTHER)), [True, False, True, True]),
        (call("And", call("IsNotNull", OTHER), call("EqualTo", TEXT, OTHER)), [True, False, None, False]),
        (call("In", TEXT, literal("a", "string"), literal(None, "string")), [True, True, None, None]),
        (call("GreaterThanOrEqual", TEXT, literal("a", "string")), [True, True, None, None]),
        (literal("true", "boolean"), [True] * 4),
        (call("Between", call("EqualTo", TEXT, OTHER)), [True, False, None, None]),
        (call("Cast", literal(None, "void"), dataType="boolean"), [None] * 4),
    ],
)
def test_nulls_are_those_of_sql(nodes, wanted):
    assert computed(nodes, c1=["a", "a", None, None], c2=["a", "b", "b", None]) == wanted


def test_days_are_those_of_sql():
    nodes = call("LessThan", column(1, "date"), literal("2026-01-02", "date"))

    assert computed(nodes, c1=[date(2026, 1, 1), date(2026, 1, 2), None]) == [True, False, None]


def test_whole_numbers_are_widened_but_never_narrowed():
    wide = widened(translated(tree(column(1, "integer"))), "long")

    assert wide.of(Columns({1: pa.array([1, None], pa.int32())}, 2)).type == pa.int64()
    with pytest.raises(OnlySpark):
        widened(translated(tree(column(1, "long"))), "integer")


@pytest.mark.parametrize(
    "nodes",
    [
        call("EqualTo", column(1, "double"), column(2, "double")),
        call("EqualTo", column(1, "string"), column(2, "long")),
        call("EqualTo", column(1, "string collate UTF8_LCASE"), column(2, "string collate UTF8_LCASE")),
        call("Cast", column(1, "string"), dataType="long"),
        call("Rand", literal("1", "long")),
        literal("1.5", "double"),
        call("And", TEXT, OTHER),
    ],
)
def test_what_arrow_may_compute_differently_is_left_to_spark(nodes):
    with pytest.raises(OnlySpark):
        translated(tree(nodes))


def test_conditions_that_and_joins_are_told_apart():
    one, other, third = (call("IsNull", column(number, "string")) for number in (1, 2, 3))

    assert [node[""][0]["exprId"]["id"] for node in conjuncts(tree(call("And", call("And", one, other), third)))] == [
        1,
        2,
        3,
    ]


def test_types_are_equal_whatever_they_say_of_nulls():
    def array_in(nullable: bool) -> Any:
        inner = {"type": "array", "elementType": "long", "containsNull": nullable}
        return {"type": "struct", "fields": [{"name": "x", "type": inner, "nullable": nullable, "metadata": {}}]}

    assert kind_of(array_in(True)) == kind_of(array_in(False))
    assert kind_of("decimal(3,1)") != kind_of("decimal(3,2)")
