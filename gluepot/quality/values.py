"""Which values of a column fulfil a condition, found for a whole Arrow array at a time (docs/glue 12.3)."""

from __future__ import annotations

from collections.abc import Container
from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.core.patterns.expressions import Expression, TooSlow, expression
from gluepot.core.patterns.syntax import Invalid
from gluepot.frames.cast import try_cast
from gluepot.frames.schema.glue_types import TIMESTAMP, arrow_type, glue_name
from gluepot.quality.date_patterns import date_pattern
from gluepot.quality.dqdl.rule_types import Kind
from gluepot.quality.dqdl.ruleset import Keyword, Operator
from gluepot.quality.numbers import Comparison, Operand, RuleError

NUMBERS = frozenset({"byte", "short", "int", "long", "float", "double", "decimal"})
TIMES = frozenset({"date", "timestamp"})
NESTED = frozenset({"struct", "array", "map"})

_PASS_NULL = frozenset({Operator.UNEQUAL, Operator.NOT_IN})
_COMPARE = {
    Operator.MORE: pc.greater,
    Operator.AT_LEAST: pc.greater_equal,
    Operator.LESS: pc.less,
    Operator.AT_MOST: pc.less_equal,
}
DATA_TYPES = {
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "INTEGER": "int",
    "LONG": "long",
    "FLOAT": "float",
    "DOUBLE": "double",
}
"""Glue's name of each type that `ColumnDataType` knows, beside DECIMAL(p,s)."""

_MATCH_SECS = 1.0  # as for a line and a grok pattern


def fulfilled(array: pa.Array, test: Comparison) -> pa.BooleanArray:
    """Return for each value whether it fulfils the condition; never null.

    NULL fulfils `!=` and `not in`, unless these name NULL, and no other condition, unless that names NULL. NaN counts
    as larger than every number, as in Spark.

    Args:
        array: numbers for a condition on numbers; dates, time stamps or texts for one on dates; anything that is not
            nested for one on texts.
        test: the condition.

    Raises:
        RuleError: the values have another type.
    """
    names_null = Keyword.NULL in test.operands
    passes_null = names_null != (test.operator in _PASS_NULL) and test.kind is not Kind.DURATION
    match test.kind:
        case Kind.STRING:
            found = _texts_fulfil(_as_texts(array), test)
        case Kind.DATE:
            found = _numbers_fulfil(epoch_secs(array), test)
        case _:
            found = _numbers_fulfil(array, test)
    return pc.fill_null(pc.if_else(pc.is_null(array), pa.scalar(passes_null), found), pa.scalar(False))


def _numbers_fulfil(array: pa.Array, test: Comparison) -> pa.BooleanArray:
    numbers = [one for one in test.operands if not isinstance(one, (Keyword, str))]
    values = _comparable(array, numbers)

    def compared(operator: Operator, number: float) -> pa.BooleanArray:
        return _COMPARE[operator](values, _scalar(number, values.type))

    match test.operator:
        case Operator.BETWEEN:
            return pc.and_(compared(Operator.MORE, numbers[0]), compared(Operator.LESS, numbers[1]))
        case Operator.NOT_BETWEEN:
            return pc.or_(compared(Operator.AT_MOST, numbers[0]), compared(Operator.AT_LEAST, numbers[1]))
        case Operator.EQUAL | Operator.IN:
            return _is_in(values, numbers)
        case Operator.UNEQUAL | Operator.NOT_IN:
            return pc.invert(_is_in(values, numbers))
        case _:
            return compared(test.operator, numbers[0])


def _is_in(values: pa.Array, wanted: list[float]) -> pa.BooleanArray:
    found = pa.scalar(False)
    for one in wanted:
        found = pc.or_(found, pc.equal(values, _scalar(one, values.type)))
    return found if isinstance(found, pa.Array) else pc.and_(pc.is_null(values), pa.scalar(False))


def _scalar(number: float, data_type: pa.DataType) -> pa.Scalar:
    # Arrow refuses integers that a double cannot hold exactly.
    return pa.scalar(number if pa.types.is_integer(data_type) else float(number), data_type)


def _refuse_others(array: pa.Array, wanted: str, known: Container[str]) -> None:
    found = glue_name(array.type).partition("(")[0]
    if found not in known and found != "null":
        raise RuleError(f"The values are of type {found}, but the rule needs {wanted}.")


def _comparable(array: pa.Array, numbers: list[float]) -> pa.Array:
    """Return the values as 64-bit integers if all operands are whole and exact, else as doubles without NaN."""
    _refuse_others(array, "numbers", NUMBERS)
    if pa.types.is_integer(array.type) and all(isinstance(one, int) and abs(one) < 2**63 for one in numbers):
        return pc.cast(array, pa.int64())
    doubles = pc.cast(array, pa.float64(), safe=False)
    return pc.if_else(pc.is_nan(doubles), pa.scalar(float("inf")), doubles)


