"""How arguments of Studio's transforms name columns."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812


def column(frame: DataFrame, name: str) -> Column:
    """Return a column by its name, whatever letters it has, or a field in a struct by its dotted path."""
    return F.col(quoted(name) if name in frame.columns else name)


def quoted(name: str) -> str:
    """Return a name so that Spark takes dots and backquotes in it as they are."""
    return "`" + name.replace("`", "``") + "`"


def target(name: str) -> str:
    """Return the plain name of a column to write, which scripts put in backquotes where it has dots."""
    inside = name[1:-1] if len(name) > 1 and name[0] == name[-1] == "`" else name
    return inside.replace("``", "`")


def listed(given: str | Sequence[str]) -> list[str]:
    """Return names that are given as a list, or as Studio's forms take them: in one text, with commas."""
    parts = given.split(",") if isinstance(given, str) else given
    return [part.strip() for part in parts if part.strip()]
