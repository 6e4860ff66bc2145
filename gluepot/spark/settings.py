"""The settings of a Spark session."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SEPARATOR = "\x1e"


def settings_of(spark: SparkSession) -> dict[str, str]:
    """Return all settings in one call to Java; `spark.conf.getAll` makes several for each of them."""
    conf = spark._jsparkSession.sessionState().conf()  # noqa: SLF001  Python has no other way to all of them at once
    entries = conf.getAllConfs().mkString(_SEPARATOR).split(_SEPARATOR)
    return dict(entry.split(" -> ", 1) for entry in entries if " -> " in entry)
