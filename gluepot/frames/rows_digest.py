"""A digest of rows that does not depend on their order, or on how they are cut into chunks. Pure.

    total = (rows_digest(first) + rows_digest(second)) % MODULUS

Equal digests mean equal rows, apart from collisions of 64 bits. The reverse does not always hold: a column that has
another Arrow type in another chunk may change the digest. So unequal digests only mean that rows may differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

MODULUS = 1 << 64

Hashes = npt.NDArray[np.uint64]

# Random odd numbers. A digest that is stored by one version must be equal in the next one, so they never change.
_BASE = np.uint64(0x9E3779B97F4A7C15)
_FIRST_MIX, _SECOND_MIX = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_WORD_BYTES = 8
# What to keep of a word, by the number of its bytes that belong to the string.
_KEPT = np.array([(1 << 8 * size) - 1 for size in range(_WORD_BYTES + 1)], np.uint64)
# Longer strings are hashed one by one, which is as fast for them. Which way a string takes depends on itself alone, so
# that the digest does not depend on its chunk.
_LONG_BYTES = 1024


def rows_digest(batch: pa.RecordBatch, columns: Collection[str] | None = None) -> int:
    """Return the digest of the rows of a batch: a number below `MODULUS`.

    A field that is null counts as much as one that the batch does not have.

    Args:
        batch: the rows.
        columns: count these columns only; None for all.
    """
    hashes = np.zeros(batch.num_rows, np.uint64)
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if columns is None or name in columns:
            hashes += _values(column) * _factor(name)
    return int(_mixed(hashes + _BASE).sum(dtype=np.uint64))


def _factor(name: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest()) | 1)


def _mixed(numbers: Hashes) -> Hashes:
    """Return the numbers mixed, so that sums of the results tell different sets apart (splitmix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _FIRST_MIX
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _SECOND_MIX
    return numbers ^ (numbers >> np.uint64(31))


def _values(column: pa.Array) -> Hashes:
    """Return a hash of each value; 0 for null."""
    kind = column.type
    if isinstance(column, pa.ExtensionArray):
        return _values(column.storage)
    if pa.types.is_null(kind):
        return np.zeros(len(column), np.uint64)
    if pa.types.is_dictionary(kind):
        return _values(column.dictionary_decode())
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        hashes = _strings(pc.cast(column, pa.large_binary()))
    elif pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        hashes = _strings(column.cast(pa.large_binary()))
    elif pa.types.is_decimal(kind):
        hashes = _strings(pc.cast(column, pa.string()).cast(pa.large_binary()))
    elif (numbers := _numbers(column)) is not None:
        hashes = _mixed(numbers + _BASE)
    else:
        hashes = _one_by_one(column)
    if column.null_count:
        hashes[column.is_null().to_numpy(zero_copy_only=False)] = 0
    return hashes


def _numbers(column: pa.Array) -> Hashes | None:
    """Return values of 64 bits that are equal only for equal values; None if the type has none."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return _bits(column.fill_null(False).to_numpy(zero_copy_only=False).astype(np.int64))
    if pa.types.is_integer(kind):
        signed = pa.uint64() if pa.types.is_unsigned_integer(kind) else pa.int64()
        return _bits(column.fill_null(0).cast(signed).to_numpy(zero_copy_only=False))
    if pa.types.is_floating(kind):
        doubles = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
        return _bits(np.where(np.isnan(doubles), np.nan, doubles))
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return _numbers(column.cast(pa.int32()))
    if (
        pa.types.is_date64(kind)
        or pa.types.is_time64(kind)
        or pa.types.is_timestamp(kind)
        or pa.types.is_duration(kind)
    ):
        return _numbers(column.cast(pa.int64()))
    return None


def _bits(numbers: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> Hashes:
    return numbers.view(np.uint64)


def _strings(column: pa.LargeBinaryArray) -> Hashes:
    """Return a polynomial over the bytes of each value, mixed with its length."""
    is_long = pc.fill_null(pc.greater(pc.binary_length(column), _LONG_BYTES), False)
    if is_long.true_count:
        hashes = _strings(pc.if_else(is_long, pa.scalar(b"", column.type), column))
        hashes[is_long.to_numpy(zero_copy_only=False)] = _one_by_one(column.filter(is_long))
        return hashes
    count = len(column)
    offsets = np.frombuffer(column.buffers()[1], np.int64, count + 1, column.offset * 8)
    first, size = int(offsets[0]), int(offsets[-1] - offsets[0])
    # A word may begin at any byte, and the last one ends after the last string.
    padded = np.zeros(size + _WORD_BYTES, np.uint8)
    if size:
        padded[:size] = np.frombuffer(column.buffers()[2], np.uint8, size, first)
    words = np.ndarray((size + 1,), np.dtype("<u8"), padded, strides=(1,))
    places, left = offsets[:-1] - first, np.diff(offsets)
    hashes = left.astype(np.uint64)
    rows: slice | npt.NDArray[np.intp] = slice(None)
    while True:
        if not left.all():
            remaining = np.flatnonzero(left)
            rows = remaining if isinstance(rows, slice) else rows[remaining]
            places, left = places[remaining], left[remaining]
        if not len(left):
            return _mixed(hashes + _BASE)
        read = words[places] & _KEPT[np.minimum(left, _WORD_BYTES)]
        hashes[rows] = _step(hashes[rows], read)
        places, left = places + _WORD_BYTES, np.maximum(left - _WORD_BYTES, 0)


def _step(hashes: Hashes, read: Hashes) -> Hashes:
    return (hashes ^ (hashes >> np.uint64(29)) ^ read) * _BASE


def _one_by_one(column: pa.Array) -> Hashes:
    def digest(value: object) -> int:
        text = value if isinstance(value, bytes) else repr(value).encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest())

    return np.fromiter(map(digest, column.to_pylist()), np.uint64, len(column))
