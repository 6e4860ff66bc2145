"""Reads CSV a record at a time, where Arrow's parser would give another answer.

It agrees with Arrow on everything but two points. A value ends with its line unless the caller passes more lines; Arrow
reads on to the next quote. And `n`, `r`, `t` and `0` after an escape character are control characters, as Glue
documents it; Arrow takes them as letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
_BREAK = re.compile(r"\r\n|\n|\r")


def no_more() -> str:
    """Return no further line: a record is one line."""
    return ""


class RowParser:
    """Parses records.

    Args:
        separator: one character.
        quote: one character; None for none.
        escape: one character before one that is meant literally; None for none.
    """

    def __init__(self, separator: str, quote: str | None, escape: str | None) -> None:
        self._quote = quote
        self._escape = escape
        self._outside = _one_of(separator, "\r", "\n", escape)
        self._inside = _one_of(quote, escape)

    def cells(self, line: str, more: Callable[[], str] = no_more) -> list[str]:
        """Return the values of a record.

        Args:
            line: its first line, with or without its line break.
            more: returns the next line with its line break, or an empty text at the end of the file.
        """
        cells, at = [], 0
        while True:
            parts: list[str] = []
            if self._quote is not None and line.startswith(self._quote, at):
                line, at = self._quoted(line, at + 1, parts, more)
            line, at = self._unquoted(line, at, parts, more)
            cells.append("".join(parts))
            if at >= len(line) or line[at] in "\r\n":
                return cells
            at += 1

    def _unquoted(self, line: str, at: int, parts: list[str], more: Callable[[], str]) -> tuple[str, int]:
        """Read up to a separator or the end of the record, and return where that is."""
        while True:
            special = self._outside.search(line, at)
            end = special.start() if special else len(line)
            parts.append(line[at:end])
            if end == len(line) or line[end] != self._escape:
                return line, end
            line, at = self._escaped(line, end + 1, parts, more)

    def _quoted(self, line: str, at: int, parts: list[str], more: Callable[[], str]) -> tuple[str, int]:
        """Read up to the end of a quoted value, and return the place behind it."""
        while True:
            special = self._inside.search(line, at)
            end = special.start() if special else len(line)
            parts.append(line[at:end])
            if special is None:
                line, at = more(), 0
                if not line:
                    return "", 0
            elif line[end] == self._escape:
                line, at = self._escaped(line, end + 1, parts, more)
            elif line.startswith(self._quote or "", end + 1):
                parts.append(line[end])
                at = end + 2
            else:
                return line, end + 1

    def _escaped(self, line: str, at: int, parts: list[str], more: Callable[[], str]) -> tuple[str, int]:
        if at >= len(line):  # nothing follows
            parts.append(self._escape or "")
            return line, at
        if line_break := _BREAK.match(line, at):
            parts.append(line_break[0])
            return more(), 0
        parts.append(_CONTROLS.get(line[at], line[at]))
        return line, at + 1


def _one_of(*characters: str | None) -> re.Pattern[str]:
    known = "".join(re.escape(one) for one in characters if one is not None)
    return re.compile(f"[{known}]" if known else r"(?!)")
