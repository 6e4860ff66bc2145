"""Gives back the memory of processes that Spark has planned Python sources in.

Looking for sources, making one, and planning its reads have a daemon each, from which a worker is forked: some 280 MB
together. A stream needs them before its first batch. Spark (4.1) ends the workers after a minute and keeps the daemons
for good; where one is needed again, it starts a new one.
"""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from etlcore.logging import get_logger

_PLANNERS = frozenset(
    f"pyspark.sql.worker.{name}" for name in ("lookup_data_sources", "create_data_source", "plan_data_source_read")
)

log = get_logger(__name__)


def release_planners(spark: SparkSession) -> int:
    """Stop the planning processes that are idle; return of how many kinds.

    Spark has no call for it. Where it is not made as 4.1 is, nothing is stopped.
    """
    jvm: Any = spark._jvm  # noqa: SLF001  the only way to the driver's JVM
    try:
        by_key = _held(jvm.org.apache.spark.SparkEnv.get(), "pythonWorkers").iterator()
        stopped = 0
        while by_key.hasNext():
            entry = by_key.next()
            if entry._1().productElement(1) in _PLANNERS and _is_idle(entry._2()):  # noqa: SLF001  Scala's names
                entry._2().stop()  # noqa: SLF001
                stopped += 1
    except Py4JError as error:
        log.debug("planners_kept", reason=str(error))
        return 0
    return stopped


def _is_idle(factory: JavaObject) -> bool:
    """Tell whether a daemon has workers and none is at work; those that have ended count until Java forgets them."""
    workers = _held(factory, "daemonWorkers").size()
    return bool(workers and workers == _held(factory, "idleWorkers").size())


def _held(owner: JavaObject, field: str) -> Any:
    found = owner.getClass().getDeclaredField(field)
    found.setAccessible(True)
    return found.get(owner)
