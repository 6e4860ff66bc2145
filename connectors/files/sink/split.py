"""Rows of one batch to the partitions they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.connectors.files.partition_folders import partition_path
from gluepot.connectors.value_texts import texts
from gluepot.core.errors import ConfigError
from gluepot.frames.schema import choice_to_string
from gluepot.frames.time_zone import UTC, TimeZone

Codes = npt.NDArray[np.int64]

# Up to so many possible numbers, counting is faster than sorting.
_MOST_COUNTED = 1 << 16


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one partition, without its key columns, in their old order.

    Args:
        path: `k=v/...`, or an empty string for a table without partitions.
        values: what `path` says, one text or None per key.
        rows: one row or more.
        indices: of these rows in the batch, ascending; None for all of its rows.
    """

    path: str
    values: tuple[str | None, ...]
    rows: pa.RecordBatch
    indices: Codes | None = None


def split(batch: pa.RecordBatch, keys: Sequence[str], zone: TimeZone = UTC) -> Iterator[Part]:
    """Yield each partition of a batch once.

    Values are formatted once per distinct value; rows are moved by one `take` per batch.

    Args:
        batch: one row or more.
        keys: partition keys; a column that the batch lacks counts as null.
        zone: the zone of timestamps.

    Raises:
        ConfigError: the column of a key is a struct, list or map.
    """
    if not keys:
        yield Part("", (), batch)
        return
    codes, groups = _groups(batch, keys, zone)
    rows = batch.select([name for name in batch.schema.names if name not in keys])
    if len(groups) == 1:
        yield Part(partition_path(keys, groups[0]), groups[0], rows)
        return
    # A stable sort of 16-bit numbers is a radix sort in numpy, several times as fast as one of 64-bit numbers.
    order = np.argsort(codes.astype(np.min_scalar_type(len(groups))), kind="stable")
    sorted_rows = pc.take(rows, order, boundscheck=False)
    ends = np.cumsum(np.bincount(codes, minlength=len(groups)))
    for values, start, end in zip(groups, [0, *ends[:-1]], ends, strict=True):
        yield Part(partition_path(keys, values), values, sorted_rows.slice(start, end - start), order[start:end])


def _groups(batch: pa.RecordBatch, keys: Sequence[str], zone: TimeZone) -> tuple[Codes, list[tuple[str | None, ...]]]:
    """Return each row's group, as an index into the list of the groups' values; every group has rows."""
    codes: Codes = np.zeros(batch.num_rows, np.int64)
    groups: list[tuple[str | None, ...]] = [()]
    for key in keys:
        own, distinct = _encoded(batch, key, zone)
        present, codes = _compacted(codes * len(distinct) + own, len(groups) * len(distinct))
        groups = [(*groups[pair // len(distinct)], distinct[pair % len(distinct)]) for pair in present.tolist()]
    return codes, groups


def _compacted(numbers: Codes, end: int) -> tuple[Codes, Codes]:
    """Return the distinct numbers, ascending, and each number's place among them. All are less than `end`."""
    if end > _MOST_COUNTED:
        return np.unique(numbers, return_inverse=True)
    present = np.flatnonzero(np.bincount(numbers, minlength=end))
    if len(present) == end:
        return present, numbers
    places = np.zeros(end, np.int64)
    places[present] = np.arange(len(present))
    return present, places[numbers]


def _encoded(batch: pa.RecordBatch, key: str, zone: TimeZone) -> tuple[Codes, list[str | None]]:
    """Return each row's value as an index into the list of distinct texts; null and '' are both None."""
    if key not in batch.schema.names:
        return np.zeros(batch.num_rows, np.int64), [None]
    column = choice_to_string(batch.select([key])).column(0)
    if pa.types.is_nested(column.type):
        raise ConfigError(
            f"partitionKeys has {key!r}, whose type is {column.type}; partition by a column of plain values"
        )
    encoded = column.dictionary_encode()
    found = [*(text or None for text in texts(encoded.dictionary, zone)), None]
    distinct = list(dict.fromkeys(found))
    place = {text: at for at, text in enumerate(distinct)}
    places = np.array([place[text] for text in found], np.int64)
    return places[encoded.indices.fill_null(len(found) - 1).to_numpy()], distinct
