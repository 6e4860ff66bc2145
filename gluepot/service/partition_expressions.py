"""Chooses partitions, as GetPartitions does: by an SQL expression on the partition keys, or by a segment. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from gluepot.catalog.values import Partition, Table
from gluepot.connectors.files.partition_folders import DEFAULT_PARTITION
from gluepot.connectors.files.source.predicate import parse_predicate
from gluepot.service.errors import invalid

# Of a digest of a partition: enough to spread partitions evenly.
_DIGITS = 8


def _number(text: str) -> Decimal:
    try:
        found = Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None
    if not found.is_finite():
        raise ValueError(text)
    return found


def _timestamp(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


_TYPES: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(("string", "char", "varchar"), str),
    **dict.fromkeys(("tinyint", "smallint", "int", "integer", "bigint", "long", "decimal"), _number),
    "date": date.fromisoformat,
    "timestamp": _timestamp,
}


def partition_filter(table: Table, expression: str) -> Callable[[Partition], bool]:
    """Return whether a partition fulfils an expression.

    Args:
        table: whose partition keys the expression names; their types say how values compare.
        expression: what AWS takes (docs/glue 11.4); an empty one is fulfilled by all.

    Raises:
        ServiceError: `InvalidInputException` for another column, or a key of a type that expressions cannot compare.
        ConfigError: the expression is not understood.
    """
    if not expression.strip():
        return lambda _: True
    types = {key.name: _TYPES.get(_plain(key.type)) for key in table.partition_keys}
    # Without a type, a text that is compared with a number is a number, as Hive and Spark compare them.
    predicate = parse_predicate(
        expression, {name: typed for name, typed in types.items() if typed is not None and typed is not str}
    )
    for name in sorted(predicate.columns):
        if name not in types:
            raise invalid(f"Expression names {name}; the partition keys of {table.title} are {', '.join(types)}.")
        if types[name] is None:
            raise invalid(f"Expression names {name}, whose type cannot be compared; use one of {', '.join(_TYPES)}.")

    def fulfils(partition: Partition) -> bool:
        known = dict(zip(types, partition.values, strict=False))
        return predicate.matches({name: None if one == DEFAULT_PARTITION else one for name, one in known.items()})

    return fulfils


def in_segment(digest: str, segment: Mapping[str, int] | None) -> bool:
    """Return whether a partition belongs to a segment of all partitions.

    Args:
        digest: of the partition's values.
        segment: `Segment` of GetPartitions; None for all partitions.

    Raises:
        ServiceError: `InvalidInputException`, because there is no segment of this number.
    """
    if segment is None:
        return True
    number, total = segment["SegmentNumber"], segment["TotalSegments"]
    if number >= total:
        raise invalid(f"SegmentNumber is {number}; with {total} segments, the last one is {total - 1}.")
    return int(digest[:_DIGITS], 16) % total == number


def _plain(kind: str) -> str:
    return re.sub(r"\(.*", "", kind.lower()).strip()
