"""Ion files: our reader, which uses the library of Amazon, beside the values that were written.

An encoder of the tests, which shares nothing with the library, writes random values as text or in the binary encoding.
What becomes of a value that no column can hold is said in docs/limits.md.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Context, Decimal
from random import Random
from typing import Any

from gluepot.core.errors import PermanentError
from tests.differential.ion.encoding import SYSTEM, TYPES, VERSION, Encoded, Encoder
from tests.differential.kind import Difference, Round, World, shrink
from tests.differential.plain_rows import plain_rows, record
from tests.unit.files.reading import chunks

FILES = 50
_NAMES = ("a", "b", "A", "c", "é", "", "a b", "$ion_x", "null", "true", "name", "it's", 'q"', "+", "$9", "日本")
_TEXTS = ("", "a", "é", "😀", "a\nb", "\0", "it's", 'say "x"', "\\", "null", "0", "x" * 70, "2007T", "''' '''")
_INTEGERS = (
    0,
    1,
    -1,
    127,
    128,
    2**31,
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    2**63,
    -(2**63) - 1,
    10**38 - 1,
    -(10**38),
    10**50,
)
_DOUBLES = (0.0, -0.0, 1.5, -2.25, 0.1, 1e300, 5e-324, 1e16, math.nan, math.inf, -math.inf)
_ANNOTATIONS = ("x", "unit", "a b", "null", "name")
_FIRST, _LAST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999)
_EPOCH = datetime(1970, 1, 1)
_REFUSED = "the file is refused"
_CONTEXT = Context(prec=200)


class Kind:
    """See `tests.differential.kind.Kind`."""

    name = "ion"
    unit = "files"

    def round(self, random: Random, world: World, files: int = FILES) -> Round:
        """Compare some files."""
        result = Round()
        for number in range(files):
            folder = world.folder / str(number)
            folder.mkdir()

            seed = random.random()
            parts = [_Maker(Random(f"{seed} {at}")).part() for at in range(random.choice([0, 1, 1, 2, 3, 8, 40]))]
            data = _file(seed, parts)
            result.cases += 1
            if random.random() < 0.1:
                self._cut(random, folder, data, parts, result)
                continue
            ours = _ours(folder, data)
            result.taken += isinstance(ours, tuple)
            if not _agree(ours, parts):
                result.differences.append(self._smallest(folder, seed, parts))
        return result

    def _smallest(self, folder: Any, seed: float, parts: list[_Part]) -> Difference:
        def smaller(some: list[_Part]) -> Iterator[list[_Part]]:
            half = len(some) // 2
            yield from (some[:half], some[half:]) if half else ()
            yield from (some[:at] + some[at + 1 :] for at in range(len(some)))

        def differs(some: list[_Part]) -> bool:
            return not _agree(_ours(folder, _file(seed, some)), some)

        small = shrink(parts, smaller, differs, 50)
        data, wanted = _file(seed, small), [part.wanted for part in small]
        return Difference(repr(data)[:2000], repr(_ours(folder, data))[:2000], repr(wanted)[:2000])

    def _cut(self, random: Random, folder: Any, data: bytes, parts: list[_Part], result: Round) -> None:
        """Of a file that ends too early, only records from its beginning may be read."""
        ours = _ours(folder, data[: random.randrange(len(data) + 1)])
        rows = [part.wanted for part in parts if part.wanted is not None]
        if isinstance(ours, tuple) and not _same(ours[0], rows[: len(ours[0])]):
            result.differences.append(Difference(f"cut: {data!r}"[:2000], repr(ours)[:2000], repr(rows)[:2000]))


@dataclass(frozen=True, slots=True)
class _Part:
    """A value of a file.

    Args:
        make: encodes the value.
        wanted: the record; None if the value is not one.
        is_text: whether only text can hold it.
    """

    make: Callable[[Encoder], Encoded]
    wanted: dict[str, Any] | None
    is_text: bool


def _file(seed: float, parts: list[_Part]) -> bytes:
    """Write values as text or binary; now and then, the symbols begin again."""
    random = Random(seed)
    if random.random() < 0.5 or any(part.is_text for part in parts):
        made = (part.make(Encoder(Random(random.random()))) for part in parts)
        space = Encoder(random).space
        version = random.choice(["", "$ion_1_0 "])
        return (version + "".join(f"{space()}{one.text}{space()} " for one in made)).encode()
    data = b""
    left = list(parts)
    while left or not data:
        encoder = Encoder(Random(random.random()))
        some, left = left[: (size := random.randint(1, 50))], left[size:]
        body = b"".join(part.make(encoder).binary for part in some)
        data += VERSION + (encoder.table() if encoder.symbols or random.random() < 0.1 else b"") + body
    return data


def _ours(folder: Any, data: bytes) -> Any:
    """Return the records, and how many values were none; `_REFUSED` if the file was refused."""
    (folder / "a.ion").write_bytes(data)
    try:
        found = chunks(folder, "ion")
    except PermanentError as error:
        if "is not valid Ion" not in str(error):
            raise
        return _REFUSED
    except Exception as error:  # noqa: BLE001  a difference
        return f"{type(error).__name__}: {error}"
    return [row for chunk in found for row in plain_rows(chunk.batch)], sum(len(chunk.errors) for chunk in found)


def _agree(ours: Any, parts: list[_Part]) -> bool:
    rows = [part.wanted for part in parts if part.wanted is not None]
    return isinstance(ours, tuple) and _same(ours[0], rows) and ours[1] == len(parts) - len(rows)


def _same(ours: Any, wanted: Any) -> bool:
    """Compare values; a double may be an integer that it equals, and integers may be decimals."""
    if isinstance(ours, dict) and isinstance(wanted, dict):
        return ours.keys() == wanted.keys() and all(_same(ours[name], wanted[name]) for name in ours)
    if isinstance(ours, list) and isinstance(wanted, list):
        return len(ours) == len(wanted) and all(map(_same, ours, wanted))
    if isinstance(wanted, float):
        return isinstance(ours, float) and _bits(ours) == _bits(wanted)
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        return not isinstance(ours, bool | str) and ours is not None and ours == wanted
    return type(ours) is type(wanted) and bool(ours == wanted)


def _bits(value: float) -> bytes:
    return b"nan" if math.isnan(value) else struct.pack(">d", value)


def _micros(local: datetime) -> int:
    return (local - _EPOCH) // timedelta(microseconds=1)


class _Maker:
    """Makes random values: what a column has of each, and a function that encodes it."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def part(self) -> _Part:
        """Return a value of a file, mostly a struct."""
        kind = "struct" if self.random.random() < 0.9 else self.random.choice([*TYPES])
        seed = self.random.random()

        def make(encoder: Encoder) -> Encoded:
            return _Values(Random(seed), encoder).value(kind, 0, at_top=True)[1]

        values = _Values(Random(seed), Encoder(Random(seed)))
        wanted, _ = values.value(kind, 0, at_top=True)
        is_record = isinstance(wanted, dict) and not values.is_unfit
        return _Part(make, wanted if is_record else None, values.is_text)


