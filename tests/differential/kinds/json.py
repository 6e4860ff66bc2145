"""JSON files of any framing, read by our reader on all its ways, and by Python's json module record by record.

The generator knows which texts are records and which are broken, so the framing needs no oracle. A file is read whole
and in pieces, with `multiLine` and without, by the C kernel and without it; all must agree. Python's module says what a
record holds, but for what RFC 8259 leaves open and our reader refuses: lone surrogates, NaN and Infinity, numbers
beyond a double. Numbers are equal if they are exactly the same number; integers of more than 38 digits are texts
(decision 0063).
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats import read_format
from gluepot.connectors.files.formats.json import cutter
from gluepot.frames import json_kernel
from gluepot.frames.rows import rows
from tests.differential.kind import Difference, Round, World

_FILES = 100
_NUMBERS = [
    "0", "-0", "1", "-1", "7", "123456789", "2147483648", "9007199254740993", "9223372036854775807",
    "-9223372036854775808", "9223372036854775808", "-9223372036854775809", "123456789012345678901234567890",
    "0.5", "-0.0", "1.0", "1e2", "1E+2", "1e-2", "2.50", "1e308", "4.9e-324", "1e-400", "0e999", "12345678901234567.5",
]  # fmt: skip
_STRINGS = [
    "", "a", "}{", "]", "[", "},{", '\\"', '\\"}', "\\\\", "\\\\\\\\", "\\n", "\\u0041", "\\u00e9", "\\ud83d\\ude00", "\\u0000",
    "\\/", "é", "😀", "\u2028", ":", ",", " ", "2024-01-02", "2024-01-02T03:04:05Z", "1", "null", "\x7f",
]  # fmt: skip
_BROKEN_VALUES = [
    "nul", "NaN", "Infinity", "-", "01", "1.", ".5", "+1", "0x1", "1e", "'a'", '"\\x"', '"\\ud800"', '"\\udc00\\ud800"',
    '"\\u12"', '"\t"', "1e400", "{1}", "[1,]", '{"a"}', '{"a":1,}', "[1 2]", '"a" "b"', "truefalse", '"\xff"',
]  # fmt: skip
_FIRST_TEXT = 10**38
_NAMES = ["a", "A", "b", "id", "é", "x.y", "", "a b", "}", '\\"', "\\u0061", "nested"]


@dataclass(frozen=True, slots=True)
class Case:
    """A file, what is in it and how it is cut.

    Args:
        data: the file.
        good: its records.
        broken: the number of those that no reader can read.
        cuts: where its pieces end.
        piece_bytes: what the cutter looks at in one go.
    """

    data: bytes
    good: tuple[bytes, ...]
    broken: int
    cuts: tuple[int, ...]
    piece_bytes: int


class Kind:
    """See the module."""

    name = "json"
    unit = "files"
    files = _FILES

    def round(self, random: Random, world: World) -> Round:
        """Compare files of random records."""
        result = Round()
        for _ in range(self.files):
            case = _case(random)
            result.cases += 1
            result.taken += 1
            expected = ([_plain(json.loads(text)) for text in case.good], case.broken)
            for form, found in _found(case):
                if not _equal(found, expected):
                    result.differences.append(Difference(f"{form} {case}", repr(found), repr(expected)))
                    break
        return result


def _case(random: Random) -> Case:
    shape = [(name, random.choice("nsbldmx")) for name in random.sample(_NAMES, random.randrange(1, 5))]
    texts = [_record(random, shape) for _ in range(random.choice([0, 1, 2, 3, 5, 40]))]
    good, broken = list(texts), 0
    if texts and random.random() < 0.3:
        at = random.randrange(len(texts))
        texts[at] = '{"z": ' + random.choice(_BROKEN_VALUES) + random.choice(["}", ', "y": {"q": [1]}}'])
        del good[at]
        broken = 1
    framing = random.choice(
        ["lines", "lines", "lines", "blanks", "several", "array", "array lines", "spread", "arrays"]
    )
    if framing in {"spread", "arrays"} and broken and at == 0 and random.random() < 0.5:
        framing = "array"
    text = _framed(random, framing, texts)
    data = text.encode("utf-8", "surrogateescape").replace("\xff".encode(), b"\xff")
    if random.random() < 0.1:
        data = b"\xef\xbb\xbf" + data
    cuts = tuple(sorted({random.randrange(1, len(data) + 2) for _ in range(random.randrange(4))}))
    return Case(data, tuple(one.encode() for one in good), broken, cuts, random.choice([20, 100, 256 << 10, 256 << 10]))


def _framed(random: Random, framing: str, texts: list[str]) -> str:
    ending = random.choice(["\n", "\n", "\r\n"])
    match framing:
        case "lines":
            return ending.join(texts) + random.choice(["", ending])
        case "blanks":
            return "".join(random.choice(["", " ", ending, ending * 2]) + text + " " + ending for text in texts)
        case "several":
            return "".join(text + random.choice(["", "", " ", ending]) for text in texts)
        case "array":
            return "[" + random.choice([", ", ","]).join(texts) + "]"
        case "array lines":
            return "[" + random.choice(["", ending]) + ("," + ending).join(texts) + random.choice(["", ending]) + "]"
        case "arrays":
            half = len(texts) // 2
            return ending.join(_framed(random, "array lines", part) for part in (texts[:half], texts[half:]))
        case _:
            return ending.join(_spread(random, text, ending) for text in texts)


def _spread(random: Random, text: str, ending: str) -> str:
    """Return a record over lines, if it is JSON; nothing in its strings changes."""
    try:
        document = json.loads(
            text, object_pairs_hook=lambda pairs: pairs if len(dict(pairs)) < len(pairs) else dict(pairs)
        )
    except json.JSONDecodeError:
        return text
    if "\\ud800" in text or isinstance(document, list) or any(isinstance(one, list) for one in document.values()):
        return text.replace("{", "{" + ending, 1)
    del document
    return "{" + ending + random.choice(["", " ", "\t"]) + text[1:-1] + ending + "}"


def _record(random: Random, shape: list[tuple[str, str]]) -> str:
    fields = []
    for name, kind in shape:
        if random.random() < 0.85:
            fields.append(f'"{name}"{random.choice(["", " "])}:{random.choice(["", " "])}{_value(random, kind, 0)}')
    if fields and random.random() < 0.1:
        fields.append(random.choice(fields))
    if random.random() < 0.1:
        random.shuffle(fields)
    return "{" + random.choice([", ", ","]).join(fields) + "}"


def _value(random: Random, kind: str, depth: int) -> str:
    if random.random() < 0.1:
        return "null"
    if kind == "m" or random.random() < 0.05:
        kind = random.choice("nsbld")
    if kind in "ld" and depth > 2:
        kind = "s"
    match kind:
        case "n":
            return random.choice(_NUMBERS) if random.random() < 0.5 else _number(random)
        case "s":
            return '"' + "".join(random.choice(_STRINGS) for _ in range(random.randrange(3))) + '"'
        case "b":
            return random.choice(["true", "false"])
        case "l":
            inner = random.choice("nsb" if random.random() < 0.8 else "mld")
            return "[" + ", ".join(_value(random, inner, depth + 1) for _ in range(random.randrange(4))) + "]"
        case "x":
            return random.choice(["{}", "[]", '""', "null", "[[]]", "[{}]", '{"a": {}}', "[null]", '{"a": null}'])
        case _:
            names = random.sample(_NAMES, random.randrange(3))
            return (
                "{" + ", ".join(f'"{name}": {_value(random, random.choice("nsbl"), depth + 1)}' for name in names) + "}"
            )


def _number(random: Random) -> str:
    """Return a number with any digits that is no larger than a double: integers, fractions, and with an exponent."""
    size = random.choice([1, 3, 9, 15, 16, 17, 18, 19, 19, 20, 20, 21, 30, 38, 39, 40])
    digits = str(random.randrange(1, 10)) + "".join(random.choices("0123456789", k=size - 1))
    sign = random.choice(["", "-"])
    if random.random() < 0.5:
        return sign + digits
    point = random.randrange(1, size + 1)
    text = f"{digits[:point]}.{digits[point:] or '0'}"
    exponent = random.choice([0, 1, -1, 5, -7, 22, -22, 23, -25, 200, -300]) if random.random() < 0.5 else None
    return sign + text + ("" if exponent is None else f"{random.choice('eE')}{exponent}")


@contextmanager
def _without_kernel() -> Iterator[None]:
    before, json_kernel.IS_COMPILED = json_kernel.IS_COMPILED, False
    try:
        yield
    finally:
        json_kernel.IS_COMPILED = before


def _found(case: Case) -> Iterator[tuple[str, Any]]:
    before, cutter._PIECE_BYTES = cutter._PIECE_BYTES, case.piece_bytes
    try:
        yield "whole", _read(case, {}, [None])
        yield "multiLine", _read(case, {"multiLine": True}, [None])
        yield "pieces", _read(case, {}, list(pairwise([0, *case.cuts, len(case.data) + 2])))
        with _without_kernel():
            yield "without kernel", _read(case, {}, [None])
    finally:
        cutter._PIECE_BYTES = before


def _read(case: Case, options: dict[str, Any], pieces: list[tuple[int, int] | None]) -> Any:
    found: list[Any] = []
    errors = 0
    try:
        reader = read_format("json", options).reader()
        for piece in pieces:
            for chunk in reader.read(OpenFile(io.BytesIO(case.data), "f", "", piece)):
                found += [_plain(row) for row in rows(chunk)]
                errors += len(chunk.errors)
    except Exception as error:  # noqa: BLE001 - any failure is a difference
        return repr(error)
    return found, errors


def _plain(value: Any) -> Any:
    """Return a value without fields that are null: columns do not tell them from missing ones."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items() if item is not None}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, float) and isinstance(other, float):
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(item, other[name]) for name, item in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, str) and isinstance(other, int):
        return abs(other) >= _FIRST_TEXT and one == str(other)
    return bool(one == other)
