"""Parts of SQL of DuckDB that translated expressions consist of. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from gluepot.core.duckdb_sql import quoted_text
from gluepot.engine.native.types import MOST_DIGITS, NotTranslated, Value, digits, is_compared, sql_type

# Java prints it in place of bytes that are not valid UTF-8, which a string of Spark may have.
_REPLACEMENT = "\ufffd"


def text(value: str) -> str:
    """Return a text as a literal of SQL.

    Raises:
        NotTranslated: DuckDB's SQL cannot hold it, or the plan's JSON may not have the literal's own bytes.
    """
    if "\0" in value:
        raise NotTranslated("NUL")
    if _REPLACEMENT in value:
        raise NotTranslated("invalid UTF-8")
    return quoted_text(value)


def null(kind: str) -> str:
    """Return SQL of a null."""
    return f"CAST(NULL AS {sql_type(kind) if kind else 'INTEGER'})"


def guarded(is_plain: str, sql: str, kind: str) -> str:
    """Return SQL of a value that ends the query where a condition does not hold, because Spark decides what it is.

    Args:
        is_plain: the condition, never null.
        sql: the value.
        kind: its type, as DuckDB names it.
    """
    return f"(CASE WHEN {is_plain} THEN {sql} ELSE CAST(error('a value that is read by Spark') AS {kind}) END)"


def cast(sql: str, kind: str) -> Value:
    """Return an expression that is cast to a type."""
    return Value(f"CAST({sql} AS {sql_type(kind)})", kind)


def unscaled(value: Value) -> str:
    """Return SQL of a decimal's digits as an integer; `of_digits` does the reverse."""
    precision, scale = digits(value.kind)
    if precision + scale + 1 > MOST_DIGITS:
        return f"CAST(replace(CAST({value.sql} AS VARCHAR), '.', '') AS HUGEINT)"
    return f"CAST({value.sql} * CAST('{10**scale}' AS DECIMAL({scale + 1},0)) AS HUGEINT)"


def of_digits(digits_of: str, kind: str) -> Value:
    """Return a decimal whose digits are given as SQL of an integer."""
    scale = digits(kind)[1]
    unit = f"CAST('{10**-scale:.{scale}f}' AS DECIMAL({scale + 1},{scale}))"
    return cast(f"CAST({digits_of} AS DECIMAL({MOST_DIGITS},0)) * {unit}", kind)


def quotient(dividend: str, divisor: str, kind: str) -> Value:
    """Return a quotient of integers, rounded half up, as the digits of a decimal.

    Args:
        dividend: SQL of a HUGEINT; a null makes the quotient null.
        divisor: SQL of a HUGEINT above 0.
        kind: the decimal.
    """
    whole = f"(2 * {dividend} + sign({dividend}) * {divisor}) // (2 * {divisor})"  # `//` cuts off, towards 0
    return of_digits(whole, kind)


def alike(values: Sequence[Value]) -> Sequence[Value]:
    """Return values of one type.

    Raises:
        NotTranslated: they have several.
    """
    if len({one.kind for one in values}) != 1:
        raise NotTranslated("types")
    return values


def compared(values: Sequence[Value]) -> Sequence[Value]:
    """Return values of one type that are compared as Spark does it.

    Raises:
        NotTranslated: they have several types, or one that is only carried along.
    """
    if not all(is_compared(one.kind) for one in values):
        raise NotTranslated("comparison")
    return alike(values)
