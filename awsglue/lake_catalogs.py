"""Iceberg catalogs that a script configures in its session."""

from __future__ import annotations

import os

from pyspark.sql import SparkSession

from gluepot.connectors.lake import localized
from gluepot.spark.settings import settings_of


def use_local_catalogs(spark: SparkSession) -> None:
    """Replace the AWS catalogs in the session's settings by local catalogs.

    Spark loads a catalog when SQL first names it, so it is early enough to do this in Glue's own calls.

    Raises:
        ConfigError: Java cannot reach the database of the Data Catalog.
    """
    for name, value in localized(settings_of(spark), os.environ).items():
        spark.conf.set(name, value)
