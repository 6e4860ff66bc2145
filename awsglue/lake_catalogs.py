"""Iceberg catalogs that a script configures in its session."""

from __future__ import annotations

import os

from pyspark.sql import SparkSession

from gluepot.connectors.lake import localized


def use_local_catalogs(spark: SparkSession) -> None:
    """Let local catalogs take the place of those of AWS that the session's settings name.

    Spark loads a catalog when SQL first names it, so this is early enough wherever Glue's own calls stand in a script.

    Raises:
        ConfigError: the database of the Data Catalog is one that Java cannot reach.
    """
    for name, value in localized(spark.conf.getAll, os.environ).items():
        spark.conf.set(name, value)
