"""Values as JSON text."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.chunk import is_choice
from gluepot.frames.columns import Column, children_of
from gluepot.frames.rows import plain_values

_WORDS = {"nan": "NaN", "-nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def json_texts(column: Column) -> pa.StringArray:
    """Return each value as text: strings unchanged, all other values as JSON; null stays null.

    Fields of structs that are null are left out, as Spark's `to_json` does. Binary is base64, times are ISO 8601.
    """
    kind = column.field.type
    if is_choice(column.field):
        return pc.coalesce(*(json_texts(one) for one in children_of(column)))
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_temporal(kind):
        return pa.array([_text(value) for value in plain_values(column)], pa.string())
    texts = pc.cast(column.array, pa.string())
    return _with_words(texts, column.array) if pa.types.is_floating(kind) else texts


def _with_words(texts: pa.StringArray, floats: pa.Array) -> pa.StringArray:
    """Write the values that are no numbers as Java and our other writers do; Arrow writes `nan` and `inf`."""
    is_odd = pc.fill_null(pc.invert(pc.is_finite(floats)), fill_value=False)
    words = [_WORDS[text] for text in texts.filter(is_odd).to_pylist()]
    return pc.replace_with_mask(texts, is_odd, pa.array(words, pa.string())) if words else texts


def json_bytes(value: Any) -> bytes:
    """Return the JSON of a plain Python value; None inside objects is left out."""
    return orjson.dumps(_without_none(value), default=_other, option=orjson.OPT_NON_STR_KEYS)


def json_bytes_as_they_are(value: Any) -> bytes:
    """Return the same of a value whose texts have surrogates for bytes that are not UTF-8; the JSON has these bytes."""

    def other(found: Any) -> Any:
        return orjson.loads(orjson.dumps(found, default=_other))

    text = json.dumps(_without_none(value), default=other, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="surrogateescape")


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = json_bytes(value).decode()
    return text if isinstance(value, dict | list) else text.strip('"')


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]
    return value


def _other(value: Any) -> str:
    """Return the text of a value that JSON cannot represent; for an unexpected type, its `repr()`."""
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    return str(value) if isinstance(value, Decimal) else repr(value)
