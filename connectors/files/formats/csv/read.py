"""CSV: every value a text, lines that do not fit set aside (docs/glue 5.2).

A value is never null: where nothing stands between two separators it is an empty text (docs/decisions/0062). Blank
lines are no records. Without `multiLine` each line is a record, whatever quotes it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import csv as arrow_csv

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.bounds import too_large
from gluepot.connectors.files.formats.csv.dialect import character, separator_and_quote
from gluepot.connectors.files.formats.csv.lines import (
    LINE_BREAK,
    FirstLines,
    WholeBreaks,
    holds,
    is_blank,
    is_utf8,
    line_count,
)
from gluepot.connectors.files.formats.csv.places import Places
from gluepot.connectors.files.formats.csv.row_parser import RowParser
from gluepot.connectors.files.formats.csv.rows import Rows, as_text
from gluepot.connectors.files.formats.text_lines import lines_of, text_blocks
from gluepot.core.errors import PermanentError
from gluepot.core.logging import configure_once, get_logger
from gluepot.core.option_values import flag
from gluepot.frames.chunk import Chunk, Coordinates, ErrorRecord

log = get_logger(__name__)

# No record that spreads over lines, and no first one, may be longer.
_BLOCK_BYTES = 4 << 20
_BLANK_LINE = re.compile(rb"(?:^|[\r\n])[ \t\v\f]+(?:[\r\n]|$)")
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_NO_RECORD = "Empty CSV file"  # Arrow's message; it has no error of its own for a text without a record
# Each column takes some kilobytes, whatever its values take.
_MOST_COLUMNS = 20_000


@dataclass(frozen=True, slots=True)
class CsvInputFormat:
    """Settings of the reader.

    Args:
        separator: one character.
        quote: one character; None for none.
        escape: one character before one that is meant literally; None for none.
        multi_line: quoted values may hold line breaks.
        with_header: the first line names the columns, which are `col0`, `col1`, ... otherwise.
        skip_first: the first line is dropped.
        names: of the columns as a catalog has them, in order; empty where it is not asked.
    """

    separator: str = ","
    quote: str | None = '"'
    escape: str | None = None
    multi_line: bool = False
    with_header: bool = False
    skip_first: bool = False
    names: tuple[str, ...] = ()

    @classmethod
    def from_glue(cls, options: Mapping[str, Any]) -> CsvInputFormat:
        """Read Glue's `format_options`; `optimizePerformance` is how this reader always works.

        `columnNames` is no option of Glue's: a table's columns come with it.

        Raises:
            ConfigError: an option has a value that is not understood.
        """
        separator, quote = separator_and_quote(options, ascii_only=True)
        escape = options.get("escaper")
        return cls(
            separator=separator,
            quote=quote,
            escape=character("escaper", escape, ascii_only=True) if escape else None,
            multi_line=flag(options, "multiLine") or flag(options, "multiline"),
            with_header=flag(options, "withHeader"),
            skip_first=flag(options, "skipFirst"),
            names=tuple(options.get("columnNames") or ()),
        )

    @property
    def needs_seek(self) -> bool:
        """Read from start to end."""
        return False

    @property
    def splits(self) -> bool:
        """Lines are records where no value has a line break."""
        return not self.multi_line

    def reader(self) -> CsvReader:
        """Return a reader for one task."""
        return CsvReader(self)


class CsvReader:
    """Reads with Arrow's own parser, and record by record where that would give another answer."""

    def __init__(self, settings: CsvInputFormat) -> None:
        self._settings = settings
        self._separator = settings.separator.encode()
        self._parser = RowParser(settings.separator, settings.quote, settings.escape)
        self._has_warned = False
        self._has_warned_of_names = False
        self._has_warned_of_quote = False

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order."""
        settings = self._settings
        lines = FirstLines(file.plain, file.place, _BLOCK_BYTES)
        if settings.skip_first:
            self._first_record(lines, names_columns=True)
        first, cells = self._first_record(lines, names_columns=settings.with_header)
        if not first:
            return
        if len(cells) > _MOST_COLUMNS:
            raise too_large(file.place, f"a first line of {len(cells)} values, not {_MOST_COLUMNS} at most")
        if settings.with_header:
            self._check_encoding(first, file.place)
        names = _distinct(cells) if settings.with_header else _by_place(settings.names, len(cells))
        if settings.with_header:
            self._warn_of_names(cells, names, file.place)
        again = b"" if settings.with_header else first
        at = lines.at - len(again)
        if file.piece is None:
            rest = lines.rest(again)
        else:
            rest, at = lines_of(file.plain, file.piece, at)
        rows = Rows(names, Coordinates(file.place, file.partition))
        chunk = None
        for chunk in self._rows(rows, rest, at, file.place):
            yield chunk
        if chunk is None and settings.with_header:
            yield Chunk(rows.no_rows())  # the header names the columns

    def _check_encoding(self, header: bytes, place: str) -> None:
        """Warn once of a header that is not UTF-8, because its columns get other names than they have."""
        try:
            is_text = "\0" not in header.decode("utf-8-sig")
        except UnicodeDecodeError:
            is_text = False
        if not is_text and not self._has_warned:
            self._has_warned = True
            configure_once()
            hint = "set encoding in format_options, for example to ISO-8859-1 or UTF-16"
            log.warning("header_is_not_utf8", file=place, hint=hint)

    def _warn_of_names(self, cells: list[str], names: list[str], place: str) -> None:
        """Warn once of columns that have other names than the header gives them."""
        changed = {new: given for given, new in zip(cells, names, strict=True) if given.strip() != new}
        if changed and not self._has_warned_of_names:
            self._has_warned_of_names = True
            configure_once()
            hint = "a name is missing in the header, or stands there twice; these columns have the names on the left"
            log.warning("header_names_changed", file=place, names=dict([*changed.items()][:10]), hint=hint)

    def _warn_of_open_quote(self, place: str) -> None:
        """Warn once of a quote that takes all lines up to the end of its file into one value."""
        if not self._has_warned_of_quote:
            self._has_warned_of_quote = True
            configure_once()
            hint = "all lines up to the end of the file are in one value; close the quote, or correct quoteChar"
            log.warning("quote_not_closed", file=place, hint=hint)

    def _first_record(self, lines: FirstLines, *, names_columns: bool) -> tuple[bytes, list[str]]:
        """Take the first record that is not blank off a file, and return it with its values; nothing at the end.

        A line of separators that are white space, such as tabs, is a record, but does not name columns.
        """
        while (first := lines.next()) and is_blank(first, b"" if names_columns else self._separator):
            pass
        text = as_text(first)
        if not self._settings.multi_line:
            return first, self._parser.cells(text.rstrip("\r\n"))
        taken = [first]

        def more() -> str:
            taken.append(lines.next(sum(map(len, taken))))
            return as_text(taken[-1])

        cells = self._parser.cells(text, more)
        if len(taken) > 2 and not taken[-1]:  # the file ended within a value
            self._warn_of_open_quote(lines.place)
        return b"".join(taken), cells

    def _rows(self, rows: Rows, rest: BinaryIO, at: int, place: str) -> Iterator[Chunk]:
        if not self._settings.multi_line:
            for text, offset in text_blocks(rest, place, advice="correct separator, or skip it with exclusions"):
                yield from map(Places(text, at + offset).placed, self._block(rows, text))
        elif self._settings.escape is None:
            yield from self._stream(rows, rest, place)
        else:
            yield from rows.parsed(self._over_lines(FirstLines(rest, place, _BLOCK_BYTES)))

    def _block(self, rows: Rows, text: memoryview) -> Iterator[Chunk]:
        """Read lines, each of which is a record."""
        bad: list[ErrorRecord] = []
        table = rows.none()
        is_by_line = is_utf8(text)
        if is_by_line:
            try:
                table = arrow_csv.read_csv(
                    pa.BufferReader(pa.py_buffer(text)),
                    read_options=_read_options(rows.names, len(text) + 1),
                    parse_options=self._parse_options(rows, bad),
                    convert_options=_convert_options(rows.names, pa.string()),
                )
                is_by_line = self._is_by_line(text, table, bad)
            except pa.ArrowInvalid as error:
                is_by_line = _NO_RECORD in str(error)
        if is_by_line:
            yield from rows.chunks(table.combine_chunks().to_batches(), bad)
        else:
            lines = (line for line in LINE_BREAK.split(bytes(text)) if not is_blank(line, self._separator))
            yield from rows.parsed((line, self._parser.cells(as_text(line))) for line in lines)

    def _is_by_line(self, text: memoryview, table: pa.Table, bad: Sequence[ErrorRecord]) -> bool:
        """Return whether Arrow is known to have read each line as one record, as `RowParser` does."""
        settings = self._settings
        if settings.escape is not None and (
            any(holds(text, settings.escape + letter) for letter in "nrt0\r\n") or text[-1:] == settings.escape.encode()
        ):
            return False
        if table.num_columns == 1 and _BLANK_LINE.search(text):
            return False
        if not any(special is not None and holds(text, special) for special in (settings.quote, settings.escape)):
            return True
        if holds(text, "\r") and _LONE_RETURN.search(text):
            return False
        # A record takes one line or more. An empty line is no record, so a block that has one is read again.
        if table.num_rows + len(bad) != line_count(text):
            return False
        # A quote that is open at the end takes the last line break into its value.
        last = table.column(table.num_columns - 1)[-1].as_py() if table.num_rows else ""
        return not last.endswith(("\n", "\r")) and not any(
            (error.raw or b"").endswith((b"\n", b"\r")) for error in bad[-1:]
        )

    def _over_lines(self, lines: FirstLines) -> Iterator[tuple[bytes, list[str]]]:
        """Yield records that may spread over lines and have escapes, each with its values."""
        while (found := self._first_record(lines, names_columns=False))[0]:
            yield found

    def _stream(self, rows: Rows, rest: BinaryIO, place: str) -> Iterator[Chunk]:
        """Read records that may spread over lines."""
        bad: list[ErrorRecord] = []
        text, last = WholeBreaks(rest), b""
        try:
            with arrow_csv.open_csv(
                pa.PythonFile(text, "r"),
                read_options=_read_options(rows.names, _BLOCK_BYTES),
                parse_options=self._parse_options(rows, bad),
                convert_options=_convert_options(rows.names, pa.binary()),
            ) as batches:
                for batch in batches:
                    taken, bad[:] = list(bad), []
                    last = batch.column(batch.num_columns - 1)[-1].as_py() if batch.num_rows and not taken else b""
                    yield rows.texts(batch, taken)
        except pa.ArrowInvalid as error:
            if _NO_RECORD in str(error):
                return
            raise PermanentError(
                f"{place} cannot be parsed as CSV ({error}); correct separator, quoteChar or multiLine"
            ) from error
        is_closed = text.last_bytes.rstrip(b"\r\n").endswith((self._settings.quote or "").encode())
        if LINE_BREAK.search(last) and not is_closed and not bad:
            self._warn_of_open_quote(place)
        yield from rows.chunks([], bad)

    def _parse_options(self, rows: Rows, bad: list[ErrorRecord]) -> arrow_csv.ParseOptions:
        def set_aside(row: arrow_csv.InvalidRow) -> str:
            line = str(row.text).encode()
            if not is_blank(line, self._separator):
                bad.append(rows.misfit(line, row.actual_columns))
            return "skip"

        settings = self._settings
        return arrow_csv.ParseOptions(
            delimiter=settings.separator,
            quote_char=settings.quote or False,
            double_quote=True,
            escape_char=settings.escape or False,
            newlines_in_values=settings.multi_line,
            invalid_row_handler=set_aside,
        )


def _read_options(names: list[str], block_bytes: int) -> arrow_csv.ReadOptions:
    return arrow_csv.ReadOptions(column_names=names, block_size=block_bytes, use_threads=False)


def _convert_options(names: list[str], kind: pa.DataType) -> arrow_csv.ConvertOptions:
    """Return that each value is a text, also one of which nothing is there."""
    return arrow_csv.ConvertOptions(
        check_utf8=False, column_types=dict.fromkeys(names, kind), null_values=[], strings_can_be_null=False
    )


def _by_place(names: Sequence[str], cells: int) -> list[str]:
    """Return names for as many cells as a file has; those beyond the known ones are `col3`, ..."""
    return [*names[:cells], *(f"col{index}" for index in range(len(names), cells))]


def _distinct(names: list[str]) -> list[str]:
    """Number names that come twice: `a`, `a_1`; one that is missing is called by its place."""
    distinct: dict[str, None] = {}
    numbers: dict[str, int] = {}  # the last number that a name was given
    for index, name in enumerate(names):
        new = plain = name.strip() or f"col{index}"
        while new in distinct:
            numbers[plain] = numbers.get(plain, 0) + 1
            new = f"{plain}_{numbers[plain]}"
        distinct[new] = None
    return list(distinct)
