"""Hashes of the values of a chunk. They divide values among tasks and tell which values cannot be equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.schema.glue_types import short_name
from gluepot.quality.values import NUMBERS

Hashes: TypeAlias = npt.NDArray[np.uint64]

CODED = frozenset({"byte", "short", "int", "long", "float", "double"})
"""Glue's names of the types whose values `codes` tells apart."""
_SAMPLE_BYTES = 6
_NULL = np.uint64(0x2545F4914F6CDD1D)
_MIX = np.uint64(0x9E3779B97F4A7C15)


def hashes(keys: Sequence[pa.Array]) -> Hashes:
    """Return a number for each row that is equal for equal values, also of different types of numbers.

    Most different values have different numbers. Integers beyond 2**53 may share one, and so may texts of the same
    length that differ in few places.
    """
    found = np.zeros(len(keys[0]), np.uint64)
    with np.errstate(over="ignore"):
        for key in keys:
            one = _hash_of(key)
            if key.null_count:
                one[pc.is_null(key).to_numpy(zero_copy_only=False)] = _NULL
            found = found * np.uint64(31) + _mixed(one)
    return _folded(found)


def codes(key: pa.Array) -> Hashes:
    """Return a number for each value of a column of one type, one of `CODED`: equal for equal values only.

    Args:
        key: has no NULL, no NaN of several kinds and no -0.0.
    """
    wide = pc.cast(key, pa.int64() if pa.types.is_integer(key.type) else pa.float64())
    # Both steps can be undone, so they keep numbers different. They spread them as `hashes` does.
    with np.errstate(over="ignore"):
        return _folded(_mixed(wide.to_numpy().view(np.uint64)))


def _mixed(words: Hashes) -> Hashes:
    return _folded(words) * _MIX


def _folded(words: Hashes) -> Hashes:
    return words ^ (words >> np.uint64(32))


def _hash_of(key: pa.Array) -> Hashes:
    if short_name(key.type) in NUMBERS:
        doubles = pc.fill_null(pc.cast(key, pa.float64(), safe=False), 0.0)
        words: Hashes = doubles.to_numpy(zero_copy_only=False).view(np.uint64).copy()
        return words
    texts = pc.fill_null(pc.cast(key, pa.string()), "").cast(pa.large_binary())
    return _samples(texts)


def _samples(texts: pa.LargeBinaryArray) -> Hashes:
    """Return a number made of the length and of bytes from the beginning, the middle and the end of each text."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    values = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    begin, end = ends[:-1], ends[1:]
    middle = (begin + end) // 2
    found = (end - begin).astype(np.uint64)
    for back in range(1, _SAMPLE_BYTES + 1):
        for at in (end - back, middle - back, begin + back - 1):
            inside = (at >= begin) & (at < end)
            byte = np.where(inside, values[np.where(inside, at, 0)], 0)
            found = found * np.uint64(257) + byte.astype(np.uint64)
    return found
