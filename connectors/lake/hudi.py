"""Reads and writes Hudi tables through Hudi's own data source, which the job brings as a Java archive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from gluepot.connectors.lake.commits import Compared, LakeCommit
from gluepot.core.errors import ConfigError
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger

_FORMAT = "hudi"
_OPERATION = "hoodie.datasource.write.operation"
_REPEATABLE = frozenset({"upsert", "delete", "insert_overwrite", "insert_overwrite_table", "delete_partition"})
"""Operations that leave the same table when they are done twice with the same rows; the first is Hudi's default."""
_NOT_FOUND = ("DATA_SOURCE_NOT_FOUND", "DATA_SOURCE_NOT_EXIST")


@dataclass(frozen=True, slots=True)
class HudiTable:
    """A table.

    Args:
        name: URL of its folder.
    """

    kind: ClassVar[str] = "hudi"

    name: str

    def place(self, spark: SparkSession, options: Mapping[str, Any]) -> str:  # noqa: ARG002  as in other formats
        """Return the name."""
        return self.name

    def read(self, spark: SparkSession, options: Mapping[str, Any]) -> DataFrame:
        """Return the rows; Hudi's options choose a kind of query or an older commit.

        Raises:
            ConfigError: the session has no Hudi.
        """
        with _present():
            return spark.read.format(_FORMAT).options(**options).load(self.name)

    def append(
        self, frame: DataFrame, commit: LakeCommit | None, options: Mapping[str, Any], _: Compared = None
    ) -> bool:
        """Write rows in one commit, by the operation that the options name.

        Unlike a table of Delta or Iceberg, the table does not tell us which batches it has: a batch that is tried again
        is written again. An upsert then replaces each row by itself. Other operations are told in a warning.

        Returns:
            True.

        Raises:
            ConfigError: the session has no Hudi.
        """
        operation = str(options.get(_OPERATION, "upsert")).lower()
        if commit is not None and operation not in _REPEATABLE:
            get_logger(__name__).warning(
                "retry_may_double_rows", table=self.name, operation=operation, hint=f"set {_OPERATION} to upsert"
            )
        reach("lake.appending")
        with _present():
            frame.write.format(_FORMAT).mode("append").options(**options).save(self.name)
        return True


@contextmanager
def _present() -> Iterator[None]:
    try:
        yield
    except (PySparkException, Py4JJavaError) as failed:
        if not any(condition in str(failed) for condition in _NOT_FOUND):
            raise
        raise ConfigError(
            "This session has no Hudi, of which no build for Spark 4.1 is bundled; pass its Spark bundle with"
            " --extra-jars and set --datalake-formats hudi."
        ) from failed
