"""The workers of a Spark application: its executors, asked for and given back through Spark's own interface.

Works where Spark's master gives and takes executors while the application runs: standalone, Kubernetes, YARN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pyspark import SparkContext

from gluepot.core.errors import ConfigError


class Cluster(Protocol):
    """Where workers come from."""

    def workers(self) -> int:
        """Return how many are there; at least 1, as a batch has run."""

    def ordered(self) -> int:
        """Return how many are there or asked for."""

    def scale_to(self, workers: int) -> None:
        """Ask for so many in all, or give back those above; returns before they are there.

        Must be called between two batches: tasks of a worker that is given back run again on another one.
        """


class SparkCluster:
    """The executors of a context. Between two batches only, see `Cluster.scale_to`.

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
        """See `Cluster`; what an application is given at its start counts as soon as it is there."""
        return self.workers() if self._asked_for is None else self._asked_for

    def scale_to(self, workers: int) -> None:
        """See `Cluster`.

        Raises:
            ConfigError: Spark's own dynamic allocation is on; there can be one hand on the wheel.
        """
        context = self._context()
        if str(context.getConf().get("spark.dynamicAllocation.enabled", "false")).lower() == "true":
            raise ConfigError("--enable-auto-scaling and spark.dynamicAllocation.enabled are both on; turn one off.")
        spark, java = context._jsc.sc(), context._jvm  # noqa: SLF001  PySpark has no executors
        assert java is not None  # of a running context
        surplus = newest(self._executors(), workers)
        if surplus:
            spark.killExecutors(java.PythonUtils.toSeq(surplus))
        # Last, because killing lowers the number that Spark keeps up by those killed, whatever was asked for before.
        spark.requestTotalExecutors(workers, 0, java.PythonUtils.toScalaMap({}))
        self._asked_for = workers

    def _executors(self) -> Sequence[str]:
        found: Any = self._context()._jsc.sc().getExecutorIds()  # noqa: SLF001  as above
        return [str(found.apply(at)) for at in range(found.size())]


def newest(executors: Sequence[str], keep: int) -> list[str]:
    """Return the executors to give back so that so many stay: the newest, whose caches hold least."""
    return sorted(executors, key=int)[keep:]
