"""What DuckDB computes of translated expressions, compared with Python's decimals."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.engine.native.expressions import EXPRESSIONS, in_set, literal_of
from gluepot.engine.native.parts import quotient
from gluepot.engine.native.types import NotTranslated, Value

duckdb = pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def answer():
    with duckdb.connect() as db:
        yield lambda sql: db.execute(f"SELECT {sql}").fetchall()[0][0]


def half_up(number, scale):
    return (Decimal(number.numerator) / Decimal(number.denominator)).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)


def literal(text, kind):
    return EXPRESSIONS["Literal"]({"dataType": kind, "value": text}, [])


def of(name, *values, **fields):
    return EXPRESSIONS[name](fields, values)


LIST = Value("[7, 8]", '["long"]')
NO_LIST = Value("CAST(NULL AS BIGINT[])", '["long"]')
STRUCT = Value("{'a''b': 1::BIGINT, 'c': 'x'}", '{"a\'b": "long", "c": "string"}')


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (of("GetArrayItem", LIST, literal("0", "integer"), failOnError=True), 7),
        (of("GetArrayItem", LIST, literal("1", "integer"), failOnError=False), 8),
        (of("GetArrayItem", LIST, literal("2", "integer"), failOnError=False), None),
        (of("GetArrayItem", NO_LIST, literal("2", "integer"), failOnError=True), None),
        (of("ElementAt", LIST, literal("1", "integer"), failOnError=True), 7),
        (of("ElementAt", LIST, literal("-1", "integer"), failOnError=True), 8),
        (of("ElementAt", LIST, literal("-2", "integer"), failOnError=False), 7),
        (of("ElementAt", LIST, literal("-3", "integer"), failOnError=False), None),
        (of("Size", LIST, legacySizeOfNull=True), 2),
        (of("Size", NO_LIST, legacySizeOfNull=True), -1),
        (of("Size", NO_LIST, legacySizeOfNull=False), None),
        (of("GetStructField", STRUCT, ordinal=0), 1),
        (of("GetStructField", STRUCT, ordinal=1), "x"),
        (of("IsNull", Value("{'a': NULL}", '{"a": "long"}')), False),
    ],
)
def test_parts_of_nested_values(answer, value, wanted):
    assert answer(value.sql) == wanted


@given(st.integers(-(10**12), 10**12), st.integers(1, 10**6), st.integers(0, 6))
def test_a_quotient_is_rounded_half_up(answer, dividend, divisor, scale):
    found = answer(quotient(f"{dividend * 10**scale}::HUGEINT", f"{divisor}::HUGEINT", f"decimal(38,{scale})").sql)

    assert found == half_up(Fraction(dividend, divisor), scale)


@given(st.decimals(-(10**8), 10**8, places=2), st.decimals(-(10**4), 10**4, places=4).filter(bool))
def test_decimals_are_divided_as_spark_does(answer, left, right):
    found = of("Divide", literal(str(left), "decimal(12,2)"), literal(str(right), "decimal(10,4)"))

    assert found.kind == "decimal(27,13)"
    assert answer(found.sql) == half_up(Fraction(left) / Fraction(right), 13)


@given(st.decimals(-(10**8), 10**8, places=3), st.integers(0, 3))
def test_decimals_are_rounded_half_up(answer, number, places):
    found = of("Round", literal(str(number), "decimal(12,3)"), literal(str(places), "integer"))

    assert answer(found.sql) == number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


@pytest.mark.parametrize(
    ("number", "kind", "wanted"),
    [
        ("0.000001", "decimal(9,9)", "0.000001000"),
        ("-0.5", "decimal(4,4)", "-0.5000"),
        ("0", "decimal(6,6)", "0.000000"),
        ("12.3456789", "decimal(20,7)", "12.3456789"),
        (None, "decimal(20,10)", None),
    ],
)
def test_decimals_are_printed_as_java_does(answer, number, kind, wanted):
    assert answer(of("Cast", literal(number, kind), dataType="string").sql) == wanted


@pytest.mark.parametrize(
    ("value", "kind", "wanted"),
    [
        (b"\xca\xfe", "binary", b"\xca\xfe"),
        (b"", "binary", b""),
        (["a, b", " c ", "", "null", None, "it's"], '["string"]', ["a, b", " c ", "", "null", None, "it's"]),
        (["1.50", None], '["decimal(3,2)"]', [Decimal("1.50"), None]),
        ([["1"], []], '["[\\"long\\"]"]', [[1], []]),
        ([], '["double"]', []),
        (None, '["double"]', None),
    ],
)
def test_literals_that_the_text_of_a_plan_does_not_hold(answer, value, kind, wanted):
    assert answer(literal_of(value, kind).sql) == wanted


@given(st.floats(-1e9, 1e9), st.integers(1, 5))
def test_floating_point_numbers_are_rounded_as_they_are_printed(answer, number, places):
    found = answer(of("Round", literal(repr(number), "double"), literal(str(places), "integer")).sql)

    assert found == float(Decimal(repr(number)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))


@pytest.mark.parametrize(
    "value",
    [
        of("Divide", literal("1", "double"), literal("0", "double")),
        of("Divide", literal("1.00", "decimal(5,2)"), literal("0.00", "decimal(5,2)")),
        of("Upper", literal("größe", "string")),
        of("Cast", literal("2026-2-3", "string"), dataType="date"),
        of("Cast", literal("1e3", "string"), dataType="decimal(10,2)"),
        of("Cast", literal("1.005", "string"), dataType="decimal(10,2)"),
        of("Cast", literal("1e40", "double"), dataType="decimal(10,2)"),
        of("Add", literal("127", "byte"), literal("1", "byte")),
        of("Round", literal("1e15", "double"), literal("2", "integer")),
        of("ShiftRight", literal("-1", "long"), literal("1", "integer")),
        of("Cast", literal("0", "decimal(20,10)"), dataType="string"),
        of("Cast", literal("0.0000009", "decimal(9,9)"), dataType="string"),
        of("GetArrayItem", LIST, literal("2", "integer"), failOnError=True),
        of("ElementAt", LIST, literal("3", "integer"), failOnError=True),
        of("ElementAt", LIST, literal("-3", "integer"), failOnError=True),
    ],
)
def test_values_that_spark_decides_end_the_query(answer, value):
    with pytest.raises(duckdb.Error):
        answer(value.sql)


@pytest.mark.parametrize("name", ["Divide", "Upper", "Round", "ShiftRight"])
def test_nulls_stay_null(answer, name):
    kinds = {"Upper": ["string"], "Round": ["double"], "ShiftRight": ["long", "integer"]}.get(
        name, ["double", "double"]
    )
    values = [literal(None, kind) for kind in kinds]
    more = [literal("1", "integer")] if name == "Round" else []

    assert answer(of(name, *values, *more).sql) is None


@pytest.mark.parametrize(
    ("name", "values", "fields"),
    [
        ("Literal", [], {"dataType": "date", "value": "1500-01-01"}),
        ("Literal", [], {"dataType": "timestamp_ntz", "value": "1234567"}),
        ("Literal", [], {"dataType": "string", "value": "a\0b"}),
        ("Literal", [], {"dataType": "binary", "value": "[B@163ce569"}),
        ("Literal", [], {"dataType": {"type": "array", "elementType": "string"}, "value": "[a, b]"}),
        ("Literal", [], {"dataType": {"type": "struct", "fields": [{"name": "a", "type": "long"}]}, "value": "[1]"}),
        ("Cast", [Value("c", "decimal(38,38)")], {"dataType": "string"}),
        ("Like", [Value("c", "string"), literal("a\\_", "string")], {}),
        ("Like", [Value("c", "string"), Value("d", "string")], {}),
        ("Substring", [Value("c", "string"), literal("-1", "integer"), literal("1", "integer")], {}),
        ("Substring", [Value("c", "string"), Value("d", "integer"), literal("1", "integer")], {}),
        ("Cast", [Value("c", "decimal(20,2)")], {"dataType": "double"}),
        ("Cast", [Value("c", "string")], {"dataType": "boolean"}),
        ("EqualTo", [Value("c", "long"), Value("d", "integer")], {}),
        ("Round", [Value("c", "double"), literal("-1", "integer")], {}),
        ("GetArrayItem", [LIST, literal("-1", "integer")], {"failOnError": False}),
        ("GetArrayItem", [LIST, Value("c", "integer")], {"failOnError": False}),
        ("ElementAt", [LIST, literal("0", "integer")], {"failOnError": False}),
        ("ElementAt", [Value("c", "string"), literal("1", "integer")], {"failOnError": False}),
        ("Size", [Value("c", "string")], {"legacySizeOfNull": False}),
        ("EqualTo", [LIST, LIST], {}),
        ("EqualNullSafe", [STRUCT, STRUCT], {}),
        ("In", [Value("c", "float"), Value("d", "float")], {}),
    ],
)
def test_expressions_that_only_spark_can_compute(name, values, fields):
    with pytest.raises(NotTranslated):
        EXPRESSIONS[name](fields, values)


def test_a_text_that_may_stand_for_invalid_utf_8_is_left_to_spark():
    for translate in (
        lambda: literal("\ufffd", "string"),
        lambda: literal_of(["a", "b\ufffd"], '["string"]'),
        lambda: in_set(Value("s", "string"), ["a", "\ufffd"]),
    ):
        with pytest.raises(NotTranslated, match="UTF-8"):
            translate()


@pytest.mark.parametrize(
    ("number", "kind", "wanted"),
    [
        ("0.9999999999999999999", "decimal(38,19)", None),
        ("-999999.99999999999999", "decimal(20,14)", None),
        ("999999.9999", "decimal(20,4)", 999999),
        ("-2.5", "decimal(38,19)", -2),
        ("0.99999999999999", "decimal(14,14)", 0),
    ],
)
def test_a_decimal_of_many_digits_that_is_nearly_an_integer_becomes_one_in_spark_alone(answer, number, kind, wanted):
    for integer in ("byte", "short", "integer"):
        if integer == "integer" or abs(Decimal(number)) < 100:
            sql = of("Cast", literal(number, kind), dataType=integer).sql
            if wanted is None:
                with pytest.raises(duckdb.Error, match="read by Spark"):
                    answer(sql)
            else:
                assert answer(sql) == wanted
