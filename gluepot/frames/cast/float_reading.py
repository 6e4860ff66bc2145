"""Reads all texts of floats that Java and Spark read. Slow; `numbers` reads the usual ones."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from gluepot.frames.cast.texts import BLANKS

_DIGITS = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_HEX = r"0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+"
_JAVA_FLOAT = re.compile(rf"([+-]?)(?:(NaN|Infinity)|({_DIGITS})[fFdD]?|({_HEX})[fFdD]?)", re.ASCII)
_SPARK_WORDS = {
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), math.inf),
    **dict.fromkeys(("-inf", "-infinity"), -math.inf),
    "nan": math.nan,
}
_MOST_EXPONENT_DIGITS = 8
# Any larger power of ten is infinity, any smaller one is zero.
_MOST_POWER = 400


def read_double(text: str) -> float | None:
    """Read a text as Spark's cast to double does; None if it is not a number."""
    return _read(text, float, lambda value: value.numerator / value.denominator)


def read_float(text: str) -> float | None:
    """Read a text as Spark's cast to float does, rounded once; None if it is not a number."""
    return _read(text, lambda digits: _nearest_float(_exact(digits)), _nearest_float)


def _read(text: str, decimal: Callable[[str], float], binary: Callable[[Fraction], float]) -> float | None:
    stripped = text.strip(BLANKS)
    found = _JAVA_FLOAT.fullmatch(stripped)
    if found is None:
        return _SPARK_WORDS.get(stripped.lower())
    sign = -1.0 if found[1] == "-" else 1.0
    if found[2]:
        return math.copysign(math.inf, sign) if found[2] == "Infinity" else math.nan
    if found[3]:
        return math.copysign(decimal(found[3]), sign)
    return math.copysign(_guarded(binary, _hex_value(found[4])), sign)


def _guarded(binary: Callable[[Fraction], float], value: Fraction) -> float:
    try:
        return binary(value)
    except OverflowError:
        return math.inf


def _hex_value(text: str) -> Fraction:
    mantissa, _, exponent = text[2:].lower().partition("p")
    whole, _, fraction = mantissa.partition(".")
    number = int(whole + fraction or "0", 16)
    return Fraction(number) * Fraction(2) ** (_bounded(exponent) - 4 * len(fraction))


def _exact(digits: str) -> Fraction:
    mantissa, _, exponent = digits.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    power = _bounded(exponent or "0") - len(fraction)
    number = int(whole + fraction)
    if not number or power < -_MOST_POWER - len(whole + fraction):
        return Fraction(0)
    if power > _MOST_POWER:
        return Fraction(10) ** _MOST_POWER
    return Fraction(number) * Fraction(10) ** power


def _bounded(exponent: str) -> int:
    sign, digits = (-1, exponent[1:]) if exponent[0] == "-" else (1, exponent.lstrip("+"))
    digits = digits.lstrip("0") or "0"
    return sign * (10**5 if len(digits) > _MOST_EXPONENT_DIGITS else min(10**5, int(digits)))


def _nearest_float(value: Fraction) -> float:
    """Round to the nearest float, to the even one of two."""
    try:
        rough = value.numerator / value.denominator
    except OverflowError:
        return math.inf
    rounded = np.float32(min(rough, float(np.finfo(np.float32).max)))
    with np.errstate(over="ignore", under="ignore"):
        candidates = [rounded, np.nextafter(rounded, np.float32(0)), np.nextafter(rounded, np.float32(np.inf))]
    # The float after the largest one counts as a power of two.
    exact = [Fraction(2) ** 128 if np.isinf(each) else Fraction(float(each)) for each in candidates]
    is_odd = [bool(each.view(np.uint32) & 1) for each in candidates]
    best = min(range(3), key=lambda index: (abs(exact[index] - value), is_odd[index]))
    return float(candidates[best])
