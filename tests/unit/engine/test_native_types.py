"""The types that Spark gives to the results of arithmetic with decimals (its `DecimalType` and `Average`)."""

from __future__ import annotations

import pytest

from gluepot.engine.native import types
from gluepot.engine.native.types import NotTranslated


def struct(**fields):
    return {"type": "struct", "fields": [{"name": name, "type": kind} for name, kind in fields.items()]}


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (types.added_kind("decimal(10,2)", "decimal(5,4)"), "decimal(13,4)"),
        (types.multiplied_kind("decimal(15,2)", "decimal(16,2)"), "decimal(32,4)"),
        (types.multiplied_kind("decimal(32,4)", "decimal(16,2)"), "decimal(38,6)"),
        (types.multiplied_kind("decimal(36,2)", "decimal(10,10)"), "decimal(38,6)"),
        (types.divided_kind("decimal(10,2)", "decimal(5,0)"), "decimal(16,8)"),
        (types.divided_kind("decimal(38,4)", "decimal(38,4)"), "decimal(38,6)"),
        (types.sum_kind("decimal(15,2)"), "decimal(25,2)"),
        (types.sum_kind("decimal(35,2)"), "decimal(38,2)"),
        (types.average_kind("decimal(15,2)"), "decimal(19,6)"),
        (types.rounded_kind("decimal(10,4)", 2), "decimal(9,2)"),
        (types.rounded_kind("decimal(10,4)", 8), "decimal(11,4)"),
    ],
)
def test_results_of_decimals_have_sparks_types(made, wanted):
    assert made == wanted


def test_a_sum_that_spark_would_round_is_left_to_it():
    with pytest.raises(NotTranslated):
        types.added_kind("decimal(38,0)", "decimal(38,20)")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("float", "FLOAT"),
        ("binary", "BLOB"),
        ({"type": "array", "elementType": "long"}, "BIGINT[]"),
        ({"type": "array", "elementType": struct(a="string")}, 'STRUCT("a" VARCHAR)[]'),
        (
            struct(**{'say "hi"': "decimal(5,2)", "b": struct(c="date")}),
            """STRUCT("say ""hi\"\"" DECIMAL(5,2), "b" STRUCT("c" DATE))""",
        ),
    ],
)
def test_types_that_are_only_carried_along(kind, name):
    made = types.translated_kind(kind)

    assert types.sql_type(made) == name
    assert not types.is_compared(made)
    assert not types.is_exact(made)


def test_parts_of_a_nested_type():
    inner = types.translated_kind({"type": "array", "elementType": "long"})
    made = types.translated_kind(struct(b={"type": "array", "elementType": "long"}, a="string"))

    assert types.fields_of(made) == (("b", inner), ("a", "string"))
    assert types.element_of(inner) == "long"
    assert types.element_of(made) == types.element_of("string") == ""
    assert types.fields_of(inner) == types.fields_of("string") == ()


@pytest.mark.parametrize(
    "kind",
    [
        "string collate UNICODE_CI",
        {"type": "array"},
        {"type": "map", "keyType": "string", "valueType": "long", "valueContainsNull": True},
        {"type": "array", "elementType": {"type": "map", "keyType": "string", "valueType": "long"}},
        struct(),
        struct(a="long", A="string"),
        struct(a="long", b="interval day to second"),
        "decimal(10, 2)",
        "",
        None,
    ],
)
def test_other_types_are_not_translated(kind):
    assert types.translated_kind(kind) == ""
