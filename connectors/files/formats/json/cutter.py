"""Cuts JSON text into records, wherever they begin and end, without building them.

Each object at the top is a record, and so is each element of an array at the top. Other text at the top is a record of
its own, which a decoder refuses. A string ends with its line at the latest, because JSON has no line breaks in strings:
an open quote does not reach the next line.

A record that lacks a closing bracket would take all others with it. So where records begin on lines of their own, and
one turns out to be no JSON, the next line that begins as they do begins a new record, if indentation or earlier records
show that it is no part of the broken one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
import numpy.typing as npt
import orjson

# Text that is looked at in one go. What a broken record hides is looked at again, so it is not long.
_PIECE_BYTES = 256 << 10
_MOST_INDENT = 64
# A record that may be broken is read on up to here, to see whether it ends as JSON after all.
_MOST_DOUBTFUL_BYTES = 1 << 20
_SPACE = b" \t\r\n"
_QUOTE, _BACKSLASH, _BREAK, _COMMA, _OBJECT, _ARRAY = b'"\\\n,{['
_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"{[")] = 1
_STEPS[list(b"}]")] = -1
_SPECIAL = np.zeros(256, np.bool_)
_SPECIAL[list(b'{[}]",\n')] = True

Record = tuple[int, bytes]


@dataclass(frozen=True, slots=True)
class _Tokens:
    """Brackets and commas outside of strings.

    Args:
        at: where each is.
        codes: which byte each is.
        depths: how many brackets are open behind it.
        in_array: whether the last bracket that was opened at the top is that of an array.
        bounds: indices of those that begin or end a record.
    """

    at: npt.NDArray[np.int64]
    codes: npt.NDArray[np.uint8]
    depths: npt.NDArray[np.int64]
    in_array: npt.NDArray[np.bool_]
    bounds: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Doubt:
    """A line within a record at which another one begins, if the record turns out to be broken.

    Args:
        at: where the line's record begins in the text.
        in_array: whether it is an element of an array at the top.
    """

    at: int
    in_array: bool


class Cutter:
    """Cuts the text of one file, which comes in blocks.

    Args:
        at: the byte of the file that the text begins at.
    """

    def __init__(self, at: int = 0) -> None:
        self._text = bytearray()  # from the beginning of the record on that is not complete
        self._text_at = self._first_at = at
        self._scanned = 0  # how much of the text was looked at
        self._depth = 0
        self._in_string = False
        self._is_escaped = False
        self._in_array = False
        self._unread = bytearray()
        self._doubt: _Doubt | None = None
        self._prefix: bytes | None = None  # of lines that records begin on
        self._has_record_on_line = False

    @property
    def held_bytes(self) -> int:
        """The length of the record that has begun and not ended."""
        return len(self._text)

    @property
    def at(self) -> int:
        """The byte of the file that it begins at."""
        return self._text_at

    @property
    def is_array_open(self) -> bool:
        """Whether the text so far ends within an array at the top."""
        return self._in_array and self._depth > 0

    def feed(self, block: bytes) -> Iterator[Record]:
        """Yield the records that end in a block, each with the byte of the file that it begins at."""
        self._unread += block
        while len(self._unread) >= _PIECE_BYTES:  # of the same size wherever blocks end
            self._text += self._unread[:_PIECE_BYTES]
            del self._unread[:_PIECE_BYTES]
            yield from self._read_on()

    def end(self) -> Iterator[Record]:
        """Yield the records at the end of the text, also one that is not complete."""
        self._text += self._unread
        self._unread.clear()
        yield from self._read_on()
        while self._doubt is not None and not _is_json(bytes(self._text)):
            yield from self._restart(0, self._doubt)
            yield from self._read_on()
        yield from self._cut(0, len(self._text))
        self._drop(len(self._text))

    def _read_on(self) -> Iterator[Record]:
        while self._scanned < len(self._text):
            yield from self._scan()
            if self._doubt is not None and len(self._text) - self._doubt.at > _MOST_DOUBTFUL_BYTES:
                yield from self._restart(0, self._doubt)

    def _restart(self, begin: int, doubt: _Doubt) -> Iterator[Record]:
        """Yield a broken record, and read on at the one that begins within it."""
        yield from self._cut(begin, doubt.at)
        self._depth, self._in_array = int(doubt.in_array), doubt.in_array
        self._in_string = self._is_escaped = False
        self._scanned = doubt.at
        self._drop(doubt.at)

    def _scan(self) -> Iterator[Record]:
        """Look at the text that was not looked at, up to its end or to a record that turns out to be broken."""
        tokens = self._tokens(self._scanned)
        begin, in_array = 0, self._in_array
        lines = self._lines_within(tokens, self._scanned)
        places = tokens.at[tokens.bounds]
        bounds = zip(
            places.tolist(), tokens.codes[tokens.bounds].tolist(), tokens.in_array[tokens.bounds].tolist(), strict=True
        )
        for line, count in [*lines, (len(self._text), len(places))]:
            for at, code, in_array in islice(bounds, count):
                end = at if in_array or code == _OBJECT else at + 1
                if self._doubt is not None:
                    if not _is_json(bytes(self._text[begin:end])):
                        yield from self._restart(begin, self._doubt)
                        return
                    self._doubt = None
                yield from self._cut(begin, end)
                begin = at if code == _OBJECT else at + 1
            if self._doubt is None and line < len(self._text) and self._may_be_over(begin, line):
                self._doubt = _Doubt(line, in_array)
        self._scanned = len(self._text)
        if len(tokens.at):
            self._depth, self._in_array = int(tokens.depths[-1]), bool(tokens.in_array[-1])
        self._drop(begin)

    def _cut(self, begin: int, end: int) -> Iterator[Record]:
        with memoryview(self._text) as text:
            record = bytes(text[begin:end]).strip(_SPACE)
        if record:
            self._has_record_on_line |= record[0] == _OBJECT and b"\n" not in record
            yield self._text_at + self._text.index(record[:1], begin), record

    def _drop(self, size: int) -> None:
        del self._text[:size]
        self._text_at += size
        self._scanned -= size
        if self._doubt is not None:
            self._doubt = _Doubt(self._doubt.at - size, self._doubt.in_array) if self._doubt.at > size else None

    def _tokens(self, first: int) -> _Tokens:
        codes = np.frombuffer(bytes(self._text[first:]), np.uint8)
        at = np.flatnonzero(_SPECIAL[codes])
        kinds = codes[at]
        is_quote = kinds == _QUOTE
        is_quote &= ~self._escaped(codes)[at]
        quotes = np.cumsum(is_quote) + self._in_string
        in_string = (quotes - np.maximum.accumulate(np.where(kinds == _BREAK, quotes, 0))) & 1
        if len(at):
            self._in_string = bool(in_string[-1])
        kept = (in_string == 0) & (kinds != _QUOTE) & (kinds != _BREAK)
        at, kinds = at[kept] + first, kinds[kept]
        depths = self._depth + np.cumsum(_STEPS[kinds], dtype=np.int64)
        depths -= np.minimum(np.minimum.accumulate(depths), 0)
        before = np.append(self._depth, depths[:-1])
        opens = (depths == 1) & (before == 0)
        last_open = np.maximum.accumulate(np.where(opens, np.arange(len(opens)), -1))
        in_array = np.where(last_open < 0, self._in_array, kinds[last_open] == _ARRAY) if len(at) else opens
        ends = ((depths == 0) & (before == 1)) | ((kinds == _COMMA) & (depths == 1) & in_array)
        return _Tokens(at, kinds, depths, in_array, np.flatnonzero(opens | ends))

    def _escaped(self, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        """Return which bytes stand behind a backslash that is not itself behind one."""
        escaped = np.zeros(len(codes) + 1, np.bool_)
        at = np.flatnonzero(codes == _BACKSLASH)
        first_of_run = np.diff(at, prepend=-2) > 1
        run = np.maximum.accumulate(np.where(first_of_run, at, 0))
        if self._is_escaped and len(codes):
            escaped[0] = True
            run[run == 0] = 1  # a run that begins with an escaped backslash
        escaped[at[((at - run) & 1) == 0] + 1] = True
        self._is_escaped = bool(escaped[-1])
        return escaped[:-1]

    def _lines_within(self, tokens: _Tokens, first: int) -> list[tuple[int, int]]:
        """Return where lines within records begin as records do, each with the number of bounds since the last one."""
        levels = tokens.depths - tokens.in_array
        is_object = tokens.codes == _OBJECT
        if self._prefix is None and len(starts := tokens.at[is_object & (levels == 1)]):
            self._prefix = self._line_prefix(starts)
        if self._prefix is None:
            return []
        line, at, counted = b"\n" + self._prefix + b"{", max(0, first - len(self._prefix) - 1), 0
        lines = []
        while (at := self._text.find(line, at) + 1) > 0:
            index = int(np.searchsorted(tokens.at, at + len(line) - 2))
            if index < len(levels) and tokens.at[index] == at + len(line) - 2 and levels[index] > 1:
                count = int(np.searchsorted(tokens.bounds, index))
                lines.append((at, count - counted))
                counted = count
        return lines

    def _line_prefix(self, starts: npt.NDArray[np.int64]) -> bytes | None:
        """Return the white space on the line before the first record that begins on a line of its own."""
        breaks = np.flatnonzero(np.frombuffer(bytes(self._text), np.uint8) == _BREAK)
        if self._text_at == self._first_at:
            breaks = np.append(-1, breaks)
        lines = np.searchsorted(breaks, starts) - 1
        for start, line in zip(starts.tolist(), lines.tolist(), strict=True):
            if line >= 0 and start - breaks[line] <= _MOST_INDENT:
                before = bytes(self._text[breaks[line] + 1 : start])
                if not before.strip(b" \t"):
                    return before
        return None

    def _may_be_over(self, begin: int, line: int) -> bool:
        """Return whether a record, if it is broken, ends before a line that begins as records do."""
        prefix = self._prefix or b""
        lines = bytes(self._text[begin:line]).strip(_SPACE).split(b"\n", 2)
        if len(lines) == 1:
            return self._has_record_on_line
        return lines[1].startswith(prefix) and lines[1][len(prefix) : len(prefix) + 1] in (b" ", b"\t")


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def cut(text: bytes, at: int = 0) -> list[Record]:
    """Return the records of a text."""
    cutter = Cutter(at)
    pieces = (text[start : start + _PIECE_BYTES] for start in range(0, len(text), _PIECE_BYTES))
    return [*chain.from_iterable(map(cutter.feed, pieces)), *cutter.end()]
