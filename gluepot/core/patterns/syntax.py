r"""Translates Python's regular expressions for engines that do not hang. Pure.

Engines disagree about syntax and about characters: `\Z`, `{e}`, `\w`, `\s`. So the text of a pattern never reaches
another engine. Python's own parser parses it, and each part is written as an expression that the engine reads in the
same way as Python reads the part.
"""

from __future__ import annotations

import re
import re._constants as code  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MOST_CHARACTERS = 10_000
# Python's parser calls itself for each level, and so do we.
_MOST_LEVELS = 100
# RE2 reads no larger counts.
_MOST_REPEATS = 1_000
# RE2 copies what is counted. An expression of this size takes it some 5 µs for each character of a text.
_MOST_LINEAR_SIZE = 1_000
_LAST_ASCII = 0x7F
# If case is ignored, they are equal to Python. To the other engines only the first two are.
_LETTERS_I = (0x49, 0x69, 0x130, 0x131)


class Invalid(ValueError):
    """A pattern is not a regular expression, or not one that can be matched in bounded time."""


class _NotLinear(Exception):
    """RE2 cannot match a part as Python does."""


@dataclass(frozen=True, slots=True)
class Translation:
    """A regular expression in the words of two engines.

    Args:
        linear: for RE2, and for plain texts only (`is_plain`); None if RE2 cannot match it as Python does.
        timed: for the package `regex`.
        flags: Python's flags.
    """

    linear: str | None
    timed: str
    flags: int


def is_plain(text: str) -> bool:
    """Return whether a text has only ASCII characters and no line feed, so that RE2 and Python read it alike."""
    return text.isascii() and "\n" not in text


def translated(pattern: str, flags: int = 0) -> Translation:
    """Translate a regular expression.

    Args:
        pattern: as the module `re` takes it.
        flags: of `re`, such as IGNORECASE.

    Raises:
        Invalid: it is not a regular expression, or too long; the message says why.
    """
    if len(pattern) > MOST_CHARACTERS:
        raise Invalid(f"it has {len(pattern):,} characters, and at most {MOST_CHARACTERS:,} are allowed")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about syntax that Python will read in another way one day
            tree = parser.parse(pattern, flags)
    except re.error as error:
        raise Invalid(str(error)) from None
    except (OverflowError, RecursionError):
        raise Invalid("it has a count that is too large, or too many nested groups") from None
    found = int(tree.state.flags)
    if found & re.ASCII and found & re.IGNORECASE:
        raise Invalid("it combines the flags `a` and `i`, which is not supported; remove one of them")
    timed = _Timed().write(tree, found, 0)
    try:
        linear: str | None = _Linear().write(tree, found, 0)
    except _NotLinear:
        linear = None
    return Translation(linear, timed, found)


class _Writer:
    """Writes what all engines have in common."""

    def write(self, tree: Any, flags: int, level: int) -> str:
        """Return a parsed expression in the engine's words."""
        if level > _MOST_LEVELS:
            raise Invalid(f"it has more than {_MOST_LEVELS} nested groups")
        return "".join(self.part(what, value, flags, level + 1) for what, value in tree)

    def part(self, what: Any, value: Any, flags: int, level: int) -> str:
        if what is code.LITERAL:
            return self.literal(value, flags)
        if what is code.NOT_LITERAL:
            return self.charset([(code.NEGATE, None), (code.LITERAL, value)], flags)
        if what is code.IN:
            return self.charset(value, flags)
        if what is code.ANY:
            return "(?s:.)" if flags & re.DOTALL else "(?-s:.)"
        if what is code.AT:
            return self.place(value, flags)
        if what is code.BRANCH:
            return "(?:" + "|".join(self.write(one, flags, level) for one in value[1]) + ")"
        if what in {code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT}:
            return self.repeat(what, value, flags, level)
        if what is code.SUBPATTERN:
            return self.group(value, flags, level)
        return self.further(what, value, flags, level)

    def literal(self, number: int, flags: int) -> str:  # noqa: ARG002
        character = chr(number)
        return character if character.isascii() and character.isalnum() else self.escaped(number)

    def repeat(self, what: Any, value: Any, flags: int, level: int) -> str:
        least, most, inner = value
        upper = "" if most is code.MAXREPEAT else str(most)
        mark = {code.MAX_REPEAT: "", code.MIN_REPEAT: "?", code.POSSESSIVE_REPEAT: "+"}[what]
        return f"(?:{self.write(inner, flags, level)}){{{least},{upper}}}{mark}"

    def group(self, value: Any, flags: int, level: int) -> str:
        number, added, removed, inner = value
        inner_flags = (flags | added) & ~removed
        if (flags ^ inner_flags) & re.IGNORECASE:
            # `regex` finds no match for some of these expressions where Python finds one.
            raise Invalid("it ignores case in a part only; use the flag `i` for all of it, or a set such as [aA]")
        return self.captured(number, self.write(inner, inner_flags, level))

    def escaped(self, number: int) -> str:
        raise NotImplementedError

    def charset(self, items: Any, flags: int) -> str:
        raise NotImplementedError

    def place(self, value: Any, flags: int) -> str:
        raise NotImplementedError

    def captured(self, number: int | None, text: str) -> str:
        raise NotImplementedError

    def further(self, what: Any, value: Any, flags: int, level: int) -> str:
        raise NotImplementedError


