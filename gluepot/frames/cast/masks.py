"""Nulls instead of errors: what a kernel must not see is taken out beforehand."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def keep(array: pa.Array, where: pa.BooleanArray) -> pa.Array:
    """Return the values for which `where` is true, null for the others."""
    return pc.if_else(where, array, pa.scalar(None, array.type))


def keep_matching(texts: pa.StringArray, pattern: str) -> pa.StringArray:
    """Return the texts that match the whole RE2 pattern, null for the others."""
    return keep(texts, pc.match_substring_regex(texts, rf"^(?:{pattern})$"))
