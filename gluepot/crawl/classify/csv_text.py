"""CSV: which delimiter, whether there are quotes and a header, and the types of the columns (docs/glue 11.6). Pure."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from gluepot.crawl.classify.cells import ARROW, column_type
from gluepot.crawl.schemas import free_name

DELIMITERS = (",", "|", "\t", ";", "\x01")
"""What the built-in classifier tries."""

_MOST_ROWS = 1000
_MOST_COLUMNS = 20_000
# Lines that a reader sets aside are no reason to give the whole file up.
_REGULAR_SHARE = 0.9
_LONGEST_NAME = 150
# Glue's pattern of a column's name: anything that is printed, and tabs.
_NAME = re.compile(r"[\u0020-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF\t]*")

Header = bool | None
"""Whether there is a header; None lets the lines tell."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file is to be read.

    Args:
        delimiters: those to try, in order of preference among equals.
        quote: what values may stand in.
        header: whether the first line names the columns.
        names: of the columns, where they are given.
        single: whether one column is enough.
        types: names of types, where they are given, by place.
        trims: white space around values is not part of them.
    """

    delimiters: Sequence[str] = DELIMITERS
    quote: str = '"'
    header: Header = None
    names: Sequence[str] = ()
    single: bool = False
    types: Sequence[str] = ()
    trims: bool = False


@dataclass(frozen=True, slots=True)
class CsvShape:
    """What a text is as CSV.

    Args:
        delimiter: between values.
        has_quotes: whether values stand in quotes.
        has_breaks: whether a value has a line break.
        has_header: whether the first line names the columns.
        schema: of the records.
        rows: how many records were seen.
        header: the first line if it might have named the columns and did not, or nothing tells.
        below: the schema of the other lines, for that case.
    """

    delimiter: str
    has_quotes: bool
    has_breaks: bool
    has_header: bool
    schema: pa.Schema
    rows: int
    header: tuple[str, ...] = ()
    below: pa.Schema | None = None


def csv_shape(text: str, dialect: Dialect) -> CsvShape | None:
    """Return what a text is as CSV; None if it is none.

    Args:
        text: whole lines.
        dialect: what is known before.
    """
    best: tuple[int, str, list[list[str]]] | None = None
    for delimiter in dialect.delimiters:
        rows = _rows(text, delimiter, dialect.quote)
        width = _width(rows, dialect)
        if width and (best is None or width > best[0]):
            best = width, delimiter, [row for row in rows if len(row) == width]
    if best is None:
        return None
    width, delimiter, rows = best
    least = 1 if dialect.single or dialect.header is not None or dialect.names else 2
    if len(rows) < least:
        return None
    return _shape(text, delimiter, rows, dialect)


def _shape(text: str, delimiter: str, rows: list[list[str]], dialect: Dialect) -> CsvShape:
    first, others = rows[0], rows[1:]
    below = [_typed(at, others) for at in range(len(first))]
    has_header = _is_header(first, below) if dialect.header is None else dialect.header
    data = below if has_header else [_typed(at, rows) for at in range(len(first))]
    names = _names(first if has_header else (), len(first), dialect.names)
    types = [*dialect.types, *data[len(dialect.types) :]][: len(first)]
    might = not has_header and dialect.header is None and not dialect.names and _may_be_header(first)
    return CsvShape(
        delimiter,
        has_quotes=_has_quotes(text, delimiter, dialect.quote),
        has_breaks=any("\n" in cell or "\r" in cell for row in rows for cell in row),
        has_header=has_header,
        schema=_schema(names, types),
        rows=len(others) if has_header else len(rows),
        header=tuple(first) if might else (),
        below=_schema(_names(first, len(first), ()), below) if might else None,
    )


def _rows(text: str, delimiter: str, quote: str) -> list[list[str]]:
    if delimiter not in text:
        return [[line] for line in text.splitlines()[:_MOST_ROWS] if line.strip()]
    rows: list[list[str]] = []
    try:
        for row in csv.reader(
            io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote or None, strict=False
        ):
            if row and (len(row) > 1 or row[0].strip()):
                rows.append(row)
            if len(rows) == _MOST_ROWS:
                break
    except csv.Error:
        return []
    return rows


def _width(rows: Sequence[Sequence[str]], dialect: Dialect) -> int:
    """Return the number of columns that nearly all lines have; 0 if they do not agree."""
    if not rows:
        return 0
    width, lines = Counter(map(len, rows)).most_common(1)[0]
    least = 1 if dialect.single else 2
    agree = least <= width <= _MOST_COLUMNS and len(rows[0]) == width and lines >= _REGULAR_SHARE * len(rows)
    return width if agree else 0


def _is_header(first: Sequence[str], below: Sequence[str]) -> bool:
    """Tell whether a line names columns: it could, and some column below it is no text."""
    return _may_be_header(first) and any(kind not in {"", "string"} for kind in below)


def _may_be_header(first: Sequence[str]) -> bool:
    """Tell whether a line could name columns: each value is a text, present and short; only the last may be empty."""
    *front, last = first
    if not all(cell.strip() and len(cell) < _LONGEST_NAME for cell in front):
        return False
    named = [*front, last] if last.strip() else front
    return bool(named) and all(column_type([cell]) == "string" and _NAME.fullmatch(cell) for cell in named)


def _typed(at: int, rows: Sequence[Sequence[str]]) -> str:
    return column_type(row[at] for row in rows)


def _names(first: Sequence[str], width: int, given: Sequence[str]) -> list[str]:
    wanted = [*given, *first[len(given) :]][:width]
    wanted += [""] * (width - len(wanted))
    names: list[str] = []
    for at, name in enumerate(wanted):
        names.append(free_name(name.strip() or f"col{at}", {one.lower() for one in names}))
    return names


def _schema(names: Sequence[str], types: Sequence[str]) -> pa.Schema:
    return pa.schema([pa.field(name, ARROW.get(kind, pa.string())) for name, kind in zip(names, types, strict=True)])


def _has_quotes(text: str, delimiter: str, quote: str) -> bool:
    if not quote or quote not in text:
        return False
    before = f"(?:^|{re.escape(delimiter)})[ ]?{re.escape(quote)}"
    return re.search(before, text, re.MULTILINE) is not None
