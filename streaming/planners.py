"""Gives back the memory of processes that Spark has planned Python sources in.

Looking for sources, making one, and planning its reads have a daemon each, from which a worker is forked. A stream
needs them before its first batch. Spark (4.1) ends workers that were idle for a minute; until then they take 170 MB.
"""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from etlcore.logging import get_logger

_PLANNERS = frozenset(
    f"pyspark.sql.worker.{name}" for name in ("lookup_data_sources", "create_data_source", "plan_data_source_read")
)
_END_IDLE_WORKERS = "org$apache$spark$api$python$PythonWorkerFactory$$cleanupIdleWorkers"

log = get_logger(__name__)


def release_planners(spark: SparkSession) -> int:
    """End the workers that are idle, as Spark does a minute later; return of how many kinds.

    Spark has no call for it. Where it is not made as 4.1 is, they stay for the minute.
    """
    jvm: Any = spark._jvm  # noqa: SLF001  the only way to the driver's JVM
    try:
        environment = jvm.org.apache.spark.SparkEnv.get()
        factories = environment.getClass().getDeclaredField("pythonWorkers")
        factories.setAccessible(True)
        by_key = factories.get(environment).iterator()
        released = 0
        while by_key.hasNext():
            entry = by_key.next()
            if entry._1().productElement(1) in _PLANNERS:  # noqa: SLF001  Scala's names
                getattr(entry._2(), _END_IDLE_WORKERS)()  # noqa: SLF001
                released += 1
    except Py4JError as error:
        log.debug("planners_kept", reason=str(error))
        return 0
    return released
