"""Random values for casts: half of them are known to be difficult, half are random."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from decimal import Context, Decimal
from random import Random
from typing import Any

import numpy as np

DECIMALS = ((38, 18), (10, 2), (38, 0), (38, 38), (5, 5), (20, 6), (18, 4), (1, 0))
"""Precision and scale of the decimals that are cast."""

_EXACT = Context(prec=400)
_EDGES = [2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**53, 2**63]
_DOUBLES = [
    *(
        0.0,
        -0.0,
        math.nan,
        math.inf,
        -math.inf,
        5e-324,
        1e-323,
        1.5e-322,
        2.2250738585072014e-308,
        1.7976931348623157e308,
    ),
    *(
        2.675,
        1.005,
        1.115,
        0.285,
        100.0,
        1e10,
        1e7,
        9999999.0,
        0.001,
        0.00099,
        1e23,
        2e23,
        8.41e21,
        2e-3,
        4.35,
        0.5,
        -0.5,
    ),
    *(1.5, 2.5, 1e15, 1e16, 1e17, 123456789012345680.0, 3.4028234663852886e38, 3.5e38, 1.4e-45, 7e-46, 1e-10, 1e100),
    *(9.2233720368547e18, 9223372036854.775, -9223372036854.775, 9223372036854775807.0, 0.1, 1 / 3, 253402300800.0),
]
_SPACES = [
    " ",
    "\t",
    "\n",
    "\r",
    "\0",
    "\x1f",
    "\x7f",
    "\x0b",
    "\xa0",
    "\u2003",
    "\u3000",
    "\u200b",
    "\ufeff",
    "\x85",
    "\u2028",
]
_WORDS = """t true y yes 1 f false n no 0 T TRUE Yes nO ON off NaN nan -nan +NaN inf -inf +inf Infinity -Infinity INFINITY
    infinit . + - +. -. e 1e 1e+ 1e5 1E-5 .5 -.5 5. 5.e3 .e3 1d 1f 1D 1F 1dd 0x1p3 0x10 0x1.8p1 0x.8p-2D 1_000 1,000 ++1 --1 +-1 1e400
    -1e400 1e-400 1e39 1e-46 0e5000 0e38 1e38 1e37 1e-39 9e99999999999 1e2147483648 1e-2147483648 epoch now today null None \u0663 \u0661\u0662\u066b\u0665 \uff11\uff12
    000000000000000000000000000000000000000000007 12345678901234567890123456789012345678
    123456789012345678901234567890123456789 0.123456789012345678901234567890123456789 99999999999999999999999999999999999999.5
    9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 2147483647 2147483648 -2147483649
    128 -129 32768 127.9 0.5e0 4.9E-324 2.4703282292062327e-324 2.47032822920623272e-324 1.7976931348623158e308
    1.7976931348623159e308 3.4028235677973366e38 16777217 16777217.0000001 1.00000017881393432617187499
    1.00000017881393432617187500 1.00000017881393432617187501 \u0130 \u017f true\u0000 2024-02-29 2023-02-29"""
_ZONES = """Z z UTC GMT UT UTC+1 UTC+01:00 GMT-8 UT+3 +1 +01 +0100 +01:00 +010000 +01:00:00 +01:30:15 -18:00 +18:00 +18:01 +19 -00:00 +1:30
    +1:3 +01:3 +013 +01:60 -1 Europe/Berlin America/New_York Asia/Kolkata Pacific/Apia EST PST CST JST IST MST HST ECT AET BST VST Etc/GMT+5
    Etc/UTC GMT0 UTC0 Zulu UCT EST5EDT europe/berlin Nowhere/City + - X UTC+ GMT+19 Asia/Calcutta US/Pacific CET +1:30:15 +1:30:1 +12:3:4"""


def long(random: Random) -> int:
    """Return an integer of 64 bits."""
    if random.random() < 0.5:
        edge = random.choice([0, *_EDGES]) * random.choice([1, -1]) + random.randint(-2, 2)
        return max(-(2**63), min(2**63 - 1, edge))
    return (
        random.getrandbits(63) >> random.randrange(63)
        if random.random() < 0.5
        else -(random.getrandbits(63) >> random.randrange(63))
    )


def integer(bits: int) -> Callable[[Random], int]:
    """Return a function that makes integers of this size."""

    def make(random: Random) -> int:
        if random.random() < 0.2:
            return random.choice([-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 0, 1, -1])
        return (long(random) + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)

    return make


def double(random: Random) -> float:
    """Return a double: special, decimal-looking, halfway between two decimals, or random bits."""
    match random.randrange(8):
        case 0 | 1:
            value = random.choice(_DOUBLES)
        case 2:
            value = round(random.uniform(-1e6, 1e6), random.randrange(7))
        case 3:
            value = (random.randrange(10**6) * 10 + 5) / 10 ** random.randrange(1, 8)
        case 4:
            value = float(long(random))
        case 5:
            value = float(f"{random.randrange(1, 10 ** random.randrange(1, 18))}e{random.randrange(-40, 40)}")
        case 6:
            value = math.nextafter(random.choice(_DOUBLES), random.choice([0, math.inf, -math.inf]))
        case _:
            value = struct.unpack("<d", random.randbytes(8))[0]
    return -value if random.random() < 0.3 else value


def float32(random: Random) -> float:
    """Return a value of a float."""
    if random.random() < 0.3:
        return float(np.frombuffer(random.randbytes(4), np.float32)[0])
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.float32(double(random)))


def decimal(precision: int, scale: int) -> Callable[[Random], Decimal]:
    """Return a function that makes decimals of this type."""

    def make(random: Random) -> Decimal:
        digits = random.randrange(precision + 1)
        match random.randrange(5):
            case 0:
                unscaled = random.choice([0, 1, 5, 10**precision - 1, 10**precision // 2])
            case 1:
                unscaled = random.randrange(10**digits) * 10 ** random.randrange(precision - digits + 1)
            case 2:
                unscaled = min(10**precision - 1, int(f"{random.randrange(10**digits)}5" + "0" * random.randrange(3)))
            case 3:
                unscaled = min(10**precision - 1, max(0, random.choice(_EDGES) * 10**scale + random.randint(-1, 1)))
            case _:
                unscaled = random.randrange(10**digits)
        return _EXACT.scaleb(Decimal(unscaled * random.choice([1, 1, -1])), -scale)

    return make


def date(random: Random) -> int:
    """Return a day as its number from 1970-01-01."""
    if random.random() < 0.4:
        # The ends of years 0, 1, 1582 (Gregorian calendar), 1900, 1969, 9999 and beyond.
        edge = random.choice(
            [-719528, -719162, -141428, -141438, -25567, 0, 2932896, 2932897, 100_000_000, -100_000_000]
        )
        return edge + random.randint(-2, 2)
    return random.randrange(-800_000, 3_000_000) if random.random() < 0.8 else random.randrange(-(10**8), 10**8)


def timestamp(random: Random) -> int:
    """Return a timestamp as microseconds from 1970."""
    if random.random() < 0.15:
        return random.choice([-(2**63), 2**63 - 1, 0, -1, 1, 999_999, -1_000_000, -1_000_001])
    if random.random() < 0.15:
        return long(random)
    fraction = random.choice([0, 0, 500_000, 120_000, 1, 999_999, random.randrange(10**6)])
    return max(-(2**63), min(2**63 - 1, (date(random) * 86400 + random.randrange(86400)) * 10**6 + fraction))


def binary(random: Random) -> bytes:
    """Return bytes, half of the time UTF-8."""
    return text(random).encode() if random.random() < 0.5 else random.randbytes(random.randrange(8))


def text(random: Random) -> str:
    """Return a text that looks like a number, a date, a timestamp or a boolean, often with one character wrong."""
    made = random.choice([_number_text, _number_text, _time_text, _time_text, _time_text, _word])(random)
    if random.random() < 0.15 and made:
        at = random.randrange(len(made))
        wrong = random.choice(["", "0", "-", ":", ".", "T", " ", "x", random.choice(_SPACES), made[at] * 2])
        made = made[:at] + wrong + made[at + 1 :]
    if random.random() < 0.2:
        made = "".join(random.choices(_SPACES, k=random.randrange(3))) + made
    if random.random() < 0.2:
        made += "".join(random.choices(_SPACES, k=random.randrange(3)))
    return made


def _word(random: Random) -> str:
    return random.choice(_WORDS.split())


def _number_text(random: Random) -> str:
    if random.random() < 0.3:
        return str(random.choice([long, double, float32, decimal(38, 18)])(random))
    digits = "".join(random.choices("0123456789", k=random.choice([0, 1, 2, 3, 5, 9, 17, 20, 38, 39, 45])))
    fraction = "".join(random.choices("0123456789", k=random.choice([0, 1, 2, 3, 7, 17, 37, 40])))
    made = random.choice(["", "", "-", "+"]) + random.choice(["", "", "0", "000"]) + digits
    made += f".{fraction}" if random.random() < 0.6 else ""
    if random.random() < 0.3:
        made += (
            random.choice("eE")
            + random.choice(["", "+", "-"])
            + str(random.choice([0, 1, 5, 20, 38, 39, 300, 400, 10**10]))
        )
    return made + (random.choice("dDfF") if random.random() < 0.03 else "")


def _part(random: Random, most: int) -> str:
    value = random.randrange(most + 1) if random.random() < 0.95 else random.randrange(100)
    return str(value) if random.random() < 0.15 else f"{value:0{random.choice([2, 2, 2, 2, 2, 2, 1, 3])}}"


def _time_text(random: Random) -> str:
    year = random.choice([str(random.randrange(1800, 2100)), str(random.randrange(1, 10 ** random.randrange(1, 9)))])
    if random.random() < 0.3:
        year = f"{random.randrange(10000):04}"
    made = random.choice(["", "", "", "", "", "", "", "+", "-"]) + year
    if random.random() < 0.93:
        made += "-" + _part(random, 12)
        if random.random() < 0.93:
            made += "-" + _part(random, random.choice([12, 28, 31]))
    if random.random() < 0.25:
        return made + random.choice(["", "", " ", "T", "Z", " garbage", "T garbage"])
    made += random.choice(["T", " ", "T", " ", "t", "  ", ""]) + _part(random, 23)
    for _ in range(random.choice([0, 1, 2, 2, 2, 2, 2])):
        made += ":" + _part(random, 59)
    if random.random() < 0.5:
        made += "." + "".join(random.choices("0123456789", k=random.choice([0, 1, 2, 3, 6, 7, 9, 12])))
    if random.random() < 0.5:
        made += random.choice(["", "", " ", "  "]) + random.choice(_ZONES.split())
    elif random.random() < 0.2:
        made += random.choice("+-") + _part(random, 18) + random.choice([":", ""]) + _part(random, 59)
    if random.random() < 0.02:
        return made.partition("T")[2] or made.partition(" ")[2]
    return made


def maybe(make: Callable[[Random], Any], random: Random) -> Any:
    """Return a value or, rarely, None."""
    return None if random.random() < 0.03 else make(random)
