"""Acts on the advice after each batch."""

from __future__ import annotations

from collections.abc import Callable, Collection

from gluepot.core.clock import Clock
from gluepot.core.logging import get_logger
from gluepot.streaming.advisor import Advice, AdvisorSettings
from gluepot.streaming.scaling.cluster import Cluster
from gluepot.streaming.scaling.decide import Keep, ScaleTo, decide
from gluepot.streaming.side_tasks import side_task

log = get_logger(__name__)


class Scaler:
    """Follows the advice for the queries of a job. They share its workers, so the largest wanted number counts.

    Must not be called from several threads at a time; `AdviceLog` calls it from one at a time.

    Args:
        cluster: the workers to scale.
        settings: bounds and cool-down.
        clock: the clock of the cool-down.
        ended: returns the queries of the job that have ended; the advice for them no longer counts.
    """

    def __init__(
        self,
        cluster: Cluster,
        settings: AdvisorSettings,
        clock: Clock,
        ended: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self._cluster, self._settings, self._clock, self._ended = cluster, settings, clock, ended
        self._wanted: dict[str, int] = {}
        self._changed_at: float | None = None

    @side_task("scaling")
    def follow(self, query: str, advice: Advice) -> Keep | ScaleTo:
        """Act on the advice for a query, or keep the workers; called between two batches of that query."""
        ended = self._ended()
        self._wanted = {name: workers for name, workers in self._wanted.items() if name not in ended}
        self._wanted[query] = advice.wanted_workers
        now = self._clock.monotonic()
        since = None if self._changed_at is None else now - self._changed_at
        ordered = self._cluster.ordered()
        decision = decide(ordered, max(self._wanted.values()), advice.confidence, since, self._settings)
        if isinstance(decision, ScaleTo):
            self._cluster.scale_to(decision.workers)
            self._changed_at = now
            log.info("workers_changed", query=query, workers=decision.workers, before=ordered, reason=advice.reason)
        return decision
