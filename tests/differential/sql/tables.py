"""Random tables for queries: every type that a table has, with values at the ends of their types."""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Context, Decimal
from random import Random
from typing import Any

import pyarrow as pa

_STRINGS = (
    "", " ", "a", "A", "abba", " box ", "größe", "ß", "a_b%c", "a\\b", "b'ox", '"', "x\ty", "\u00a0", "日本", "😀", "null",
    "true", "0", "7", "-4", "003", " 12 ", "1e3", "1.50", "-0", "NaN", "2024-02-29", "2024-2-9", "1500-01-01",
    "99999999999999999999", "12:30", "z" * 40,
)  # fmt: skip
_DOUBLES = (
    0.0, -0.0, 0.5, -0.5, -0.3, 0.49999999999999994, 4503599627370497.5, 2147483647.5, 1.0, -1.5, 0.1, 1.005, -2.675, 2.5, 3.5, 1e-7, 1e7, 1.0e10, 123456789.125, 1e15, 1e17, -1e19, 1e300,
    5e-324, float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
_DAYS = (-719162, -141428, -141427, -135140, -135139, -25567, -1, 0, 59, 11016, 19782, 20543, 2932896, 2932897, 3000000)
_MICROS = (
    0,
    -1,
    1,
    999_999,
    1_700_000_000_123_456,
    -62_135_596_800_000_000,
    -12_219_292_800_000_001,
    253_402_300_800_000_000,
)
_CONTEXT = Context(prec=60)
# Values for which hardly a query ends with an error, or is left to Spark: no column has one of the others then.
_PLAIN_STRINGS = ("a", "A", "abba", " box ", "a_b%c", "b'ox", "xyz", "7", "2024-02-29")
_PLAIN_DOUBLES = (0.1, 0.5, 1.5, -2.5, 1.005, -2.675, 3.5, -0.25, -0.5, 1e-7, 123456.789)

# Columns whose values meet those of the other table.
_KEYS = ("k", "uk", "c", "g")

Make = Callable[[Random], Any]


def _whole(bits: int) -> Callable[[Random], int]:
    ends = (-(1 << bits - 1), (1 << bits - 1) - 1)
    return lambda random: random.choice([*ends, 0, 1, -1, *(random.randint(-9, 30) for _ in range(12))])


def _decimal(precision: int, scale: int, *, is_plain: bool = False) -> Callable[[Random], Decimal]:
    def value(random: Random) -> Decimal:
        some = random.randrange(10 ** min(precision, 5))
        # As likely to have few digits as to have many.
        any_size = random.randrange(1, 10 ** random.randint(1, precision))
        half = any_size // 10 * 10 + 5
        digits = random.choice(
            [any_size, half]
            if is_plain
            else [
                0,
                1,
                5,
                10**precision - 1,
                some,
                some // 10 * 10 + 5,
                any_size,
                half,
                random.randrange(10**precision),
            ]
        )
        return Decimal(random.choice([1, 1, -1]) * digits).scaleb(-scale, _CONTEXT)

    return value


def decimal_of(random: Random, scale: int | None = None) -> pa.Decimal128Type:
    """Return a type of decimals, with this scale or with any; a larger scale than precision becomes the precision."""
    precision = random.randint(1, 38)
    return pa.decimal128(precision, random.randint(0, precision) if scale is None else min(scale, precision))


def decimal_sorts(precision: int, scale: int) -> tuple[Make, ...]:
    """Return what makes decimals of a type: few digits, any number of them, halves, all nines and powers of ten."""

    def of_digits(digits: Callable[[Random], int]) -> Make:
        return lambda random: Decimal(random.choice([1, -1]) * digits(random)).scaleb(-scale, _CONTEXT)

    def half(random: Random) -> int:
        places = random.randrange(precision)
        return (random.randrange(10 ** random.randrange(precision - places)) * 10 + 5) * 10**places

    few = 10 ** min(precision, 3)
    return (
        of_digits(lambda random: random.randrange(few)),
        of_digits(lambda random: random.randrange(10 ** random.randint(1, precision))),
        of_digits(half),
        of_digits(lambda random: 10 ** random.randint(0, precision) - 1),
        of_digits(lambda random: 10 ** random.randrange(precision) + random.randrange(2 if precision > 1 else 1)),
        _decimal(precision, scale),
    )


def _text(random: Random) -> str:
    return random.choice(_STRINGS)


def _small_list(random: Random, make: Callable[[Random], Any]) -> list[Any]:
    return [None if random.random() < 0.2 else make(random) for _ in range(random.randrange(4))]


def _struct(random: Random) -> dict[str, Any]:
    return {
        "n": random.choice([None, 1, 2]),
        "w": random.choice([None, "x", ""]),
        "in": {"d": random.choice([None, -0.0, 1.5])},
    }


# The columns of each table: their type and how a value is made.
T: dict[str, tuple[pa.DataType, Make]] = {
    "i": (pa.int32(), _whole(32)),
    "l": (pa.int64(), _whole(64)),
    "h": (pa.int16(), _whole(16)),
    "y": (pa.int8(), _whole(8)),
    "k": (pa.int32(), lambda random: random.randrange(4)),
    "m": (pa.decimal128(10, 2), _decimal(10, 2)),
    "n": (pa.decimal128(38, 10), _decimal(38, 10)),
    "v": (pa.decimal128(9, 9), _decimal(9, 9)),
    "e": (pa.decimal128(18, 0), _decimal(18, 0)),
    "d": (pa.float64(), lambda random: random.choice([*_DOUBLES, random.uniform(-1000, 1000)])),
    "g": (pa.float64(), lambda random: random.randrange(-64, 64) / 4),
    "f": (
        pa.float32(),
        lambda random: struct.unpack("f", struct.pack("f", random.choice([0.0, -0.0, 1.5, 0.1, float("nan")])))[0],
    ),
    "s": (pa.string(), _text),
    "c": (pa.string(), lambda random: random.choice(["7", "12", "003", "-4", "0", "99", "1", "2"])),
    "t": (pa.date32(), lambda random: random.choice([*_DAYS, random.randint(10_000, 22_000)])),
    "z": (pa.timestamp("us", "UTC"), lambda random: random.choice([*_MICROS, random.randrange(2 * 10**15)])),
    "w": (pa.timestamp("us"), lambda random: random.choice([*_MICROS, random.randrange(2 * 10**15)])),
    "b": (pa.bool_(), lambda random: random.random() < 0.5),
    "x": (pa.binary(), lambda random: random.choice([b"", b"\x00", b"ab", b"\xff\xfe"])),
}
U: dict[str, tuple[pa.DataType, Make]] = {
    "uk": (pa.int32(), lambda random: random.randrange(4)),
    "us": (pa.string(), _text),
    "um": (pa.decimal128(6, 2), _decimal(6, 2)),
    "ut": (pa.date32(), lambda random: random.randint(10_000, 22_000)),
    "ud": (pa.float64(), lambda random: random.choice([0.0, -0.0, 1.5, float("nan"), 2.0])),
    "tags": (pa.list_(pa.string()), lambda random: _small_list(random, _text)),
    "nums": (pa.list_(pa.int32()), lambda random: _small_list(random, _whole(32))),
    "r": (pa.struct([("n", pa.int64()), ("w", pa.string()), ("in", pa.struct([("d", pa.float64())]))]), _struct),
    "p": (
        pa.map_(pa.string(), pa.int32()),
        lambda random: [(key, random.randrange(3)) for key in ("", "a", "b")[: random.randrange(4)]],
    ),
    "rs": (
        pa.list_(pa.struct([("n", pa.int32())])),
        lambda random: _small_list(random, lambda _: {"n": random.randrange(3)}),
    ),
}


def _plain(kind: pa.DataType) -> Make | None:
    """Return what makes plain values of a type; None if all its values are."""
    if pa.types.is_decimal(kind):
        return _decimal(kind.precision, kind.scale, is_plain=True)
    if pa.types.is_integer(kind):
        return lambda random: random.randint(1, 30)
    if pa.types.is_float64(kind):
        return lambda random: random.choice([*_PLAIN_DOUBLES, round(random.uniform(-100, 100), random.randrange(4))])
    if pa.types.is_string(kind):
        return lambda random: random.choice(_PLAIN_STRINGS)
    if pa.types.is_date32(kind):
        return lambda random: random.randint(10_000, 22_000)
    return (lambda random: random.randrange(2 * 10**15)) if pa.types.is_timestamp(kind) else None


def _any_decimal(random: Random) -> tuple[pa.DataType, Make]:
    kind = decimal_of(random)
    return kind, _decimal(kind.precision, kind.scale)


def tables(random: Random) -> dict[str, pa.Table]:
    """Return two tables, whose columns `id` and `uid` have unique values."""
    decimals = {name: _any_decimal(random) for name in ("n", "v", "e") if random.random() < 0.4}
    return {
        "t": _table(random, T | decimals, "id", random.choice([0, 1, 1, 2, 3, 7, 12, 12])),
        "u": _table(random, U, "uid", random.choice([1, 5, 8])),
    }


def _table(random: Random, columns: dict[str, tuple[pa.DataType, Make]], key: str, rows: int) -> pa.Table:
    made = {key: pa.array(range(rows), pa.int64())}
    for name, (kind, any_value) in columns.items():
        make = (name not in _KEYS and random.random() < 0.5 and _plain(kind)) or any_value
        nulls = random.choice([0, 0.2, 0.2, 0.2, 1 if random.random() < 0.1 else 0])
        values = [None if random.random() < nulls else make(random) for _ in range(rows)]
        made[name] = arrow(values, kind)
    return pa.table(made)


def arrow(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Return values as an array; dates and timestamps are numbers since 1970."""
    if pa.types.is_date32(kind) or pa.types.is_timestamp(kind):
        return pa.array(values, pa.int32() if pa.types.is_date32(kind) else pa.int64()).cast(kind)
    return pa.array(values, kind)
