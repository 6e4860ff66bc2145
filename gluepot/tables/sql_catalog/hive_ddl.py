"""Turns `CREATE TABLE` in Hive's words into Spark's: `STORED AS PARQUET` becomes `USING parquet`.

In Glue a script may describe a table either way, because Spark has Hive's classes there. Here Spark has none, and
refuses the statement, although it reads the files itself. What has no data source in Spark stays as it is, and Spark
says why it does not take it. The clauses are those of Spark's SQL grammar for Hive formats.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<blank>\s+|--[^\n]*|/\*.*?\*/)|(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|`(?:[^`]|``)*`|\w+|.""",
    re.DOTALL,
)
_FILES = {"PARQUET": "parquet", "ORC": "orc", "TEXTFILE": "csv", "JSONFILE": "json"}
_CLASSES = {
    "parquet": "parquet",
    "orc": "orc",
    "jsonserde": "json",
    "opencsvserde": "csv",
    "lazysimpleserde": "csv",
}
"""Parts of the names of Hive's classes, in lower case, and the data source that reads their files."""
_OF_HIVES_TEXT = {"sep": r"'\u0001'", "quote": "''", "nullValue": r"'\\N'"}
"""How Hive writes text files where the statement does not say otherwise; its SerDe for CSV has Spark's defaults."""
_PROPERTIES = {"separatorchar": "sep", "field.delim": "sep", "quotechar": "quote", "escapechar": "escape"}
"""Properties of SerDes of CSV, in lower case, and options of Spark's source."""


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int

    @property
    def upper(self) -> str:
        return self.text.upper()


def as_data_source(statement: str) -> str:
    """Return a statement with the clauses of a Hive format replaced; every other statement as it is. Pure."""
    words = [
        _Word(one.group(), one.start(), one.end()) for one in _TOKEN.finditer(statement) if one.lastgroup != "blank"
    ]
    at = _after_header(words)
    if at is None:
        return statement
    name_end = _after_columns(words, at)
    clauses = _Clauses(words, name_end)
    source = clauses.source()
    if source is None:
        return statement
    using = f" USING {source}"
    if source == "csv" and (options := clauses.options_of_csv()):
        listed = ", ".join(f"'{name}' = {value}" for name, value in options.items())
        using += f" OPTIONS ({listed})"
    place = words[name_end - 1].end
    cut = [(one.start, one.end, "") for one in words[1:2] if one.upper == "EXTERNAL"]
    cut += [(words[first].start, words[last - 1].end, "") for first, last in clauses.spans]
    return _edited(statement, sorted([*cut, (place, place, using)]))


def _after_header(words: Sequence[_Word]) -> int | None:
    """Return where the name of the table has ended; None if it is another statement."""
    upper = [one.upper for one in words[:6]]
    at = 1 if upper[:1] == ["CREATE"] else len(words)
    at += upper[at : at + 1] == ["EXTERNAL"]
    if upper[at : at + 1] != ["TABLE"]:
        return None
    at += 1
    at += 3 if upper[at : at + 3] == ["IF", "NOT", "EXISTS"] else 0
    at += 1
    while at + 1 < len(words) and words[at].text == ".":
        at += 2
    return at if at < len(words) else None


def _after_columns(words: Sequence[_Word], at: int) -> int:
    return _after_group(words, at) if words[at].text == "(" else at


def _after_group(words: Sequence[_Word], at: int) -> int:
    """Return the place after the bracket that closes the one at a place."""
    depth = 0
    for place in range(at, len(words)):
        depth += {"(": 1, ")": -1}.get(words[place].text, 0)
        if depth == 0:
            return place + 1
    return len(words)


class _Clauses:
    """The clauses about the format of a table.

    Args:
        words: of the statement.
        first: where its clauses begin.
    """

    def __init__(self, words: Sequence[_Word], first: int) -> None:
        self._words = words
        self.spans: list[tuple[int, int]] = []
        self._options: dict[str, str] = {}
        self._stored = ""
        self._classes: list[str] = []
        self._delimited = False
        at = first
        while at < len(words) and words[at].upper not in {"AS", "SELECT"}:
            at = self._read(at)

    def source(self) -> str | None:
        """Return the data source; None if the table names no Hive format, or one that Spark does not read itself."""
        if not self.spans:
            return None
        found = {source for name in self._classes for part, source in _CLASSES.items() if part in name}
        if self._stored:
            by_name = _FILES.get(self._stored)
            # JSON and CSV are stored as text files; the SerDe says which of them.
            found = found if by_name == "csv" and found else {by_name} if by_name else set()
        elif self._delimited and not self._classes:
            found = {"csv"}
        return found.pop() if len(found) == 1 else None

    def options_of_csv(self) -> Mapping[str, str]:
        """Return options of Spark's source, with their values as SQL writes them."""
        is_csv = any("opencsvserde" in name for name in self._classes)
        return self._options if is_csv else _OF_HIVES_TEXT | self._options

    def _read(self, at: int) -> int:
        upper = [one.upper for one in self._words[at : at + 3]]
        match upper:
            case ["STORED", "AS", "INPUTFORMAT"]:
                end = at + 6  # STORED AS INPUTFORMAT 'x' OUTPUTFORMAT 'y'
                self._classes += [one.text.lower() for one in self._words[at + 3 : end : 2]]
            case ["STORED", "AS", name]:
                end = at + 3
                self._stored = name
            case ["ROW", "FORMAT", "SERDE"]:
                end = at + 4
                self._classes.append(self._words[at + 3].text.lower() if at + 3 < len(self._words) else "")
                if [one.upper for one in self._words[end : end + 2]] == ["WITH", "SERDEPROPERTIES"]:
                    self._properties(end + 2)
                    end = _after_group(self._words, end + 2)
            case ["ROW", "FORMAT", "DELIMITED"]:
                end = self._read_delimited(at + 3)
            case _:
                return _after_group(self._words, at) if self._words[at].text == "(" else at + 1
        self.spans.append((at, min(end, len(self._words))))
        return end

    def _read_delimited(self, at: int) -> int:
        self._delimited = True
        known: Mapping[tuple[str, ...], str] = {
            ("FIELDS", "TERMINATED", "BY"): "sep",
            ("ESCAPED", "BY"): "escape",
            ("LINES", "TERMINATED", "BY"): "lineSep",
            ("COLLECTION", "ITEMS", "TERMINATED", "BY"): "",
            ("MAP", "KEYS", "TERMINATED", "BY"): "",
            ("NULL", "DEFINED", "AS"): "nullValue",
        }
        while True:
            for clause, option in known.items():
                end = at + len(clause)
                if tuple(one.upper for one in self._words[at:end]) == clause and end < len(self._words):
                    if option:
                        self._options[option] = self._words[end].text
                    at = end + 1
                    break
            else:
                return at

    def _properties(self, at: int) -> None:
        texts = [one.text for one in self._words[at : _after_group(self._words, at)] if one.text[:1] in {"'", '"'}]
        for name, value in zip(texts[::2], texts[1::2], strict=False):
            if option := _PROPERTIES.get(name[1:-1].lower()):
                self._options[option] = value


def _edited(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    parts, at = [], 0
    for start, end, instead in edits:
        parts += [text[at:start], instead]
        at = end
    return "".join([*parts, text[at:]])
