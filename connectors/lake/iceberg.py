"""Appending to an Iceberg table through Spark, each commit marked with the batch it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from connectors.lake.commits import LakeCommit
from connectors.lake.iceberg_append import PROPERTY, append_once


@dataclass(frozen=True, slots=True)
class IcebergTable:
    """A table.

    Args:
        name: as SQL names it: `catalog.database.table`.
    """

    name: str

    def read(self, spark: SparkSession, options: Mapping[str, Any]) -> DataFrame:
        """Return the rows; options such as `snapshot-id` choose an older snapshot."""
        return spark.read.format("iceberg").options(**options).load(self.name)

    def append(self, frame: DataFrame, commit: LakeCommit | None, options: Mapping[str, Any]) -> bool:
        """Append rows in one snapshot, which says what batch they are if they are one.

        Returns:
            False where the table holds the batch already.

        Raises:
            CheckpointError: the table holds the batch with other records, or later batches and not this one.
        """
        if commit is None:
            frame.writeTo(self.name).options(**options).append()
            return True
        marks = {f"{PROPERTY}{name}": value for name, value in commit.properties.items()}
        return append_once(frame, self.name, commit, {**options, **marks})