class _Linear(_Writer):
    """Writes for RE2, which gets plain texts only and has to say only whether they match."""

    def __init__(self) -> None:
        self._copies = 1
        self._size = 0

    def part(self, what: Any, value: Any, flags: int, level: int) -> str:
        self._size += self._copies
        if self._size > _MOST_LINEAR_SIZE:
            raise _NotLinear
        return super().part(what, value, flags, level)

    def escaped(self, number: int) -> str:
        return f"\\x{{{number:x}}}"

    def repeat(self, what: Any, value: Any, flags: int, level: int) -> str:
        least, most, _ = value
        count = int(least) if most is code.MAXREPEAT else int(most)
        if what is code.POSSESSIVE_REPEAT or count > _MOST_REPEATS:
            raise _NotLinear
        outer, self._copies = self._copies, self._copies * max(count, 1)
        try:
            return super().repeat(what, value, flags, level)
        finally:
            self._copies = outer

    def charset(self, items: Any, flags: int) -> str:
        if flags & re.IGNORECASE and any(_last(what, value) > _LAST_ASCII for what, value in items):
            raise _NotLinear  # the case of other letters may differ
        is_negated = items[0][0] is code.NEGATE
        ranges = "".join(
            f"{self.escaped(first)}-{self.escaped(last)}"
            for what, value in items[is_negated:]
            for first, last in _ascii_ranges(what, value)
        )
        if not ranges:
            return "(?s:.)" if is_negated else r"[^\x00-\x{10ffff}]"
        return f"[{'^' * is_negated}{ranges}]"

    def literal(self, number: int, flags: int) -> str:
        if number > _LAST_ASCII:
            raise _NotLinear
        return super().literal(number, flags)

    def place(self, value: Any, flags: int) -> str:  # noqa: ARG002
        if value in {code.AT_BEGINNING, code.AT_BEGINNING_STRING}:
            return r"\A"  # a plain text is one line
        if value in {code.AT_END, code.AT_END_STRING}:
            return r"\z"
        if value is code.AT_BOUNDARY:
            return r"\b"
        raise _NotLinear

    def captured(self, number: int | None, text: str) -> str:  # noqa: ARG002
        return f"(?:{text})"

    def further(self, what: Any, value: Any, flags: int, level: int) -> str:  # noqa: ARG002
        raise _NotLinear


class _Timed(_Writer):
    """Writes for the package `regex`, whose matches end when their time is over."""

    def __init__(self) -> None:
        self._open: list[int] = []
        self._repeats = 0

    def repeat(self, what: Any, value: Any, flags: int, level: int) -> str:
        self._repeats += 1
        try:
            return super().repeat(what, value, flags, level)
        finally:
            self._repeats -= 1

    def literal(self, number: int, flags: int) -> str:
        if flags & re.IGNORECASE and number in _LETTERS_I:
            return self.charset([(code.LITERAL, number)], flags)
        return super().literal(number, flags)

    def group(self, value: Any, flags: int, level: int) -> str:
        self._open.append(value[0])
        try:
            return super().group(value, flags, level)
        finally:
            self._open.pop()

    def escaped(self, number: int) -> str:
        return f"\\U{number:08x}"

    def charset(self, items: Any, flags: int) -> str:
        if flags & re.IGNORECASE:
            items = _with_equal_letters(items)
        is_negated = items[0][0] is code.NEGATE
        parts = [_timed_class(self, what, value, flags) for what, value in items[is_negated:]]
        # `regex` joins `[^a]|[^b]` to a wrong set, so no set is written as the opposite of one character.
        is_one_set = all(one[:2] != "[^" for one in parts) and not (is_negated and len(parts) == 1)
        if is_one_set:
            return f"[{'^' * is_negated}{''.join(one[1:-1] for one in parts)}]"
        either = "|".join(parts)
        return f"(?:(?!{either})(?s:.))" if is_negated else f"(?:{either})"

    def place(self, value: Any, flags: int) -> str:
        if value in {code.AT_BEGINNING, code.AT_END}:
            mark = "^" if value is code.AT_BEGINNING else "$"
            return f"(?m:{mark})" if flags & re.MULTILINE else mark
        if value is code.AT_BEGINNING_STRING:
            return r"\A"
        if value is code.AT_END_STRING:
            return r"\Z"
        word = _timed_class(self, code.CATEGORY, code.CATEGORY_WORD, flags)
        if value is code.AT_BOUNDARY:
            return f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"
        # In an empty text, `\B` matches nowhere.
        return f"(?!\\A\\Z)(?:(?<={word})(?={word})|(?<!{word})(?!{word}))"

    def captured(self, number: int | None, text: str) -> str:
        return f"(?:{text})" if number is None else f"(?P<g{number}>{text})"

    def further(self, what: Any, value: Any, flags: int, level: int) -> str:
        if what is code.GROUPREF:
            if self._repeats > 1:
                # `regex` finds no match for some of these expressions where Python finds one.
                raise Invalid(f"it has a back reference to group {value} inside nested repetitions")
            return f"(?P=g{value})"
        if what is code.GROUPREF_EXISTS:
            number, there, absent = value
            if number in self._open:
                raise Invalid(f"it tests group {number} inside this group")
            otherwise = "" if absent is None else self.write(absent, flags, level)
            return f"(?(g{number})(?:{self.write(there, flags, level)})|(?:{otherwise}))"
        if what is code.ATOMIC_GROUP:
            return f"(?>{self.write(value, flags, level)})"
        if what in {code.ASSERT, code.ASSERT_NOT}:
            direction, inner = value
            mark = ("<" if direction < 0 else "") + ("=" if what is code.ASSERT else "!")
            return f"(?{mark}{self.write(inner, flags, level)})"
        if what is code.FAILURE:
            return "(?!)"
        raise Invalid(f"it has {what}, which cannot be matched in bounded time")


