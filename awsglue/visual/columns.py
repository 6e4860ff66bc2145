"""Reads the column names in the arguments of Studio's transforms."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812


def column(frame: DataFrame, name: str) -> Column:
    """Return a column by its name, which may contain any characters, or a field of a struct by its dotted path."""
    return F.col(quoted(name) if name in frame.columns else name)


def quoted(name: str) -> str:
    """Return a quoted name, in which Spark takes dots and backquotes literally."""
    return "`" + name.replace("`", "``") + "`"


def target(name: str) -> str:
    """Return the plain name of a column to write; scripts may put names with dots in backquotes."""
    inside = name[1:-1] if len(name) > 1 and name[0] == name[-1] == "`" else name
    return inside.replace("``", "`")


def listed(given: str | Sequence[str]) -> list[str]:
    """Return names that are given as a list or, as in Studio's forms, as one text with commas."""
    parts = given.split(",") if isinstance(given, str) else given
    return [part.strip() for part in parts if part.strip()]
