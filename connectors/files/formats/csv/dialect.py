r"""The rules of CSV that readers and the writer share.

A null is nothing between two separators, and an empty text is a pair of quotes, as Spark writes them. A quote within a
quoted value is doubled. In a file without quotes a backslash stands before separators and backslashes, and line breaks
are `\n` and `\r`. Glue's reader understands such a file with `escaper` set to a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from gluepot.core.errors import ConfigError

_SPELLED = {"\\t": "\t", "\\u0001": "\x01"}
_UNESCAPED = {"n": "\n", "r": "\r"}


def character(name: str, value: object, *, ascii_only: bool) -> str:
    """Return an option that is one character, as it is or spelled as in Java.

    Args:
        name: of the option, for the message.
        value: as the script gives it.
        ascii_only: whether Arrow parses with it, which knows no other characters.

    Raises:
        ConfigError: it is something else, or a line break.
    """
    text = _SPELLED.get(str(value), str(value))
    if len(text) != 1 or text in "\r\n" or (ascii_only and not text.isascii()):
        kind = "ASCII character" if ascii_only else "character"
        raise ConfigError(f"{name} is {value!r}; give one {kind} other than a line break")
    return text


def separator_and_quote(options: Mapping[str, Any], *, ascii_only: bool) -> tuple[str, str | None]:
    """Return Glue's options `separator` and `quoteChar`; the quote is None where `quoteChar` is -1.

    Raises:
        ConfigError: one of them is not one character.
    """
    quote = options.get("quoteChar", '"')
    return (
        character("separator", options.get("separator", ","), ascii_only=ascii_only),
        None if str(quote) == "-1" else character("quoteChar", quote, ascii_only=ascii_only),
    )


def convert_options(names: Iterable[str], kind: pa.DataType) -> arrow_csv.ConvertOptions:
    """Return how Arrow tells nulls from empty texts, in columns of one type."""
    return arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(names, kind),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )


def quoted(separator: str, quote: str) -> Callable[[str], str]:
    """Return what writes a value between quotes where it must be."""
    special = re.compile(f"[{re.escape(separator + quote)}\n\r]").search

    def cell(value: str) -> str:
        return f"{quote}{value.replace(quote, quote * 2)}{quote}" if not value or special(value) else value

    return cell


def escaped(separator: str) -> Callable[[str], str]:
    """Return what writes a value in a file without quotes."""
    escapes = str.maketrans({"\\": "\\\\", separator: f"\\{separator}", "\n": "\\n", "\r": "\\r"})
    return lambda value: value.translate(escapes)


def escaped_cell(separator: str) -> re.Pattern[str]:
    """Return the pattern of one cell in a line of a file without quotes."""
    separator = re.escape(separator)
    return re.compile(rf"((?:[^\\{separator}]|\\.)*)(?:{separator}|$)")


def unescaped(cell: str) -> str | None:
    """Return the value that `escaped` wrote; None where there is nothing."""
    return re.sub(r"\\(.)", lambda escape: _UNESCAPED.get(escape[1], escape[1]), cell) or None
