"""Texts back to the values they were made from: of partition folders, and of cells of CSV files."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast import try_cast


def typed(texts: pa.StringArray, kind: pa.DataType) -> pa.Array:
    """Return the values that `gluepot.connectors.value_texts.texts` wrote; null stays null.

    Args:
        texts: of one column.
        kind: the type the column had, without nested types.

    Raises:
        ValueError: a text stands for no value of the type.
    """
    values = try_cast(texts, kind)
    if values.null_count > texts.null_count:
        wrong = texts.filter(pc.and_(values.is_null(), texts.is_valid()))
        raise ValueError(f"{wrong[0].as_py()!r} is no {kind}")
    return values
