"""The types that are translated, as Spark's plans name them, and what arithmetic makes of decimals. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gluepot.core.duckdb_sql import quoted_name

_DUCKDB: Mapping[str, str] = {
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INTEGER",
    "long": "BIGINT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMPTZ",
    "timestamp_ntz": "TIMESTAMP",
}
INTEGERS = frozenset({"byte", "short", "integer", "long"})
EXACT = INTEGERS | {"string", "boolean", "date", "timestamp", "timestamp_ntz"}
"""Types beside decimals of which equal values are the same, so that they can be keys."""

_CARRIED: Mapping[str, str] = {"float": "FLOAT", "binary": "BLOB"}
"""Types whose values only go from one step to the next; nothing is computed of them."""

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
MOST_DIGITS = 38
_LEAST_SCALE = 6


class NotTranslated(Exception):
    """A part of a plan that only Spark can run."""


class NothingToWin(NotTranslated):
    """A plan that Spark runs as fast as anybody: it reads other data than ours, or only picks rows and columns."""


@dataclass(frozen=True, slots=True)
class Value:
    """An expression.

    Args:
        sql: of DuckDB.
        kind: Spark's name of its type; of a struct or an array, see `translated_kind`.
        constant: the text of a literal; None if the value is computed, or null.
    """

    sql: str
    kind: str
    constant: str | None = None


def translated_kind(kind: object) -> str:
    """Return a type that is translated, as Spark's plans name it; empty for any other.

    A text with another collation than that of its bytes has another name. A struct becomes JSON of an object with the
    types of its fields by their names, an array JSON of a list with the type of its elements.
    """
    match kind:
        case str():
            return kind if kind in _DUCKDB or kind in _CARRIED or _DECIMAL.fullmatch(kind) else ""
        case {"type": "struct", "fields": [*fields]}:
            names = [str(one["name"]) for one in fields]
            inner = [translated_kind(one["type"]) for one in fields]
            # DuckDB tells names apart as Spark's reader of Parquet does: not by their case.
            are_distinct = len({one.casefold() for one in names}) == len(names) and all(
                one.isprintable() for one in names
            )
            return json.dumps(dict(zip(names, inner, strict=True))) if names and all(inner) and are_distinct else ""
        case {"type": "array", "elementType": element}:
            inner_kind = translated_kind(element)
            return json.dumps([inner_kind]) if inner_kind else ""
    return ""


def sql_type(kind: str) -> str:
    """Return DuckDB's name of a type that is translated."""
    if fields := fields_of(kind):
        return f"STRUCT({', '.join(f'{quoted_name(name)} {sql_type(one)}' for name, one in fields)})"
    if element := element_of(kind):
        return f"{sql_type(element)}[]"
    return _DUCKDB.get(kind) or _CARRIED.get(kind) or kind.upper()


def fields_of(kind: str) -> Sequence[tuple[str, str]]:
    """Return names and types of the fields of a struct; nothing for another type."""
    return tuple(json.loads(kind).items()) if kind.startswith("{") else ()


def element_of(kind: str) -> str:
    """Return the type of the elements of an array; empty for another type."""
    return str(json.loads(kind)[0]) if kind.startswith("[") else ""


def is_compared(kind: str) -> bool:
    """Return whether values of a type are compared and ordered as Spark does it."""
    return kind in _DUCKDB or is_decimal(kind)


def is_exact(kind: str) -> bool:
    """Return whether equal values of a type are the same."""
    return kind in EXACT or is_decimal(kind)


def is_decimal(kind: str) -> bool:
    """Return whether a type is a decimal."""
    return _DECIMAL.fullmatch(kind) is not None


def digits(kind: str) -> tuple[int, int]:
    """Return precision and scale of a decimal.

    Raises:
        NotTranslated: the type is none.
    """
    if found := _DECIMAL.fullmatch(kind):
        return int(found[1]), int(found[2])
    raise NotTranslated(kind)


def sum_kind(kind: str) -> str:
    """Return the type of a sum of decimals in Spark."""
    precision, scale = digits(kind)
    return _decimal(min(MOST_DIGITS, precision + 10), scale)


def average_kind(kind: str) -> str:
    """Return the type of an average of decimals in Spark."""
    precision, scale = digits(kind)
    return _decimal(min(MOST_DIGITS, precision + 4), min(MOST_DIGITS, scale + 4))


def added_kind(left: str, right: str) -> str:
    """Return the type of a sum or difference of two decimals in Spark.

    Raises:
        NotTranslated: the result has more digits than Spark keeps, so that it rounds.
    """
    (left_precision, left_scale), (right_precision, right_scale) = digits(left), digits(right)
    scale = max(left_scale, right_scale)
    whole = max(left_precision - left_scale, right_precision - right_scale)
    kept = _kept(whole + scale + 1, scale)
    if digits(kept)[1] != scale:
        raise NotTranslated("rounded decimal")
    return kept


def multiplied_kind(left: str, right: str) -> str:
    """Return the type of a product of two decimals in Spark, which rounds it if it has more digits than Spark keeps."""
    (left_precision, left_scale), (right_precision, right_scale) = digits(left), digits(right)
    return _kept(left_precision + right_precision + 1, left_scale + right_scale)


def divided_kind(left: str, right: str) -> str:
    """Return the type of a quotient of two decimals in Spark."""
    (left_precision, left_scale), (right_precision, right_scale) = digits(left), digits(right)
    scale = max(_LEAST_SCALE, left_scale + right_precision + 1)
    return _kept(left_precision - left_scale + right_scale + scale, scale)


def rounded_kind(kind: str, places: int) -> str:
    """Return the type of a decimal that Spark's `round` rounds to some places after the point, at least 0."""
    precision, scale = digits(kind)
    kept = min(scale, places)
    return _decimal(min(MOST_DIGITS, precision - scale + 1 + kept), kept)


def _kept(precision: int, scale: int) -> str:
    """Return what Spark keeps of a result: digits before the point first, but at least six after it."""
    if precision <= MOST_DIGITS:
        return _decimal(precision, scale)
    return _decimal(MOST_DIGITS, max(MOST_DIGITS - (precision - scale), min(scale, _LEAST_SCALE)))


def _decimal(precision: int, scale: int) -> str:
    return f"decimal({precision},{scale})"
