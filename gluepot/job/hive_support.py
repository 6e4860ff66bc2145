"""Lets `enableHiveSupport()` of a script mean what it means in Glue: the tables of SQL are those of the Data Catalog.

Spark by itself would begin a metastore of Hive in the current folder, beside the Data Catalog.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from gluepot.core.logging import get_logger

_METASTORES = ("hive.metastore.uris", "spark.hadoop.hive.metastore.uris", "spark.hive.metastore.uris")
"""Settings that name a metastore of the user's own."""

log = get_logger(__name__)


@contextmanager
def of_data_catalog() -> Iterator[None]:
    """While this is open, `enableHiveSupport()` changes nothing, unless the builder names a metastore of its own."""
    builder: Any = SparkSession.Builder
    original = builder.enableHiveSupport

    def enable(self: Any) -> Any:
        if any(name in self._options for name in _METASTORES):
            return original(self)
        log.info("hive_support", reason="the Data Catalog is the metastore")
        return self

    builder.enableHiveSupport = enable
    try:
        yield
    finally:
        builder.enableHiveSupport = original