_ASCII_RANGES: Mapping[Any, tuple[tuple[int, int], ...]] = {
    code.CATEGORY_DIGIT: ((0x30, 0x39),),
    code.CATEGORY_NOT_DIGIT: ((0x00, 0x2F), (0x3A, 0x7F)),
    code.CATEGORY_SPACE: ((0x09, 0x0D), (0x1C, 0x20)),
    code.CATEGORY_NOT_SPACE: ((0x00, 0x08), (0x0E, 0x1B), (0x21, 0x7F)),
    code.CATEGORY_WORD: ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    code.CATEGORY_NOT_WORD: ((0x00, 0x2F), (0x3A, 0x40), (0x5B, 0x5E), (0x60, 0x60), (0x7B, 0x7F)),
}
# The same characters as in the module `re`: a test compares all that Unicode has.
_UNICODE = {
    code.CATEGORY_DIGIT: r"[\p{Nd}]",
    code.CATEGORY_NOT_DIGIT: r"[\P{Nd}]",
    code.CATEGORY_SPACE: r"[\s\x1c-\x1f]",
    code.CATEGORY_NOT_SPACE: r"[^\s\x1c-\x1f]",
    code.CATEGORY_WORD: r"[\p{L}\p{N}_]",
    code.CATEGORY_NOT_WORD: r"[^\p{L}\p{N}_]",
}
_ASCII_ONLY = {
    code.CATEGORY_DIGIT: "[0-9]",
    code.CATEGORY_NOT_DIGIT: "[^0-9]",
    code.CATEGORY_SPACE: r"[\t-\r\x20]",
    code.CATEGORY_NOT_SPACE: r"[^\t-\r\x20]",
    code.CATEGORY_WORD: "[A-Za-z0-9_]",
    code.CATEGORY_NOT_WORD: "[^A-Za-z0-9_]",
}


def _timed_class(writer: _Writer, what: Any, value: Any, flags: int) -> str:
    if what is code.LITERAL:
        return f"[{writer.escaped(value)}]"
    if what is code.RANGE:
        return f"[{writer.escaped(value[0])}-{writer.escaped(value[1])}]"
    return (_ASCII_ONLY if flags & re.ASCII else _UNICODE)[value]


def _ascii_ranges(what: Any, value: Any) -> Iterator[tuple[int, int]]:
    if what is code.LITERAL:
        yield value, value
    elif what is code.RANGE:
        yield value
    else:
        yield from _ASCII_RANGES[value]


def _last(what: Any, value: Any) -> int:
    """Return the last character of a part of a set; 0 for a category."""
    return int(value[1] if what is code.RANGE else value) if what in {code.LITERAL, code.RANGE} else 0


def _with_equal_letters(items: Any) -> Any:
    """Return a set for an expression that ignores case, with all letters that are equal to Python."""
    has_letter_i = any(
        value in _LETTERS_I if what is code.LITERAL else any(value[0] <= one <= value[1] for one in _LETTERS_I)
        for what, value in items
        if what in {code.LITERAL, code.RANGE}
    )
    return [*items, *((code.LITERAL, one) for one in _LETTERS_I)] if has_letter_i else items
