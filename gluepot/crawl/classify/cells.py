"""Types of texts, as CSV and XML have them (docs/glue 11.6). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pyarrow as pa

_INT64 = range(-(2**63), 2**63)
_INTEGER = re.compile(r"[+-]?\d{1,19}")
_DOUBLE = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_TIMESTAMP = re.compile(_DATE.pattern + r"[ T](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?")
_BOOLEANS = frozenset({"true", "false"})
_NUMBERS = frozenset({"bigint", "double"})

ARROW: Mapping[str, pa.DataType] = {
    "": pa.null(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "string": pa.string(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "float": pa.float32(),
    "decimal": pa.decimal128(38, 18),
    "binary": pa.binary(),
}
"""The types of cells as Arrow has them; those after `string` are only chosen by a person."""


def cell_type(text: str) -> str:
    """Return Hive's name of the type that a text has; empty for an empty text."""
    text = text.strip()
    if not text:
        return ""
    if _INTEGER.fullmatch(text):
        return "bigint" if int(text) in _INT64 else "string"
    if _DOUBLE.fullmatch(text) and not text.lstrip("+-").isdecimal():
        return "double"
    if text.lower() in _BOOLEANS:
        return "boolean"
    if _DATE.fullmatch(text):
        return "date"
    return "timestamp" if _TIMESTAMP.fullmatch(text) else "string"


def column_type(texts: Iterable[str | None]) -> str:
    """Return the type that all texts of a column have; empty if all of them are."""
    held = ""
    for text in texts:
        held = _both(held, cell_type(text or ""))
        if held == "string":
            break
    return held


def _both(left: str, right: str) -> str:
    if left == right or not right:
        return left
    if not left:
        return right
    return "double" if {left, right} == _NUMBERS else "string"
