"""CSV files read by our reader, by Python's csv module and, where a file is well formed, by Spark.

Python's module says what quotes, escapes and separators mean, line by line or over lines. The number of values in the
first line, blank lines and the control characters behind an escape character are rules of ours (docs/glue 5.2,
decision 0062). Spark counts for files that every writer would write like that; blank cells are null there.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path
from random import Random
from typing import Any

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats import read_format
from gluepot.connectors.files.formats.csv import read
from gluepot.connectors.files.formats.text_lines import BOM
from tests.differential.kind import Difference, Round, World

_FILES = 200
_BREAK = re.compile(r"(\r\n|\n|\r)")
_CONTROLS = {"n": ("\ue001", "\n"), "r": ("\ue002", "\r"), "t": ("\ue003", "\t"), "0": ("\ue004", "\0")}
_LAST = "\ue005"
_CHARACTERS = [
    "a",
    "b",
    "1",
    " ",
    "  ",
    "é",
    "€",
    "😀",
    "\u2028",
    "\x0b",
    "n",
    "t",
    "0",
    "#",
    "\\",
    "'",
    '"',
    "|",
    "\t",
    ";",
]

# The values of each record, with the names of their columns.
Rows = list[tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class Case:
    """A file and how it is read.

    Args:
        data: the file.
        options: of the reader.
        cuts: where its pieces end.
        has_small_blocks: whether a file whose records spread over lines is read in blocks of a record's size.
    """

    data: bytes
    options: dict[str, Any]
    cuts: tuple[int, ...]
    has_small_blocks: bool


class Kind:
    """See the module."""

    name = "csv"
    unit = "files"
    files = _FILES

    def round(self, random: Random, world: World) -> Round:
        """Compare files that share their options."""
        options = _options(random)
        result = Round()
        well_formed: dict[str, tuple[bytes, Rows]] = {}
        for number in range(self.files):
            rectangle = random.random() < 0.4
            data = _well_formed(random, options) if rectangle else _any_text(random, options).encode()
            if not rectangle and not options["multiLine"] and random.random() < 0.1:
                at = random.randrange(len(data) + 1)
                data = data[:at] + b"\xff" + data[at:]
            if random.random() < 0.1:
                data = b"\xef\xbb\xbf" + data
            cuts = tuple(sorted(random.randrange(len(data) + 1) for _ in range(random.randrange(4))))
            case = Case(data, options, cuts, options["multiLine"] and random.random() < 0.5)
            result.cases += 1
            result.taken += 1
            expected = _expected(case)
            for form, found in _found(case).items():
                if found != expected:
                    result.differences.append(Difference(f"{form} {case}", repr(found), repr(expected)))
                    break
            if rectangle and not isinstance(expected, str):
                well_formed[f"{number}.csv"] = (data, expected[0])
        if not options.get("escaper") and random.random() < 0.25:
            result.differences += _against_spark(world, options, well_formed)
        return result


def _options(random: Random) -> dict[str, Any]:
    quote = random.choice(['"', '"', '"', "'", -1])
    separator = random.choice([",", ",", ";", "|", "\t", "\x01"])
    escape = random.choice([None, None, "\\"])
    return {
        "separator": separator,
        "quoteChar": quote,
        "escaper": escape,
        "multiLine": quote != -1 and random.random() < 0.4,
        "withHeader": random.random() < 0.5,
        "skipFirst": random.random() < 0.2,
    }


def _any_text(random: Random, options: dict[str, Any]) -> str:
    """Return lines with quotes, escapes and separators anywhere."""
    quote = "" if options["quoteChar"] == -1 else options["quoteChar"]
    escape = options["escaper"] or ""
    width = random.randrange(1, 5)
    breaks = random.choice([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"], ["\n", "\n", "\n", "\r"]])
    if options["multiLine"]:
        breaks = breaks[:1]
    lines = []
    for _ in range(random.randrange(8)):
        if random.random() < 0.15:
            lines.append(random.choice(["", " ", "\t ", "\x0b"] if width > 1 or not options["multiLine"] else [""]))
            continue
        cells = []
        for _ in range(width if random.random() < 0.9 else random.randrange(1, 6)):
            cell = "".join(
                random.choice([*_CHARACTERS, "\0", quote, quote, escape, escape + "n", escape + quote])
                for _ in range(random.choice([0, 1, 2, 5]))
            )
            if quote and random.random() < 0.4:
                cell = quote + cell.replace(quote, quote * 2) + quote
            cells.append(cell)
        lines.append(options["separator"].join(cells))
    text = "".join(line + random.choice(breaks) for line in lines)
    if quote and escape:  # Python's module takes an escape behind a closing quote literally; docs/limits.md
        text = re.sub(rf"({quote})\\+", r"\1", text)
    if options["multiLine"]:  # Python's module takes one character of a line break behind an escape
        text = re.sub(r"\\+(?=[\r\n]|$)", "", text)
    return text.rstrip("\r\n") if random.random() < 0.2 else text


def _well_formed(random: Random, options: dict[str, Any]) -> bytes:
    """Return what a writer of CSV writes."""
    output = io.StringIO(newline="")
    quote = options["quoteChar"]
    ending = random.choice(["\n", "\r\n"])
    if quote == -1:
        characters = [one for one in _CHARACTERS if one not in ("\\", options["separator"])]
        writer = csv.writer(
            output, delimiter=options["separator"], quoting=csv.QUOTE_NONE, quotechar=None, lineterminator=ending
        )
    else:
        characters = [*_CHARACTERS, "\n"] if options["multiLine"] and ending == "\n" else _CHARACTERS
        if options["escaper"]:
            characters = [one for one in characters if one != "\\"]
        quoting = random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        writer = csv.writer(
            output, delimiter=options["separator"], quotechar=quote, quoting=quoting, lineterminator=ending
        )
    width = random.randrange(2, 5)
    for number in range(random.randrange(1, 7)):
        if random.random() < 0.2:
            output.write(ending)
        cells = ["".join(random.choice(characters) for _ in range(random.choice([0, 1, 3, 6]))) for _ in range(width)]
        cells[random.randrange(width)] = f"x{number}"
        writer.writerow(cells)
    return output.getvalue().encode()


def _found(case: Case) -> dict[str, Any]:
    found = {"whole": _read(case, None)}
    form = read_format("csv", case.options)
    if form.splits:
        edges = [0, *case.cuts, len(case.data)]
        pieces = [_read(case, piece) for piece in pairwise(edges)]
        failed = next((piece for piece in pieces if isinstance(piece, str)), None)
        found["pieces"] = failed or (
            [row for piece in pieces for row in piece[0]],
            sorted(error for piece in pieces for error in piece[1]),
        )
    return found


@contextmanager
def _blocks(case: Case) -> Iterator[None]:
    before = read._BLOCK_BYTES
    if case.has_small_blocks:
        records = _records(case.data.removeprefix(BOM).decode("utf-8", "surrogateescape"), case.options)
        # Arrow reads a record that begins in one block and ends in the next.
        read._BLOCK_BYTES = max([len(raw) for raw, _ in records], default=0) + len(BOM)
    try:
        yield
    finally:
        read._BLOCK_BYTES = before


def _read(case: Case, piece: tuple[int, int] | None) -> Any:
    rows: Rows = []
    errors: list[tuple[str, bytes]] = []
    file = OpenFile(io.BytesIO(case.data), "f", "", piece)
    try:
        with _blocks(case):
            for chunk in read_format("csv", case.options).reader().read(file):
                rows += [tuple(row.items()) for row in chunk.batch.to_pylist()] if chunk.batch.num_columns else []
                errors += [(error.reason, (error.raw or b"").rstrip(b"\r\n")) for error in chunk.errors]
    except Exception as error:  # noqa: BLE001 - any failure is a difference
        return repr(error)
    return rows, sorted(errors)


def _expected(case: Case) -> Any:
    """Return the rows and errors by Python's csv module."""
    options = case.options
    records = list(_records(case.data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape"), options))
    separator = options["separator"].encode()
    is_over_lines = options["multiLine"]

    def next_record(*, names_columns: bool) -> list[str] | None:
        while records and _is_blank(records[0][0], b"" if names_columns else separator):
            records.pop(0)
        return records.pop(0)[1] if records else None

    if options["skipFirst"]:
        next_record(names_columns=True)
    first = next_record(names_columns=True) if options["withHeader"] else None
    if first is None and not options["withHeader"]:
        while records and _is_blank(records[0][0], separator):
            records.pop(0)
        first = records[0][1] if records else None
    names = _names(first or [], options)
    rows: Rows = []
    errors = []
    for raw, cells in records if first is not None else ():
        is_value = is_over_lines and len(first or ()) == 1 and not options["escaper"] and raw.strip(b"\r\n")
        if _is_blank(raw, separator) and not is_value:
            continue
        if len(cells) != len(first or ()):
            errors.append(("malformed_csv", raw.rstrip(b"\r\n")))
        elif re.search("[\udc80-\udcff]", "".join(cells)):
            errors.append(("invalid_utf8", raw.rstrip(b"\r\n")))
        else:
            rows.append(tuple(zip(names, map(_plain, cells), strict=True)))
    return rows, sorted(errors)


def _names(first: Sequence[str], options: dict[str, Any]) -> list[str]:
    """Return the names of columns: those of the header, numbered where they come twice, or their places."""
    names: list[str] = []
    for at, cell in enumerate(first):
        text = (
            _plain(cell).encode("utf-8", "surrogateescape").decode("utf-8", "replace") if options["withHeader"] else ""
        )
        plain = text.strip() or f"col{at}"
        numbered = (f"{plain}_{number}" for number in count(1))
        names.append(plain if plain not in names else next(name for name in numbered if name not in names))
    return names


def _records(text: str, options: dict[str, Any]) -> Iterator[tuple[bytes, list[str]]]:
    """Yield each record as the bytes of its lines and the values that Python's module finds."""
    parts = _BREAK.split(text)
    lines = ["".join(parts[at : at + 2]) for at in range(0, len(parts), 2)]
    taken: list[str] = []

    def taking() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield _marked(line, options["escaper"])

    if options["multiLine"]:
        for cells in _reader(taking(), options):
            raw, taken[:] = "".join(taken).encode("utf-8", "surrogateescape"), []
            yield raw, cells
        return
    for line in lines:
        bare = line.rstrip("\r\n")
        for cells in _reader([_marked(bare, options["escaper"])], options):
            yield bare.encode("utf-8", "surrogateescape"), cells


def _reader(lines: Iterable[str], options: dict[str, Any]) -> Iterator[list[str]]:
    quote = options["quoteChar"]
    return csv.reader(
        lines,
        delimiter=options["separator"],
        quotechar=None if quote == -1 else quote,
        escapechar=options["escaper"],
        quoting=csv.QUOTE_NONE if quote == -1 else csv.QUOTE_MINIMAL,
    )


def _marked(text: str, escape: str | None) -> str:
    """Replace what Python's module reads in another way by marks: escaped letters, and an escape without anything."""
    if escape is None:
        return text

    def mark(found: re.Match[str]) -> str:
        return _CONTROLS[found[1]][0] if found[1] in _CONTROLS else found[0] if found[1] else _LAST

    return re.sub(r"\\(.|$)", mark, text, flags=re.DOTALL)


def _plain(cell: str) -> str:
    for mark, control in _CONTROLS.values():
        cell = cell.replace(mark, control)
    return cell.replace(_LAST, "\\")


def _is_blank(raw: bytes, separator: bytes) -> bool:
    return not raw or (raw.isspace() and (not separator or separator not in raw))


def _against_spark(world: World, options: dict[str, Any], files: dict[str, tuple[bytes, Rows]]) -> list[Difference]:
    """Compare what Spark reads of well-formed files; it cannot skip a first line."""
    folder = Path(tempfile.mkdtemp(dir=world.folder))
    quote = options["quoteChar"]
    for name, (data, _) in files.items():
        (folder / name).write_bytes(data)
    if options["skipFirst"] or not files:
        return []
    reader = world.spark().read.schema(", ".join(f"c{at} string" for at in range(5)))
    reader = reader.options(sep=options["separator"], header=options["withHeader"], multiLine=options["multiLine"])
    reader = reader.options(quote="" if quote == -1 else quote, escape="\\" if quote == -1 else quote)
    found: dict[str, list[tuple[str, ...]]] = {name: [] for name in files}
    for row in reader.csv(str(folder)).selectExpr("*", "input_file_name() as f").collect():
        found[row.f.rsplit("/", 1)[-1]].append(tuple(row)[:-1])
    differences = []
    for name, (data, rows) in files.items():
        ours = [tuple(cell for _, cell in row) + ("",) * (5 - len(row)) for row in rows]
        spark = [tuple(cell or "" for cell in row) for row in found[name]]
        if ours != spark:
            differences.append(Difference(f"{data!r} {options}", repr(ours), repr(spark)))
    return differences
