"""The types that Spark gives to the results of arithmetic with decimals (its `DecimalType` and `Average`)."""

from __future__ import annotations

import pytest

from gluepot.engine.native import types
from gluepot.engine.native.types import NotTranslated


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
    "kind", ["string collate UNICODE_CI", "binary", "float", {"type": "array"}, "decimal(10, 2)", "", None]
)
def test_other_types_are_not_translated(kind):
    assert types.translated_kind(kind) == ""
