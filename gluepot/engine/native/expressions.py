"""Translates Spark's expressions, beside aggregates, into SQL of DuckDB. Pure.

Only what both compute exactly alike is translated. Where they differ for some values, such as texts that one of them
takes for a number and the other does not, the SQL raises an error for such a value, and Spark runs the query instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from gluepot.engine.native.nodes import Node
from gluepot.engine.native.parts import alike, cast, compared, guarded, null, of_digits, quotient, text, unscaled
from gluepot.engine.native.types import (
    INTEGERS,
    MOST_DIGITS,
    NotTranslated,
    Value,
    added_kind,
    digits,
    divided_kind,
    element_of,
    fields_of,
    is_decimal,
    multiplied_kind,
    rounded_kind,
    sql_type,
    translated_kind,
)

Translate: TypeAlias = Callable[[Node, Sequence[Value]], Value]

_COMPARISONS = {
    "EqualTo": "=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "EqualNullSafe": "IS NOT DISTINCT FROM",
}
_ARITHMETIC = {"Add": "+", "Subtract": "-", "Multiply": "*"}
_DATE_PARTS = {"Year": "year", "Quarter": "quarter", "Month": "month", "DayOfMonth": "day", "DayOfYear": "dayofyear"}
# Texts that Spark and DuckDB read as the same value. Digits are few enough to fit.
_TEXTS = {
    "integer": "-?[0-9]{1,9}",
    "long": "-?[0-9]{1,18}",
    "double": "-?[0-9]{1,15}([.][0-9]{1,15})?",
    "date": "[0-9]{4}-[0-9]{2}-[0-9]{2}",
}
BLANKS_ARE_NULL = "blanks are null"
"""The name of a field of a cast, which the plan adds if the cast makes blank texts null."""
_ESCAPE = "\\"
_ASCII = "[\\x00-\\x7F]*"
# Integers of so many digits are the same as floating-point numbers.
_DOUBLE_DIGITS = 15
# Doubles of 32 bits before the point are closer together than half a unit of this place.
_SAFE_SCALE = 6
# Java prints every number with so few digits after the point without an exponent.
_PLAIN_SCALE = 6
# Spark changes the sign of a decimal with Scala's decimals, which have so many digits.
_MOST_NEGATED_DIGITS = 34
# Before the calendar's reform Spark writes other dates into its plans than it means.
_FIRST_DATE = "1600-01-01"
_LAST_DATE = "9999-12-31"


def _literal(node: Node, _: Sequence[Value]) -> Value:
    """Translate a literal.

    JSON of a plan has the text that Java prints for a value. That is not the value of a binary, an array or a struct,
    which `literal_of` translates.
    """
    kind, value = translated_kind(node["dataType"]), node["value"]
    if not kind:
        raise NotTranslated("Literal")
    if value is None:
        return Value(null(kind), kind)
    if kind == "binary" or element_of(kind) or fields_of(kind):
        raise NotTranslated("Literal")
    is_known_date = kind == "date" and _FIRST_DATE <= value <= _LAST_DATE and len(value) == len(_LAST_DATE)
    is_known_time = kind == "timestamp" and value >= _FIRST_DATE and value[4:5] == "-"
    if (kind == "date" and not is_known_date) or (kind.startswith("timestamp") and not is_known_time):
        raise NotTranslated(f"Literal of {kind}")
    return replace(cast(text(str(value)), kind), constant=str(value))


def literal_of(value: object, kind: str) -> Value:
    """Return the value of a literal that JSON of a plan does not hold.

    Args:
        value: bytes of a binary; of an array, a list of its elements; other values as Spark prints them. None is null.
        kind: its type.

    Raises:
        NotTranslated: the type is another one.
    """
    if value is None:
        return Value(null(kind), kind)
    if kind == "binary" and isinstance(value, bytes):
        return cast(f"unhex('{value.hex()}')", kind)
    if (element := element_of(kind)) and isinstance(value, list):
        return cast(f"[{', '.join(literal_of(one, element).sql for one in value)}]", kind)
    if isinstance(value, str) and (kind in {*INTEGERS, "string", "boolean", "float", "double"} or is_decimal(kind)):
        return cast(text(value), kind)
    raise NotTranslated("Literal")


def _comparison(operator: str, _: Node, values: Sequence[Value]) -> Value:
    left, right = compared(values)
    return Value(f"({left.sql} {operator} {right.sql})", "boolean")


def _logic(operator: str, _: Node, values: Sequence[Value]) -> Value:
    return Value(f"({f' {operator} '.join(one.sql for one in values)})", "boolean")


def _arithmetic(operator: str, _: Node, values: Sequence[Value]) -> Value:
    left, right = values
    if is_decimal(left.kind) and is_decimal(right.kind):
        if operator == "*":
            return _product(left, right)
        kind = added_kind(left.kind, right.kind)
        return cast(f"{cast(left.sql, kind).sql} {operator} {cast(right.sql, kind).sql}", kind)
    if left.kind != right.kind or left.kind not in {*INTEGERS, "double"}:
        raise NotTranslated(f"{left.kind} {operator}")
    # DuckDB raises an error if an integer leaves its type, as the cast does.
    return cast(f"{left.sql} {operator} {right.sql}", left.kind)


def _product(left: Value, right: Value) -> Value:
    kind = multiplied_kind(left.kind, right.kind)
    dropped = digits(left.kind)[1] + digits(right.kind)[1] - digits(kind)[1]
    if not dropped:
        return cast(f"{left.sql} * {right.sql}", kind)
    return quotient(f"({unscaled(left)} * {unscaled(right)})", f"{10**dropped}::HUGEINT", kind)


def _divided(_: Node, values: Sequence[Value]) -> Value:
    left, right = values
    if left.kind == right.kind == "double":
        return Value(f"({left.sql} / {guarded(f'coalesce({right.sql} <> 0, true)', right.sql, 'DOUBLE')})", "double")
    kind = divided_kind(left.kind, right.kind)
    more = digits(kind)[1] - digits(left.kind)[1] + digits(right.kind)[1]
    if more < 0:
        raise NotTranslated("Divide")
    divisor = guarded(f"coalesce({right.sql} <> 0, true)", f"abs({unscaled(right)})", "HUGEINT")
    return quotient(f"({unscaled(left)} * {10**more}::HUGEINT * sign({right.sql}))", divisor, kind)


def _places(value: Value) -> int:
    """Return an integer that a query names, such as the places of `round`.

    Raises:
        NotTranslated: it is computed.
    """
    if value.kind != "integer" or value.constant is None:
        raise NotTranslated("not a literal")
    return int(value.constant)


def _rounded(_: Node, values: Sequence[Value]) -> Value:
    number, places = values[0], _places(values[1])
    if places < 0:
        raise NotTranslated("Round")
    if is_decimal(number.kind):
        return cast(number.sql, rounded_kind(number.kind, places))
    if number.kind != "double" or places >= _DOUBLE_DIGITS:
        raise NotTranslated("Round")
    if not places:
        return Value(f"(round({number.sql}) + 0.0)", "double")  # Spark knows no negative zero here
    # Spark rounds the digits that it would print.
    printed = f"CAST(CAST({number.sql} AS VARCHAR) AS DECIMAL({_DOUBLE_DIGITS + 1},{places}))"
    is_small = f"coalesce(abs({number.sql}) < 1e{_DOUBLE_DIGITS - places}, true)"
    return Value(guarded(is_small, f"CAST({printed} AS DOUBLE)", "DOUBLE"), "double")


def _chosen(_: Node, values: Sequence[Value]) -> Value:
    """Translate `If` and `CaseWhen`: pairs of condition and value, then perhaps a last value."""
    pairs, rest = values[: len(values) // 2 * 2], values[len(values) // 2 * 2 :]
    kind = alike([*pairs[1::2], *rest])[0].kind
    cases = " ".join(f"WHEN {when.sql} THEN {then.sql}" for when, then in zip(pairs[::2], pairs[1::2], strict=True))
    otherwise = f" ELSE {rest[0].sql}" if rest else ""
    return Value(f"(CASE {cases}{otherwise} END)", kind)


def _cast(node: Node, values: Sequence[Value]) -> Value:
    (given,), wanted = values, translated_kind(node["dataType"])
    if given.kind == wanted:
        return given
    if is_decimal(given.kind) or is_decimal(wanted):
        return _decimal_cast(given, wanted, blanks_are_null=BLANKS_ARE_NULL in node)
    match given.kind, wanted:
        case ("byte" | "short" | "integer" | "long", "byte" | "short" | "integer" | "long" | "double" | "string"):
            return cast(given.sql, wanted)
        case ("boolean", "string" | "byte" | "short" | "integer" | "long" | "double"):
            return cast(given.sql, wanted)
        case ("double", "integer" | "long"):
            return cast(f"trunc({given.sql})", wanted)
        case ("string", "integer" | "long" | "double" | "date"):
            return _of_text(given, wanted, _TEXTS[wanted], blanks_are_null=BLANKS_ARE_NULL in node)
        case ("date", "string"):
            is_plain = f"coalesce({given.sql} BETWEEN DATE '{_FIRST_DATE}' AND DATE '{_LAST_DATE}', true)"
            return Value(guarded(is_plain, cast(given.sql, wanted).sql, sql_type(wanted)), wanted)
        case ("timestamp", "date") | ("timestamp_ntz", "date") | ("date", "timestamp") | ("date", "timestamp_ntz"):
            return cast(given.sql, wanted)
    raise NotTranslated(f"Cast from {given.kind} to {node['dataType']}")


def _decimal_cast(given: Value, wanted: str, *, blanks_are_null: bool) -> Value:
    """Cast to or from a decimal; both round half up."""
    if wanted and (given.kind in INTEGERS or (is_decimal(given.kind) and is_decimal(wanted))):
        return cast(given.sql, wanted)
    if given.kind == "double":
        return cast(f"CAST({given.sql} AS VARCHAR)", wanted)  # Spark takes the digits that it would print
    if given.kind == "string":
        precision, scale = digits(wanted)
        fraction = f"([.][0-9]{{1,{scale}}})?" if scale else ""
        pattern = f"-?[0-9]{{1,{max(1, precision - scale)}}}{fraction}"
        return _of_text(given, wanted, pattern, blanks_are_null=blanks_are_null)
    match wanted:
        case "double" if digits(given.kind)[0] <= _DOUBLE_DIGITS:
            return cast(given.sql, wanted)
        case "long":
            return cast(f"trunc({given.sql})", wanted)
        case "byte" | "short" | "integer":
            return _decimal_integer(given, wanted)
        case "string":
            return _decimal_text(given)
    raise NotTranslated(f"Cast from {given.kind} to {wanted}")


def _decimal_integer(given: Value, wanted: str) -> Value:
    """Return a decimal without its fraction.

    With ANSI, Spark takes a decimal of many digits for the nearest double first, so 0.99999999999999999999 becomes 1.
    JSON of a plan does not say whether a cast is ANSI's.
    """
    precision, scale = digits(given.kind)
    whole = cast(f"trunc({given.sql})", wanted)
    if precision <= _DOUBLE_DIGITS or scale <= _SAFE_SCALE:
        return whole
    rounded = f"CAST({given.sql} AS DECIMAL({MOST_DIGITS},{_SAFE_SCALE}))"
    is_plain = f"coalesce(trunc({given.sql}) = trunc({rounded}), true)"
    return Value(guarded(is_plain, whole.sql, sql_type(wanted)), wanted)


def _decimal_text(given: Value) -> Value:
    """Return the text of a decimal.

    Java prints a number with more than six zeros after the point with an exponent, unless the cast is ANSI's, which
    JSON of a plan does not say. DuckDB prints no zero before the point if the type has no digit there.
    """
    precision, scale = digits(given.kind)
    if precision == scale:
        if precision == MOST_DIGITS:
            raise NotTranslated(f"Cast from {given.kind} to string")
        given = cast(given.sql, f"decimal({precision + 1},{scale})")
    printed = cast(given.sql, "string").sql
    if scale <= _PLAIN_SCALE:
        return Value(printed, "string")
    is_plain = f"coalesce(abs({given.sql}) >= CAST('1e-{_PLAIN_SCALE}' AS DECIMAL({scale + 1},{scale})), true)"
    return Value(guarded(is_plain, printed, "VARCHAR"), "string")


def _of_text(given: Value, wanted: str, pattern: str, *, blanks_are_null: bool) -> Value:
    if blanks_are_null:
        pattern = f"{pattern}| *"
    is_plain = f"{given.sql} IS NULL OR regexp_full_match({given.sql}, '{pattern}')"
    function = "TRY_CAST" if blanks_are_null else "CAST"
    return Value(guarded(is_plain, f"{function}({given.sql} AS {sql_type(wanted)})", sql_type(wanted)), wanted)


def _substring(_: Node, values: Sequence[Value]) -> Value:
    given, start, length = values
    if given.kind != "string" or _places(start) < 1 or _places(length) < 0:
        raise NotTranslated("Substring")
    return Value(f"substring({given.sql}, {_places(start)}, {_places(length)})", "string")


def _found(function: str, _: Node, values: Sequence[Value]) -> Value:
    if {one.kind for one in values} != {"string"}:
        raise NotTranslated(function)
    return Value(f"{function}({values[0].sql}, {values[1].sql})", "boolean")


def _like(_: Node, values: Sequence[Value]) -> Value:
    given, pattern = values
    if pattern.kind != "string" or pattern.constant is None or _ESCAPE in pattern.constant:
        raise NotTranslated("Like")
    return Value(f"({given.sql} LIKE {pattern.sql})", "boolean")


def _in_ascii(function: str, _: Node, values: Sequence[Value]) -> Value:
    """Translate a change of case. Java and DuckDB have other tables of letters beyond ASCII."""
    (given,) = values
    is_plain = f"{given.sql} IS NULL OR regexp_full_match({given.sql}, '{_ASCII}')"
    return Value(guarded(is_plain, f"{function}({given.sql})", "VARCHAR"), "string")


def _concatenated(_: Node, values: Sequence[Value]) -> Value:
    if {one.kind for one in values} != {"string"}:
        raise NotTranslated("Concat")
    return Value(f"({' || '.join(one.sql for one in values)})", "string")


def _length(_: Node, values: Sequence[Value]) -> Value:
    if values[0].kind != "string":
        raise NotTranslated("Length")
    return cast(f"length({values[0].sql})", "integer")


def _trimmed(_: Node, values: Sequence[Value]) -> Value:
    if len(values) != 1:
        raise NotTranslated("StringTrim")
    return Value(f"trim({values[0].sql}, ' ')", "string")


def _date_part(function: str, _: Node, values: Sequence[Value]) -> Value:
    if values[0].kind != "date":
        raise NotTranslated(function)
    return cast(f"{function}({values[0].sql})", "integer")


def _moved_date(operator: str, _: Node, values: Sequence[Value]) -> Value:
    day, days = values
    if day.kind != "date" or days.kind not in INTEGERS:
        raise NotTranslated("DateAdd")
    return cast(f"{day.sql} {operator} {days.sql}", "date")


def _days_between(_: Node, values: Sequence[Value]) -> Value:
    if {one.kind for one in values} != {"date"}:
        raise NotTranslated("DateDiff")
    return cast(f"{values[0].sql} - {values[1].sql}", "integer")


def _signed(sql: str, _: Node, values: Sequence[Value]) -> Value:
    """Translate a change of sign, which must not lead beyond the type."""
    (given,) = values
    if given.kind not in {"integer", "long", "double"} and not is_decimal(given.kind):
        raise NotTranslated("sign")
    return cast(sql.format(given.sql), given.kind)


def _negated(node: Node, values: Sequence[Value]) -> Value:
    """Translate a minus. Spark rounds the negative of a decimal to 34 digits."""
    if is_decimal(values[0].kind) and digits(values[0].kind)[0] > _MOST_NEGATED_DIGITS:
        raise NotTranslated("minus")
    return _signed("-({})", node, values)


def _bits(operator: str, _: Node, values: Sequence[Value]) -> Value:
    """Translate an operation on bits, of numbers that are not negative."""
    left, right = values
    if left.kind not in INTEGERS or right.kind not in INTEGERS:
        raise NotTranslated("bits")
    is_plain = f"coalesce({left.sql} >= 0 AND {right.sql} BETWEEN 0 AND 31, true)"
    shifted = cast(f"{left.sql} {operator} {right.sql}", left.kind)
    return Value(guarded(is_plain, shifted.sql, sql_type(left.kind)), left.kind)


def _digits_of(_: Node, values: Sequence[Value]) -> Value:
    return cast(unscaled(values[0]), "long")


def _with_digits(node: Node, values: Sequence[Value]) -> Value:
    return of_digits(values[0].sql, f"decimal({node['precision']},{node['scale']})")


def _membership(_: Node, values: Sequence[Value]) -> Value:
    given, *others = compared(values)
    return Value(f"({given.sql} IN ({', '.join(one.sql for one in others)}))", "boolean")


def _field(node: Node, values: Sequence[Value]) -> Value:
    name, kind = fields_of(values[0].kind)[node["ordinal"]]
    return Value(f"struct_extract({values[0].sql}, {text(name)})", kind)


def _item(first: int, node: Node, values: Sequence[Value]) -> Value:
    """Translate an access to an array by a number that the query names.

    Args:
        first: the number of the first element; with 1, negative numbers count from the end.
        node: the expression.
        values: the array and the number.
    """
    array, place = values[0], _places(values[1])
    kind, number = element_of(array.kind), place + 1 - first
    if not kind or (place < 0 if first == 0 else place == 0):
        raise NotTranslated("item")
    found = f"list_extract({array.sql}, {number})"
    if node["failOnError"]:
        is_there = f"coalesce(len({array.sql}) >= {abs(number)}, true)"
        found = guarded(is_there, found, sql_type(kind))
    return Value(found, kind)


def _size(node: Node, values: Sequence[Value]) -> Value:
    (array,) = values
    if not element_of(array.kind):
        raise NotTranslated("Size")
    counted = f"len({array.sql})"
    return cast(f"coalesce({counted}, -1)" if node["legacySizeOfNull"] else counted, "integer")


def in_set(given: Value, values: Sequence[str | None]) -> Value:
    """Return whether an expression is one of many values.

    Args:
        given: the expression.
        values: as Spark keeps them: dates as days since 1970.

    Raises:
        NotTranslated: there are none, or Spark keeps values of the type in another way.
    """
    if not values or given.kind not in {*INTEGERS, "string", "date"}:
        raise NotTranslated("InSet")
    of_date = "DATE '1970-01-01' + {}" if given.kind == "date" else ""
    known = [null(given.kind) if one is None else of_date.format(int(one)) if of_date else text(one) for one in values]
    return Value(f"({given.sql} IN ({', '.join(cast(one, given.kind).sql for one in known)}))", "boolean")


EXPRESSIONS: Mapping[str, Translate] = {
    "Alias": lambda _, values: values[0],
    "Literal": _literal,
    **{kind: partial(_comparison, operator) for kind, operator in _COMPARISONS.items()},
    **{kind: partial(_arithmetic, operator) for kind, operator in _ARITHMETIC.items()},
    "Divide": _divided,
    "And": partial(_logic, "AND"),
    "Or": partial(_logic, "OR"),
    "Not": lambda _, values: Value(f"(NOT {values[0].sql})", "boolean"),
    "IsNull": lambda _, values: Value(f"({values[0].sql} IS NULL)", "boolean"),
    "IsNotNull": lambda _, values: Value(f"({values[0].sql} IS NOT NULL)", "boolean"),
    "In": _membership,
    "Coalesce": lambda _, values: Value(f"coalesce({', '.join(one.sql for one in alike(values))})", values[0].kind),
    "If": _chosen,
    "CaseWhen": _chosen,
    "Round": _rounded,
    "Cast": _cast,
    "Abs": partial(_signed, "abs({})"),
    "UnaryMinus": _negated,
    "BitwiseAnd": partial(_bits, "&"),
    "ShiftRight": partial(_bits, ">>"),
    "Substring": _substring,
    "StartsWith": partial(_found, "starts_with"),
    "EndsWith": partial(_found, "suffix"),
    "Contains": partial(_found, "contains"),
    "Like": _like,
    "Upper": partial(_in_ascii, "upper"),
    "Lower": partial(_in_ascii, "lower"),
    "Concat": _concatenated,
    "Length": _length,
    "StringTrim": _trimmed,
    **{kind: partial(_date_part, function) for kind, function in _DATE_PARTS.items()},
    "DateAdd": partial(_moved_date, "+"),
    "DateSub": partial(_moved_date, "-"),
    "DateDiff": _days_between,
    "GetStructField": _field,
    "GetArrayItem": partial(_item, 0),
    "ElementAt": partial(_item, 1),
    "Size": _size,
    "UnscaledValue": _digits_of,
    "MakeDecimal": _with_digits,
}
"""What becomes of an expression whose children are translated already, by the name of its class."""
