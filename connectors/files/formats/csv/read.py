"""CSV: every value a text, lines that do not fit set aside (docs/glue 5.2)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import csv as arrow_csv

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.bounds import too_large
from gluepot.connectors.files.formats.csv.dialect import character, convert_options, separator_and_quote
from gluepot.connectors.files.formats.text_lines import BOM, lines_of
from gluepot.core.errors import PermanentError
from gluepot.core.option_values import flag
from gluepot.frames.chunk import Chunk, Coordinates, ErrorRecord

# No line may be longer than a block, since Arrow reads whole lines.
_BLOCK_BYTES = 4 << 20
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
    """Reads with Arrow's own parser."""

    def __init__(self, settings: CsvInputFormat) -> None:
        self._settings = settings

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order."""
        settings = self._settings
        first = _first_line(file)
        if settings.skip_first:
            first = _first_line(file)
        if not first.strip():
            return
        cells = self._cells(first, file.place)
        if len(cells) > _MOST_COLUMNS:
            raise too_large(file.place, f"a first line of {len(cells)} values, not {_MOST_COLUMNS} at most")
        names = _distinct(cells) if settings.with_header else _by_place(settings.names, len(cells))
        if file.piece is None:
            rest = file.plain if settings.with_header else _Joined(first, file.plain)
        else:
            behind = file.plain.tell()
            rest, _ = lines_of(file.plain, file.piece, behind if settings.with_header else behind - len(first))
        yield from self._rows(names, rest, file)

    def _rows(self, names: list[str], rest: BinaryIO | _Joined, file: OpenFile) -> Iterator[Chunk]:
        at = Coordinates(file.place, file.partition)
        bad: list[ErrorRecord] = []

        def set_aside(row: arrow_csv.InvalidRow) -> str:
            message = f"The line has {row.actual_columns} values, not {row.expected_columns}."
            bad.append(ErrorRecord(str(row.text).encode(), "malformed_csv", message, at))
            return "skip"

        settings = self._settings
        parse = arrow_csv.ParseOptions(
            delimiter=settings.separator,
            quote_char=settings.quote or False,
            double_quote=True,
            escape_char=settings.escape or False,
            newlines_in_values=settings.multi_line,
            invalid_row_handler=set_aside,
        )
        convert = convert_options(names, pa.binary())
        read = arrow_csv.ReadOptions(column_names=names, block_size=_BLOCK_BYTES, use_threads=False)
        try:
            with arrow_csv.open_csv(
                pa.PythonFile(rest, "r"), read_options=read, parse_options=parse, convert_options=convert
            ) as batches:
                for batch in batches:
                    good, unreadable = _texts(batch, at)
                    taken, bad[:] = list(bad), []
                    yield Chunk(good, [*taken, *unreadable])
        except pa.ArrowInvalid as error:
            if "Empty CSV file" in str(error):  # a header and nothing else; Arrow has no type of its own for it
                return
            raise PermanentError(
                f"{file.place} is not CSV as the options say ({error}); correct separator, quoteChar or multiLine"
            ) from error
        if bad:
            yield Chunk(pa.RecordBatch.from_pylist([], schema=pa.schema([(name, pa.string()) for name in names])), bad)

    def _cells(self, line: bytes, place: str) -> list[str]:
        settings = self._settings
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        reader = csv.reader(
            io.StringIO(text),
            delimiter=settings.separator,
            quotechar=settings.quote,
            escapechar=settings.escape,
            quoting=csv.QUOTE_NONE if settings.quote is None else csv.QUOTE_MINIMAL,
        )
        try:
            return next(reader, [])
        except csv.Error as error:
            raise PermanentError(
                f"The first line of {place} is not CSV as the options say ({error}); correct separator or quoteChar,"
                " or leave it out with exclusions"
            ) from error


def _texts(batch: pa.RecordBatch, at: Coordinates) -> tuple[pa.RecordBatch, list[ErrorRecord]]:
    """Turn bytes into texts; rows with bytes that are none are set aside."""
    schema = pa.schema([(name, pa.string()) for name in batch.schema.names])
    try:
        return batch.cast(schema), []
    except pa.ArrowInvalid:
        rows = batch.to_pylist()
        readable = [all(_is_text(value) for value in row.values()) for row in rows]
        message = "The line is not UTF-8."
        errors = [
            ErrorRecord(b",".join(value or b"" for value in row.values()), "invalid_utf8", message, at)
            for row, good in zip(rows, readable, strict=True)
            if not good
        ]
        return batch.filter(pa.array(readable, pa.bool_())).cast(schema), errors


def _is_text(value: bytes | None) -> bool:
    try:
        return value is None or value.decode() is not None
    except UnicodeDecodeError:
        return False


def _first_line(file: OpenFile) -> bytes:
    line = file.plain.readline(_BLOCK_BYTES + 1)
    if len(line) > _BLOCK_BYTES:
        raise too_large(file.place, f"a first line of more than {_BLOCK_BYTES >> 20} MiB")
    return line.removeprefix(BOM)


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


class _Joined:
    """A line that was read already, then the rest."""

    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        self._first = first
        self._rest = rest
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        if self._first:
            taken, self._first = (self._first, b"") if size < 0 else (self._first[:size], self._first[size:])
            return taken
        return self._rest.read(size)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True
