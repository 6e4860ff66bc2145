"""Which columns of a Parquet file are written with a dictionary: those whose values come back.

A dictionary of values that hardly repeat holds nearly all of them, and costs their hashes and an index each beside.
Left to itself Parquet's writer tries one for every column, and gives up only at 1 MB.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

# Little beside what the encoding of all rows takes.
_SAMPLED_SHARE = 1 / 16
LEAST_SAMPLE, _MOST_SAMPLE = 256, 4096
# With fewer rows files of made-up clicks and orders were larger with dictionaries than without.
_LEAST_ROWS = 32
# With fewer occurrences of a value a dictionary saves nothing.
_LEAST_OCCURRENCES = 2


def repeated_columns(rows: pa.RecordBatch) -> list[str]:
    """Return the paths, as Parquet has them, of columns that a dictionary suits; the first rows speak for all."""
    if rows.num_rows < _LEAST_ROWS:
        return []
    sample = _sample(rows)
    scale = rows.num_rows / sample.num_rows
    return [path for path, values in leaves_of(sample) if _is_repeated(values, scale)]


def expected_distinct(distinct: int, sampled: int, values: int) -> float:
    """Return how many distinct ones to expect among so many values, of which a random sample had `distinct`.

    As if all were equally frequent: then two of a sample are equal about as often as there are pairs for each. Where
    some are more frequent than others the answer is too low, where none came twice it is the number of values.
    """
    if sampled >= values:
        return distinct
    if distinct >= sampled:
        return values
    different = sampled**2 / (2 * (sampled - distinct))
    return max(distinct, different * -math.expm1(-values / different))


def _sample(rows: pa.RecordBatch) -> pa.RecordBatch:
    size = int(min(max(rows.num_rows * _SAMPLED_SHARE, LEAST_SAMPLE), _MOST_SAMPLE))
    if size >= rows.num_rows:
        return rows
    # From all over, whatever the order of the rows; and the same each time, so that the same rows make the same file.
    chosen = np.random.default_rng(0).choice(rows.num_rows, size, replace=False, shuffle=False)
    return rows.take(pa.array(np.sort(chosen)))


def _is_repeated(sample: pa.Array, scale: float) -> bool:
    try:
        distinct = len(sample.unique()) - (sample.null_count > 0)  # half the time of count_distinct for texts
    except pa.ArrowNotImplementedError:  # a type that is left to Parquet's writer
        return True
    sampled = len(sample) - sample.null_count
    values = round(sampled * scale)
    return bool(_LEAST_OCCURRENCES * expected_distinct(distinct, sampled, values) <= values)


def leaves_of(rows: pa.RecordBatch) -> Iterator[tuple[str, pa.Array]]:
    """Yield the columns that Parquet stores, also inside structs, lists and maps, each with its path in the file."""
    for field, values in zip(rows.schema, rows.columns, strict=True):
        yield from _leaves(field.name, values)


def _leaves(path: str, values: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    kind = values.type
    if pa.types.is_struct(kind):
        for field, child in zip(kind, values.flatten(), strict=True):
            yield from _leaves(f"{path}.{field.name}", child)
    elif pa.types.is_list(kind):
        yield from _leaves(f"{path}.list.element", values.flatten())
    elif pa.types.is_map(kind):
        yield from _leaves(f"{path}.key_value.key", values.keys)
        yield from _leaves(f"{path}.key_value.value", values.items)
    else:
        yield path, values
