"""`awsglue.functions`, as job scripts import it: expressions over columns of a DataFrame (docs/glue 6.9)."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

__all__ = ["explodeWithIndex", "namedStruct", "replaceArrayElement"]

ColumnOrName = Column | str


def replaceArrayElement(array: ColumnOrName, index: int, value: ColumnOrName) -> Column:
    """Return the array with the element at `index`, counted from 0, replaced; beyond the end nothing changes."""
    return F.transform(array, lambda element, at: F.when(at == index, value).otherwise(element))


def namedStruct(*cols: ColumnOrName) -> Column:
    """Return a struct of alternating names (as literals) and values, like SQL's `named_struct`."""
    return F.named_struct(*cols)


def explodeWithIndex(array: ColumnOrName) -> Column:
    """Return a row per element with its position, as the columns `pos` and `col`."""
    return F.posexplode(array)