class _Values:
    """Random values in the encodings of an encoder, and what a column has of them.

    What is random about a value comes from `random`, what is random about its encoding from the encoder, so that one
    value can be encoded in several ways.
    """

    def __init__(self, random: Random, encoder: Encoder) -> None:
        self.random = random
        self.encoder = encoder
        self.is_unfit = False
        self.is_text = False

    def value(self, kind: str, depth: int, *, at_top: bool = False) -> tuple[Any, Encoded]:
        """Return a value of a type, or a null of the type."""
        if self.random.random() < (0.02 if at_top else 0.1) or kind == "null":
            wanted, encoded = None, self.encoder.null(kind)
        else:
            wanted, encoded = getattr(self, f"_{kind}")(depth)
            if at_top and kind == "symbol":  # `$ion_1_0` would be the mark of a version
                wanted, encoded = self._string(depth)
        if self.random.random() < 0.15:
            names = self.random.choices(_ANNOTATIONS, k=self.random.choice([1, 1, 2]))
            encoded = self.encoder.annotated(encoded, names)
        return wanted, encoded

    def _any(self, depth: int) -> tuple[Any, Encoded]:
        kinds = [*TYPES] if depth < 3 else ["bool", "int", "string", "decimal", "null"]
        return self.value(self.random.choice(kinds), depth + 1)

    def _bool(self, _depth: int) -> tuple[Any, Encoded]:
        value = self.random.random() < 0.5
        return value, self.encoder.flag(value)

    def _int(self, _depth: int) -> tuple[Any, Encoded]:
        value = self.random.choice(_INTEGERS) if self.random.random() < 0.5 else self.random.randint(-99, 99)
        if self.random.random() < 0.01:
            value = 2**1023 * self.random.choice([1, -1])
            self.is_unfit = True
        return str(value) if abs(value) >= 10**38 else value, self.encoder.integer(value)

    def _float(self, _depth: int) -> tuple[Any, Encoded]:
        value = self.random.choice([*_DOUBLES, self.random.uniform(-1000, 1000)])
        return value, self.encoder.double(value)

    def _decimal(self, _depth: int) -> tuple[Any, Encoded]:
        digits = self.random.choice([0, 1, 3, 18, 19, 38, 39, 60])
        coefficient = self.random.randrange(10**digits) * self.random.choice([1, -1])
        exponent = self.random.choice([0, -1, -2, -2, -10, -38, -39, -60, 1, 5, 30, 70])
        is_negative_zero = coefficient == 0 and self.random.random() < 0.3
        encoded = self.encoder.decimal(coefficient, exponent, is_negative_zero=is_negative_zero)
        exact = Decimal(coefficient).scaleb(exponent, _CONTEXT)
        size = max(len(str(abs(coefficient))), len(str(abs(coefficient))) + exponent)
        fits = coefficient == 0 or max(size, -exponent) <= 38
        return exact if fits else str(exact), encoded

    def _timestamp(self, _depth: int) -> tuple[Any, Encoded]:
        precision = self.random.choice(["year", "month", "day", "minute", "second", "second", "second"])
        span = (_LAST - _FIRST) // timedelta(seconds=1)
        second = self.random.choice([0, span, self.random.randrange(span), self.random.randint(60 * 10**9, 64 * 10**9)])
        local = _FIRST + timedelta(seconds=second)
        if precision in {"year", "month", "day"}:
            local = local.replace(hour=0, minute=0, second=0, microsecond=0)
            local = local if precision == "day" else local.replace(day=1)
            local = local.replace(month=1) if precision == "year" else local
            offset, fraction = None, ""
        else:
            offset = self.random.choice([None, 0, 60, -60, 330, -720, 840, 1439, -1439, 1])
            local = local.replace(second=local.second if precision == "second" else 0)
            digits = self.random.choice([0, 0, 1, 3, 6, 7, 9]) if precision == "second" else 0
            fraction = "".join(self.random.choices("0123456789", k=digits))
        micros = int(fraction[:6].ljust(6, "0"))  # the rest is cut
        wanted = _micros(local) + micros - (offset or 0) * 60_000_000
        if not _micros(_FIRST) <= wanted <= _micros(_LAST):
            self.is_unfit = self.is_text = True  # binary timestamps are in UTC
        return wanted, self.encoder.timestamp(local, precision, offset, fraction)

    def _symbol(self, _depth: int) -> tuple[Any, Encoded]:
        if self.random.random() < 0.02:
            self.is_unfit = True
            return None, self.encoder.symbol(None)
        text = self.random.choice([*_NAMES, *_TEXTS, *SYSTEM])
        return text, self.encoder.symbol(text)

    def _string(self, _depth: int) -> tuple[Any, Encoded]:
        value = self.random.choice(_TEXTS) if self.random.random() < 0.99 else "y" * self.random.randrange(16_000)
        return value, self.encoder.string(value)

    def _blob(self, _depth: int) -> tuple[Any, Encoded]:
        value = self.random.randbytes(self.random.choice([0, 1, 2, 3, 13, 14, 200]))
        return value, self.encoder.blob(value)

    def _clob(self, _depth: int) -> tuple[Any, Encoded]:
        value = self.random.randbytes(self.random.choice([0, 1, 5, 20]))
        return value, self.encoder.clob(value)

    def _list(self, depth: int) -> tuple[Any, Encoded]:
        pairs = self._items(depth)
        return [wanted for wanted, _ in pairs], self.encoder.sequence([encoded for _, encoded in pairs])

    def _sexp(self, depth: int) -> tuple[Any, Encoded]:
        pairs = self._items(depth)
        return [wanted for wanted, _ in pairs], self.encoder.expression([encoded for _, encoded in pairs])

    def _items(self, depth: int) -> list[tuple[Any, Encoded]]:
        kind = self.random.choice([*TYPES])
        count = self.random.choice([0, 1, 2, 3])
        if self.random.random() < 0.7 and depth < 3:
            return [self.value(kind, depth + 1) for _ in range(count)]
        return [self._any(depth) for _ in range(count)]

    def _struct(self, depth: int) -> tuple[Any, Encoded]:
        names: list[str | None] = [*self.random.sample(_NAMES, self.random.choice([0, 1, 2, 3, 5]))]
        wanted, fields = {}, []
        for name in names:
            wanted[str(name)], encoded = self._any(depth)
            fields.append((name, encoded))
        if self.random.random() < 0.005:
            self.is_unfit = True
            fields.append((None, self.encoder.flag(True)))
        if fields and not self.is_unfit and self.random.random() < 0.03:  # of a name twice, the last value counts
            name = fields[0][0]
            value = self.random.randrange(10)
            wanted[str(name)] = value
            fields.append((name, self.encoder.integer(value)))
        return record(wanted), self.encoder.record(fields)
