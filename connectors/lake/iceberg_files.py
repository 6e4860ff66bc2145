"""Reads an Iceberg table by its metadata file, where no catalog of the session has the table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from gluepot.connectors.lake.local import file_io_at
from gluepot.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class IcebergFiles:
    """A state of a table, which others keep.

    Args:
        title: name of the table in messages.
        metadata_location: URL of the metadata file.
    """

    title: str
    metadata_location: str

    def read(self, spark: SparkSession, options: Mapping[str, Any]) -> DataFrame:
        """Return the rows of the newest snapshot that the file names.

        Raises:
            ConfigError: options are given, for which a catalog is needed, or Iceberg is not there.
        """
        if options:
            raise ConfigError(
                f"No catalog of this session has {self.title}, so it is read as it is now; leave out"
                f" {', '.join(options)}, or set a catalog that has the table."
            )
        jvm: Any = spark._jvm  # noqa: SLF001  here and below: Spark has no other way to such a table
        iceberg, v2 = jvm.org.apache.iceberg, jvm.org.apache.spark.sql.execution.datasources.v2
        try:
            settings = file_io_at(self.metadata_location, os.environ)
            properties = jvm.java.util.HashMap()
            properties.update(settings)
            hadoop = spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001
            files = iceberg.CatalogUtil.loadFileIO(settings["io-impl"], properties, hadoop)
        except (TypeError, Py4JError) as missing:
            raise ConfigError(f"{self.title} is a table of Iceberg; add --datalake-formats iceberg.") from missing
        table = iceberg.BaseTable(iceberg.StaticTableOperations(self.metadata_location, files), self.title)
        none = getattr(getattr(jvm.scala, "None$"), "MODULE$")
        relation = v2.DataSourceV2Relation.create(iceberg.spark.source.SparkTable(table), none, none)
        return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, relation), spark)  # noqa: SLF001
