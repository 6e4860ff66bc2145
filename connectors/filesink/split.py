"""Rows of one batch to the partitions they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.filesink.folders import partition_path
from connectors.filesink.values import texts
from dynamicframe.schema import choice_to_string
from etlcore.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_DENSE_LIMIT = 1 << 31


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one partition, without its key columns, in their old order.

    Args:
        path: `k=v/...`, or an empty string for a table without partitions.
        rows: one row or more.
    """

    path: str
    rows: pa.RecordBatch


def split(batch: pa.RecordBatch, keys: Sequence[str]) -> Iterator[Part]:
    """Yield each partition of a batch once.

    Values are formatted once per distinct value, rows are moved by one vectorised `take` per batch.

    Args:
        batch: one row or more.
        keys: partition keys; a column that the batch lacks counts as null.

    Raises:
        ConfigError: a key's column is a struct, list or map.
    """
    if not keys:
        yield Part("", batch)
        return
    codes, values = _codes(batch, keys)
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    rows = batch.select([name for name in batch.schema.names if name not in keys])
    rows = pa.RecordBatch.from_arrays(
        [column.take(pa.array(order)) for column in rows.columns],
        schema=rows.schema,
    ) if rows.num_columns else _no_columns(batch.num_rows)
    by_path: dict[str, list[pa.RecordBatch]] = {}
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        path = partition_path(keys, values[ordered[start]])
        by_path.setdefault(path, []).append(rows.slice(start, end - start))
    for path, pieces in by_path.items():
        yield Part(path, pieces[0] if len(pieces) == 1 else pa.concat_batches(pieces))