def epoch_secs(array: pa.Array) -> pa.Array:
    """Return dates, time stamps, or texts that Spark can cast to time stamps, as seconds since 1970; else null.

    Raises:
        RuleError: the values have another type.
    """
    _refuse_others(array, "dates", TIMES | {"string"})
    stamps = array if pa.types.is_timestamp(array.type) else try_cast(array, TIMESTAMP)
    micros = pc.cast(pc.cast(stamps, pa.timestamp("us", tz=stamps.type.tz), safe=False), pa.int64())
    return pc.divide(pc.cast(micros, pa.float64(), safe=False), pa.scalar(1e6))


def _as_texts(array: pa.Array) -> pa.Array:
    if pa.types.is_string(array.type):
        return array
    if pa.types.is_null(array.type):
        return array.cast(pa.string())
    if glue_name(array.type) in NESTED:
        raise RuleError("The values are nested; rules need plain columns.")
    return try_cast(array, pa.string())


def _texts_fulfil(texts: pa.Array, test: Comparison) -> pa.BooleanArray:
    match test.operator:
        case Operator.EQUAL | Operator.IN:
            return _is_one_of(texts, test.operands)
        case Operator.UNEQUAL | Operator.NOT_IN:
            return pc.invert(_is_one_of(texts, test.operands))
        case Operator.MATCHES:
            return has_match(texts, str(test.operands[0]))
        case _:
            return pc.invert(has_match(texts, str(test.operands[0])))


def _is_one_of(texts: pa.Array, wanted: tuple[Operand, ...]) -> pa.BooleanArray:
    literal = [one for one in wanted if isinstance(one, str)]
    if Keyword.EMPTY in wanted:
        literal.append("")
    # No pa.array of a list: the first one that a process makes imports pandas.
    one_each = [pa.repeat(pa.scalar(one, pa.string()), 1) for one in literal]
    found = pc.is_in(texts, pa.concat_arrays([pa.nulls(0, pa.string()), *one_each]))
    if Keyword.WHITESPACES_ONLY in wanted:
        is_blank = pc.and_(pc.equal(pc.utf8_trim_whitespace(texts), ""), pc.not_equal(texts, ""))
        found = pc.or_(found, is_blank)
    return found


def has_match(texts: pa.Array, pattern: str) -> pa.BooleanArray:
    """Return for each text whether the first match of a regular expression in it is not empty.

    Java's engine and RE2 agree on what RE2 knows. What RE2 refuses, such as lookaheads and back references, means what
    it means in Python, and runs text by text, with a deadline for each text.

    Raises:
        RuleError: neither engine knows the regular expression, or it takes too long on a text.
    """
    if error := check_pattern(pattern):
        raise RuleError(error)
    with suppress(pa.ArrowInvalid):
        if not pc.match_substring_regex(pa.scalar(""), pattern).as_py():
            return pc.match_substring_regex(texts, pattern)
    try:
        compiled = _expression(pattern)
    except Invalid:  # such as \p{L}*, which only RE2 knows
        return pc.match_substring_regex(texts, pattern)
    try:
        spans = [None if text is None else compiled.first(text) for text in texts.to_pylist()]
    except TooSlow as error:
        raise RuleError(str(error)) from None
    return pa.array([span is not None and span[0] < span[1] for span in spans], pa.bool_())


def has_part(text: str, pattern: str) -> bool:
    """Return whether a regular expression, as Python reads it, matches a part of a text, which may be empty.

    Raises:
        RuleError: it is not a regular expression, or takes too long on the text.
    """
    try:
        return _expression(pattern).occurs(text)
    except (Invalid, TooSlow) as error:
        raise RuleError(f"The regular expression {pattern} cannot be used: {error}.") from None


def _expression(pattern: str) -> Expression:
    return expression(pattern, secs=_MATCH_SECS)


def check_pattern(pattern: str) -> str:
    """Return why a regular expression cannot be used; an empty text if it can."""
    try:
        expression(pattern)
    except Invalid as error:
        try:
            pc.match_substring_regex(pa.scalar(""), pattern)
        except pa.ArrowInvalid:
            return f"The regular expression {pattern} is not valid: {error}."
    return ""


def castable(array: pa.Array, data_type: str, date_format: str = "") -> pa.BooleanArray:
    """Return for each value whether Spark can cast it to a type; NULL cannot be cast.

    Args:
        array: anything that is not nested.
        data_type: a name that `ColumnDataType` knows.
        date_format: how texts show a date or time stamp; empty for the forms that Spark casts.
    """
    if date_format and glue_name(array.type) not in TIMES:
        return date_pattern(date_format).fits(_as_texts(array))
    target = arrow_type(DATA_TYPES.get(data_type.upper(), data_type.lower()))
    return pc.is_valid(try_cast(array, target))


def lengths(array: pa.Array) -> pa.Array:
    """Return the lengths of texts in characters, 0 for NULL.

    Raises:
        RuleError: the values have another type.
    """
    _refuse_others(array, "texts", {"string"})
    return pc.fill_null(pc.utf8_length(_as_texts(array)), pa.scalar(0, pa.int32()))
