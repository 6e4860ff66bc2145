"""Lets `spark.sql` of all sessions merge without Spark's join where that gives the same table."""

from __future__ import annotations

import re
from functools import cache, wraps
from typing import Any

from pyspark.sql import DataFrame, SparkSession

SETTING = "spark.gluepot.nativeMerge"
"""A setting of Spark. With `false`, Spark runs each MERGE itself."""

_MERGE = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*MERGE\s+INTO\b", re.IGNORECASE | re.DOTALL)


@cache
def use_own_merges() -> None:
    """Run statements that begin with MERGE ourselves, where that is possible."""
    original = SparkSession.sql

    @wraps(original)
    def sql(self: SparkSession, sqlQuery: str, *args: Any, **kwargs: Any) -> DataFrame:  # noqa: N803  PySpark's name
        if not args and not kwargs and is_merge(sqlQuery) and self.conf.get(SETTING, "true") != "false":
            from gluepot.connectors.lake.merging.run import merged  # noqa: PLC0415  most jobs merge nothing

            done = merged(self, sqlQuery)
            if done is not None:
                return done
        return original(self, sqlQuery, *args, **kwargs)

    SparkSession.sql = sql  # type: ignore[method-assign]


def is_merge(statement: str) -> bool:
    """Return whether a statement is a MERGE."""
    return _MERGE.match(statement) is not None
