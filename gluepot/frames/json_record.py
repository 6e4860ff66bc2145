"""One record's JSON, read strictly: an object, or the reason why not."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import orjson

from gluepot.frames.json_footprint import MAX_DEPTH, excess
from gluepot.frames.refusal import Refusal, no_value, not_utf8

# Records up to this length are read without an estimate of their memory.
LONG_BYTES = 256 << 10

# orjson reads integers beyond 64 bits as doubles. None has fewer digits than these.
_BIG = re.compile(rb"[:\[,\s](?:-[0-9]{19}|[0-9]{20})")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def read_record(value: bytes | None) -> dict[str, Any] | Refusal:
    """Return the object a record holds. Of a key given twice the last value counts; NaN and Infinity are not JSON.

    Integers keep all their digits.
    """
    if value is None:
        return no_value()
    if (refusal := oversize(value)) is not None:
        return refusal
    try:
        document = loads(value)
    except orjson.JSONDecodeError as error:
        return _unreadable(value, error)
    if not isinstance(document, dict):
        return Refusal("not_an_object", f"The record is a JSON {_json_kind(document)}, not an object.")
    return document


def loads(text: bytes) -> Any:
    """Return the value of a JSON text, with integers of any size.

    Raises:
        orjson.JSONDecodeError: the text is not JSON, or has a number beyond all doubles.
    """
    document = orjson.loads(text)
    # After orjson, which is stricter: Python's own reader also takes NaN, and surrogates without a partner.
    return json.loads(text) if _BIG.search(text) else document


def dumps(value: Any) -> bytes:
    """Return the JSON of a value that `loads` returned, with all its digits."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # integers beyond 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def oversize(value: bytes) -> Refusal | None:
    """Return the refusal of a record that must not be read, because it is too deep or takes too much memory."""
    if len(value) > LONG_BYTES:
        return excess(value)
    if is_too_deep(value):
        return Refusal("too_deep", f"The record is nested more than {MAX_DEPTH} levels deep.")
    return None


def is_too_deep(value: bytes) -> bool:
    """Tell whether more than MAX_DEPTH objects and arrays are open at once, up to where the text stops being JSON."""
    if value.count(b"{") + value.count(b"[") <= MAX_DEPTH:
        return False
    text = np.frombuffer(_STRING.sub(b"", value), np.uint8) | 0x20  # folds [ on {, and ] on }
    steps = (text == ord("{")).astype(np.int32) - (text == ord("}"))
    return bool(np.cumsum(steps).max(initial=0) > MAX_DEPTH)


def _unreadable(value: bytes, error: orjson.JSONDecodeError) -> Refusal:
    try:
        value.decode()
    except UnicodeDecodeError as not_text:
        return not_utf8(not_text)
    return Refusal("malformed_json", f"The record is not JSON: {error}.")


def _json_kind(document: Any) -> str:
    match document:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "number"
