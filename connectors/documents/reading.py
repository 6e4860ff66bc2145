"""Documents as chunks. Documents of a store need not agree, so what no column can hold is set aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gluepot.frames.chunk import Chunk, ErrorRecord
from gluepot.frames.objects import batch_from_objects

UNFIT = "unfit_document"
"""The reason of a document that no row can be."""

# What building columns from foreign values may raise; see `batch_from_objects`.
_NO_COLUMN = (TypeError, ValueError, OverflowError, RecursionError)


def chunk_of(rows: Sequence[Mapping[str, Any]], where: str) -> Chunk:
    """Return documents as rows, a field of several types as a choice, and those that no row can be as error records.

    Args:
        rows: the fields of each document, in types of Python that Glue knows.
        where: their place, for messages.
    """
    try:
        return Chunk(batch_from_objects(rows))
    except _NO_COLUMN:
        pass
    fit, errors = [], []
    for row in rows:
        try:
            batch_from_objects([row])
        except _NO_COLUMN as error:
            message = f"{where} has a document that cannot be a row: {error}."
            errors.append(ErrorRecord(repr(row).encode(errors="backslashreplace"), UNFIT, message))
        else:
            fit.append(row)
    return Chunk(batch_from_objects(fit), errors)
