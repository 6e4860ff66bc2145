"""Reads JSON that was stored or sent, and may be anything by now. Pure."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

UNFIT: Final = (ValueError, KeyError, TypeError, AttributeError, OverflowError, OSError, NotImplementedError)
"""What reading the values of a parsed text raises if they are not what was written there.

Types may be wrong, fields may be missing, numbers may be out of range, and schemas of Arrow may be damaged.
"""

# Escapes of surrogates, which are right in pairs only.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parsed_json(text: str | bytes) -> Any:
    """Return the value that a JSON text describes.

    Raises:
        ValueError: the text is not JSON, which has neither infinity nor NaN; or lists and objects in it are nested more
            deeply than Python can read; or a text in it has half of a surrogate pair, which no encoding can write.
    """
    try:
        if isinstance(text, bytes):  # `loads` would take halves of surrogate pairs
            text = text.decode(json.detect_encoding(text))
        found = json.loads(text, parse_constant=_finite, parse_float=_finite)
        if _SURROGATE.search(text):
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("lists and objects are nested too deeply") from None
    return found


def _finite(text: str) -> float:
    """Return a number; what is kept must be JSON again when it is returned, and integers are made of numbers."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number
