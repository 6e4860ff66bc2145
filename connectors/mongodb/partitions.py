"""How a collection is divided among tasks. Pure.

The bounds are values of one type. A task reads what lies between two of them; the first task reads everything else,
also documents without the field and those whose value has another type. So no document is left out, whatever the
bounds are. Two comparisons of MongoDB concern values of one type only, which is why the first partition is `not` the
others and has no upper bound of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

Filter = dict[str, Any]


def partition_count(documents: int, size_bytes: int, partition_bytes: int | None, partitions: int | None) -> int:
    """Return into how many partitions a collection is divided, at most one for each document.

    Args:
        documents: number of documents.
        size_bytes: size of all documents.
        partition_bytes: size of a partition; None if `partitions` is given.
        partitions: number of partitions.
    """
    wanted = -(-size_bytes // partition_bytes) if partition_bytes else partitions or 1
    return max(1, min(wanted, documents))


def bounds(samples: Sequence[Any], count: int) -> list[Any]:
    """Return the values at which partitions begin, but for the first, ascending.

    Args:
        samples: values of the field in MongoDB's order; they may repeat.
        count: number of partitions that are wanted; there may be fewer bounds than that.
    """
    kinds = Counter(kind for kind in map(_kind, samples) if kind not in {"null", "list"})
    if not kinds:
        return []
    ((most, _),) = kinds.most_common(1)
    alike = [one for one in samples if _kind(one) == most]
    found: list[Any] = []
    for part in range(1, count):
        value = alike[part * len(alike) // count]
        if value != alike[0] and (not found or value != found[-1]):
            found.append(value)
    return found


def filters(key: str, found: Sequence[Any]) -> list[Filter]:
    """Return a filter for each partition; together they match every document once.

    Args:
        key: the field.
        found: see `bounds`.
    """
    if not found:
        return [{}]
    ends = [*found[1:], None]
    others = [
        {key: {"$gte": start} if end is None else {"$gte": start, "$lt": end}}
        for start, end in zip(found, ends, strict=True)
    ]
    return [{key: {"$not": {"$gte": found[0]}}}, *others]


def _kind(value: Any) -> str:
    """Return the name of the types that MongoDB compares with each other."""
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case list():
            return "list"
        case _:
            return "number" if type(value).__name__ == "Decimal128" else type(value).__name__
