"""Sets aside the records that pyarrow.json must not read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from gluepot.frames.json_record import LONG_BYTES, oversize, read_record
from gluepot.frames.records import JoinedRecords, in_braces, join, trimmed
from gluepot.frames.refusal import Refusal

# pyarrow.json recurses over nested types and overflows the stack beyond some 10,000 levels (measured, 8 MB stack). That
# many openers are needed to get near; records with fewer are safe to hand over without a closer look.
_SAFE_OPENERS = 1_000


def screened(values: Sequence[bytes | None]) -> tuple[JoinedRecords, dict[int, Refusal]]:
    """Set aside records that are not objects, or too deep or too large for pyarrow; trim and join the others."""
    try:
        records = join(cast("Sequence[bytes]", values))
        odd = ~in_braces(records)
    except TypeError:  # a None among them
        odd = np.ones(len(values), np.bool_)
    if odd.any():
        records = join(trimmed(values))
        odd = ~in_braces(records)
    for index in np.flatnonzero(records.lengths > _SAFE_OPENERS).tolist():
        odd[index] |= _is_risky(records.values[index])
    if not odd.any():
        return records, {}
    verdicts = {index: read_record(values[index]) for index in np.flatnonzero(odd).tolist()}
    refusals = {index: verdict for index, verdict in verdicts.items() if isinstance(verdict, Refusal)}
    return join([value for index, value in enumerate(records.values) if index not in refusals]), refusals


def _is_risky(value: bytes) -> bool:
    is_safe = len(value) <= LONG_BYTES and value.count(b"{") + value.count(b"[") <= _SAFE_OPENERS
    return not is_safe and oversize(value) is not None
