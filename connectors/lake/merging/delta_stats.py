"""What Delta's log tells of the values in a file, read from the file's own footer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pyarrow.parquet as pq

# Delta looks at so many first columns.
_COLUMNS = 32
# Longer texts are told as their begin, which is a least value but not a largest one.
_TEXT = 32


def stats(path: str) -> dict[str, Any]:
    """Return the number of rows, and least and largest values and nulls of flat columns, for Delta's log.

    Moments are left out, because Delta rounds them in a way of its own, and so are floating-point numbers, because a
    footer does not tell of NaN, which Spark takes for the largest number.
    """
    told: dict[str, Any] = {"minValues": {}, "maxValues": {}, "nullCount": {}}
    with pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
        for at in range(min(_COLUMNS, file.metadata.num_columns)):
            name = file.schema.column(at).path
            columns = [group.column(at).statistics for group in groups]
            if "." in name or any(one is None or not one.has_null_count for one in columns):
                continue
            told["nullCount"][name] = sum(one.null_count for one in columns)
            ends = list(_ends(columns))
            if not ends:
                continue
            least, largest = min(one for one, _ in ends), max(one for _, one in ends)
            told["minValues"] |= _least(name, least)
            told["maxValues"] |= _largest(name, largest)
        return {"numRecords": file.metadata.num_rows, **told}


def _ends(columns: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the least and largest value of each row group; nothing if one of them does not tell."""
    each = [(one.min, one.max) for one in columns if one.has_min_max]
    if len(each) == sum(1 for one in columns if one.has_min_max or one.num_values):
        yield from each


def _least(name: str, value: Any) -> dict[str, Any]:
    return _told(name, value[:_TEXT] if isinstance(value, str) else value)


def _largest(name: str, value: Any) -> dict[str, Any]:
    return {} if isinstance(value, str) and len(value) > _TEXT else _told(name, value)


def _told(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {}
    if isinstance(value, (int, str)):
        return {name: value}
    return {name: value.isoformat()} if type(value) is date else {}
