"""What the names of partition folders stand for if they are times in another zone than UTC.

A folder `t=2024-07-01 23%3A30%3A00` does not tell its zone. Spark reads it in the zone of the session that reads. The
manifest keeps the instant with each file, so that readers of manifests need no zone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from gluepot.frames.cast import try_cast
from gluepot.frames.schema.glue_types import TIMESTAMP
from gluepot.frames.time_zone import TimeZone
from gluepot.frames.timestamps import is_instant

INSTANTS: Final = "instants"
"""The key in a file's encoding: microseconds from 1970 UTC by partition key."""


def key_instants(
    keys: Sequence[str], values: Sequence[str | None], schema: pa.Schema, zone: TimeZone
) -> Mapping[str, int]:
    """Return what the texts of timestamps stand for, by key; nothing in UTC.

    Args:
        keys: partition keys.
        values: their texts; None for null.
        schema: of the rows.
        zone: the zone that the texts were made in.
    """
    if zone.is_utc:
        return {}
    found = {}
    for key, value in zip(keys, values, strict=True):
        if value is not None and key in schema.names and is_instant(schema.field(key).type):
            found[key] = try_cast(pa.array([value]), TIMESTAMP, zone).cast(pa.int64())[0].as_py()
    return found


def with_instants(encoding: Mapping[str, Any], instants: Mapping[str, int]) -> Mapping[str, Any]:
    """Return what a manifest keeps of a file."""
    return {**encoding, INSTANTS: dict(instants)} if instants else encoding


def instants_of(encoding: Mapping[str, Any]) -> Mapping[str, int]:
    """Return the instants that a manifest keeps of a file."""
    found: Mapping[str, int] = encoding.get(INSTANTS, {})
    return found
