"""Finds the texts that Spark can read as a date or time stamp by a pattern such as `dd/MM/yyyy`.

The letters are those of Spark's datetime patterns for parsing, which are strict: `dd` has two digits, and the 30th of
February is no day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december")  # fmt: skip
_SHORT_MONTHS = tuple(name[:3] for name in MONTHS)
_DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_FEBRUARY = 2
_NOON = 12

# What a field may be, by its letter; `D`, the day of the year, depends on the year.
_RANGES = {
    **dict.fromkeys("MLh", (1, 12)),
    **dict.fromkeys("ms", (0, 59)),
    "d": (1, 31),
    "D": (1, 366),
    "H": (0, 23),
    "K": (0, 11),
    "k": (1, 24),
}
_OFFSET = r"[+-](?:0\d|1[0-8])"
_OFFSETS = {
    "X": rf"(?:Z|{_OFFSET}(?:[0-5]\d)?)",
    "XX": rf"(?:Z|{_OFFSET}[0-5]\d)",
    "XXX": rf"(?:Z|{_OFFSET}:[0-5]\d)",
    "XXXX": rf"(?:Z|{_OFFSET}[0-5]\d(?:[0-5]\d)?)",
    "XXXXX": rf"(?:Z|{_OFFSET}:[0-5]\d(?::[0-5]\d)?)",
    "x": rf"{_OFFSET}(?:[0-5]\d)?",
    "xx": rf"{_OFFSET}[0-5]\d",
    "xxx": rf"{_OFFSET}:[0-5]\d",
    "xxxx": rf"{_OFFSET}[0-5]\d(?:[0-5]\d)?",
    "xxxxx": rf"{_OFFSET}:[0-5]\d(?::[0-5]\d)?",
    **{"Z" * times: rf"{_OFFSET}[0-5]\d" for times in (1, 2, 3)},
    "ZZZZZ": rf"(?:Z|{_OFFSET}:[0-5]\d(?::[0-5]\d)?)",
}
_MOST_FRACTION_DIGITS = 9
_TOKEN = re.compile(r"(?P<letters>([A-Za-z])\2*)|'(?P<quoted>(?:[^']|'')*)'|(?P<other>.)", re.DOTALL)


_Field = tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]


class DatePatternError(ValueError):
    """A pattern that cannot be used. The message is a sentence."""


@dataclass(frozen=True, slots=True)
class DatePattern:
    """A pattern, ready for use.

    Args:
        regex: what a text has to match, with a group for each field.
        fields: the letters of each group, by its name.
    """

    regex: str
    fields: tuple[tuple[str, str], ...]

    def fits(self, texts: pa.Array) -> pa.BooleanArray:
        """Return for each text whether it can be read by the pattern; false for NULL."""
        found = pc.extract_regex(texts, self.regex)
        valid: npt.NDArray[np.bool_] = pc.is_valid(found).to_numpy(zero_copy_only=False)
        values = {name: _numbers(found.field(name), letters) for name, letters in self.fields}
        for name, letters in self.fields:
            number, given = values[name]
            if limits := _RANGES.get(letters[0]):
                valid &= ~given | ((number >= limits[0]) & (number <= limits[1]))
        year, month, day, day_of_year = (self._first(values, letters) for letters in ("y", "ML", "d", "D"))
        year_number = np.where(year[1], year[0], 1970)
        is_leap = (year_number % 4 == 0) & ((year_number % 100 != 0) | (year_number % 400 == 0))
        month_number = np.clip(np.where(month[1], month[0], 1), 1, len(MONTHS))
        most = _DAYS[month_number - 1] + ((month_number == _FEBRUARY) & is_leap)
        valid &= ~day[1] | (day[0] <= most)
        valid &= ~day_of_year[1] | (day_of_year[0] <= 365 + is_leap)
        hour, half = self._first(values, "H"), self._first(values, "a")
        valid &= ~(hour[1] & half[1]) | ((hour[0] >= _NOON) == (half[0] == 1))
        return pa.array(valid)

    def _first(self, values: dict[str, _Field], letters: str) -> _Field:
        """Return the field that stands for some letters; not given if the pattern has none of them."""
        for name, of_field in self.fields:
            if of_field[0] in letters:
                return values[name]
        rows = len(next(iter(values.values()))[0]) if values else 0
        return np.zeros(rows, np.int64), np.zeros(rows, np.bool_)


def _numbers(texts: pa.Array, letters: str) -> _Field:
    """Return the numbers that the texts of a field stand for, and which rows have one."""
    lowered = pc.utf8_lower(pc.fill_null(texts, ""))
    given = pc.not_equal(lowered, "").to_numpy(zero_copy_only=False)
    if letters[0] in "ML" and len(letters) > 2:
        names = MONTHS if len(letters) == 4 else _SHORT_MONTHS
        found = pc.add(pc.index_in(lowered, pa.array(names)), 1)
    elif letters[0] == "a":
        found = pc.index_in(lowered, pa.array(["am", "pm"]))
    else:
        found = pc.cast(pc.if_else(pc.equal(lowered, ""), "0", pc.replace_substring(lowered, "+", "")), pa.int64())
    return pc.fill_null(pc.cast(found, pa.int64()), 0).to_numpy(), given


@lru_cache(maxsize=64)
def date_pattern(pattern: str) -> DatePattern:
    """Return a pattern, ready for use.

    Raises:
        DatePatternError: Spark refuses the pattern, or it has letters that are not supported here.
    """
    parts: list[str] = []
    fields: list[tuple[str, str]] = []
    depth = 0
    for token in _TOKEN.finditer(pattern):
        if (letters := token["letters"]) is not None:
            if (offset := _OFFSETS.get(letters)) is not None:
                parts.append(offset)
                continue
            name = f"f{len(fields)}"
            fields.append((name, letters))
            parts.append(f"(?P<{name}>{_field(pattern, letters)})")
        elif token["quoted"] is not None:
            parts.append(re.escape(token["quoted"].replace("''", "'") or "'"))
        elif token["other"] == "[":
            depth += 1
            parts.append("(?:")
        elif token["other"] == "]":
            depth -= 1
            parts.append(")?")
        else:
            parts.append(re.escape(token["other"]))
        if depth < 0:
            break
    if not fields or depth:
        reason = "its brackets do not pair" if depth else "it has no letter such as y"
        raise DatePatternError(f"The format {pattern} cannot be used: {reason}.")
    _check_repeats(pattern, fields)
    return DatePattern(rf"(?is)\A{''.join(parts)}\z", tuple(fields))


def _check_repeats(pattern: str, fields: list[tuple[str, str]]) -> None:
    kinds = [letters[0] for _, letters in fields]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise DatePatternError(f"The format {pattern} cannot be used: it has the letter {kind} in two places.")


def _field(pattern: str, letters: str) -> str:
    """Return the regular expression of a field."""
    found = next(_expressions(letters), None)
    if found is None:
        raise DatePatternError(
            f"The format {pattern} cannot be used: {letters} is not known; the letters are those of Spark's datetime"
            " patterns for parsing, without names of eras and zones."
        )
    return found


def _expressions(letters: str) -> Iterator[str]:
    kind, times = letters[0], len(letters)
    match kind, times:
        case "y", 2:
            yield r"\d{2}"
        case "y", 1 | 3:
            yield rf"\d{{{times},6}}"
        case "y", 4 | 5 | 6:
            yield rf"\d{{{times}}}|\+\d{{{times + 1},6}}" if times < 6 else r"\d{6}"
        case "M" | "L", 3:
            yield "|".join(_SHORT_MONTHS)
        case "M" | "L", 4:
            yield "|".join(MONTHS)
        case "M" | "L" | "d" | "H" | "h" | "K" | "k" | "m" | "s", 1:
            yield r"\d{1,6}"
        case "M" | "L" | "d" | "H" | "h" | "K" | "k" | "m" | "s", 2:
            yield r"\d{2}"
        case "D", 1 | 2 | 3:
            yield rf"\d{{{times},3}}"
        case "S", _ if times <= _MOST_FRACTION_DIGITS:
            yield rf"\d{{1,{times}}}"
        case "a", 1:
            yield "am|pm"
