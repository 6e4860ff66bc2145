"""The workers of a Spark application: requests and releases executors through Spark's own interface.

This works with masters that add and remove executors while the application runs: standalone, Kubernetes, YARN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pyspark import SparkContext

from gluepot.core.errors import ConfigError


class Cluster(Protocol):
    """The source of workers."""

    def workers(self) -> int:
        """Return the number of existing workers; at least 1, because a batch has run."""

    def ordered(self) -> int:
        """Return the number of workers that exist or are requested."""

    def scale_to(self, workers: int) -> None:
        """Request workers up to a total number, or release those above it. Returns before new workers exist.

        Call this only between two batches, because the tasks of a released worker run again on another one.
        """


class SparkCluster:
    """The executors of a context. Use it only between two batches, see `Cluster.scale_to`.

    Args:
        context: returns the running context.
    """

    def __init__(self, context: Callable[[], SparkContext]) -> None:
        self._context = context
        self._asked_for: int | None = None

    def workers(self) -> int:
        """See `Cluster`."""
        return max(1, len(self._executors()))

    def ordered(self) -> int:
        """See `Cluster`; executors that the application gets at its start count as soon as they exist."""
        return self.workers() if self._asked_for is None else self._asked_for

    def scale_to(self, workers: int) -> None:
        """See `Cluster`.

        Raises:
            ConfigError: Spark's own dynamic allocation is on; only one of the two may scale.
        """
        context = self._context()
        if str(context.getConf().get("spark.dynamicAllocation.enabled", "false")).lower() == "true":
            raise ConfigError("--enable-auto-scaling and spark.dynamicAllocation.enabled are both on; turn one off.")
        spark, java = context._jsc.sc(), context._jvm  # noqa: SLF001  PySpark has no executors
        assert java is not None  # a running context has one
        surplus = newest(self._executors(), workers)
        if surplus:
            spark.killExecutors(java.PythonUtils.toSeq(surplus))
        # Request the total last, because killing executors lowers the number that Spark maintains.
        spark.requestTotalExecutors(workers, 0, java.PythonUtils.toScalaMap({}))
        self._asked_for = workers

    def _executors(self) -> Sequence[str]:
        found: Any = self._context()._jsc.sc().getExecutorIds()  # noqa: SLF001  as above
        return [str(found.apply(at)) for at in range(found.size())]


def newest(executors: Sequence[str], keep: int) -> list[str]:
    """Return the executors to release so that `keep` remain: the newest, whose caches contain least."""
    return sorted(executors, key=int)[keep:]
