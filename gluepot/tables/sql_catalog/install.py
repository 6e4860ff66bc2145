"""Puts the Data Catalog in the place of the catalog that Spark keeps in memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession

from gluepot.core.logging import get_logger
from gluepot.spark.spark_env import DATA_CATALOG
from gluepot.tables.sql_catalog.external import DataCatalog
from gluepot.tables.sql_catalog.hive_ddl import as_data_source
from gluepot.tables.sql_catalog.java_values import JavaValues

if TYPE_CHECKING:
    from gluepot.catalog.store import Catalog

_REPLACED = "org.apache.spark.sql.catalyst.catalog.InMemoryCatalog"

log = get_logger(__name__)


def use_data_catalog(spark: SparkSession, find: Callable[[], Catalog]) -> None:
    """Let SQL find and create its tables in the Data Catalog.

    Spark chooses its catalog from a list of two names and has no other way in. So the catalog in memory, to which all
    sessions of a driver lead, is exchanged for ours. If Spark's internal classes differ from those of 4.1, or the
    script has brought a Hive metastore, nothing is exchanged.

    Args:
        spark: the session.
        find: opens the Data Catalog, when the first name is looked up.
    """
    if spark.conf.get(DATA_CATALOG, "true") == "false":
        return
    jvm: Any = spark._jvm  # noqa: SLF001  Spark has no public call for this
    session: Any = spark._jsparkSession  # noqa: SLF001
    try:
        shared = session.sharedState().externalCatalog()
        inner = shared.getClass().getDeclaredField("delegate")
        inner.setAccessible(True)
        own = inner.get(shared)
        if own.getClass().getName() != _REPLACED:
            return
        ensure_callback_server_started(spark.sparkContext._gateway)  # type: ignore[no-untyped-call]  # noqa: SLF001
        java = JavaValues(jvm, spark.sparkContext._jsc.hadoopConfiguration())  # noqa: SLF001
        inner.set(shared, DataCatalog(java, own, spark.conf.get("spark.sql.warehouse.dir") or "", find))
        _take_hives_words()
    except Py4JError as error:
        log.warning("catalog_not_in_sql", reason=str(error).partition("\n")[0])


@cache
def _take_hives_words() -> None:
    """Let `spark.sql` of all sessions create tables that are described in Hive's words; see `hive_ddl`."""
    original = SparkSession.sql

    @wraps(original)
    def sql(self: SparkSession, sqlQuery: str, *args: Any, **kwargs: Any) -> DataFrame:  # noqa: N803  PySpark's name
        return original(self, as_data_source(sqlQuery), *args, **kwargs)

    SparkSession.sql = sql  # type: ignore[method-assign]
