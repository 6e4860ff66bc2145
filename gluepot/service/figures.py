"""What the service tells of itself: Prometheus metrics and its health. Names of jobs are not among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gluepot.core.clock import Clock
from gluepot.core.errors import TransientError
from gluepot.service.decisions.states import State
from gluepot.service.store.database import Store

STUCK_AFTER_SECS = 60.0
"""A controller that has not finished a look at all runs for this long is not well."""
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Figures(Collector):
    """Counts requests, and reads the rest when it is asked.

    Args:
        store: the database.
        looked_secs: returns when the controller looked at all runs last, by the monotonic clock.
        clock: tells the time.
    """

    def __init__(self, store: Store, looked_secs: Callable[[], float], clock: Clock) -> None:
        self._store = store
        self._looked_secs = looked_secs
        self._clock = clock
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "gluepot_service_requests",
            "Calls of the API, by operation and by the code of the answer (OK for no error).",
            ["operation", "code"],
            registry=self._registry,
        )
        self._request_secs = Histogram(
            "gluepot_service_request_seconds",
            "How long calls of the API took.",
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._foreign = Counter(
            "gluepot_service_foreign_ids",
            "Accounts, catalogs and regions in calls that are not the service's, by kind.",
            ["kind"],
            registry=self._registry,
        )
        self._registry.register(self)

    def answered(self, operation: str, code: str, secs: float) -> None:
        """Count a call.

        Args:
            operation: one that the service knows, or `unknown`.
            code: that of the error; `OK` for none.
            secs: how long it took.
        """
        self._requests.labels(operation, code).inc()
        self._request_secs.observe(secs)

    def foreign(self, kind: str) -> None:
        """Count an id that is not the service's: a `catalog`, an `account` or a `region`."""
        self._foreign.labels(kind).inc()

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)

    def trouble(self) -> str:
        """Return what is wrong with the service in one sentence; an empty text if it is well."""
        if self._look_age_secs() > STUCK_AFTER_SECS:
            return f"The controller has not looked at the runs for {self._look_age_secs():.0f} seconds."
        try:
            with self._store.changes() as changes:
                changes.places.seen_ms()
        except TransientError as error:
            return f"{error}."
        return ""

    def describe(self) -> Iterator[Metric]:
        """Return nothing: the registry then does not read the database when the collector is registered."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Yield what is read at this moment. Without a database only what needs none."""
        yield GaugeMetricFamily(
            "gluepot_service_look_age_seconds",
            "Time since the controller has looked at all runs.",
            value=self._look_age_secs(),
        )
        try:
            with self._store.changes() as changes:
                runs, waiting = changes.count_all(list(State)), changes.runs_in([State.WAITING])
                pending, oldest_ms = changes.events.pending()
        except TransientError:
            yield GaugeMetricFamily("gluepot_service_database_up", "Whether the database answers.", value=0)
            return
        yield GaugeMetricFamily("gluepot_service_database_up", "Whether the database answers.", value=1)
        in_states = GaugeMetricFamily("gluepot_service_runs", "Runs that are kept, by state.", labels=["state"])
        for state, number in runs.items():
            in_states.add_metric([state.value], number)
        yield in_states
        now_ms = self._clock.epoch() * 1000
        yield GaugeMetricFamily(
            "gluepot_service_oldest_waiting_seconds",
            "For how long the oldest run has been WAITING; 0 if none is.",
            value=max((now_ms - run.started_ms for run in waiting), default=0) / 1000,
        )
        yield GaugeMetricFamily("gluepot_service_events_pending", "Events that are to be posted.", value=pending)
        yield GaugeMetricFamily(
            "gluepot_service_oldest_event_seconds",
            "Age of the oldest event that is to be posted; 0 if there is none.",
            value=max(0.0, now_ms - oldest_ms) / 1000 if pending else 0,
        )

    def _look_age_secs(self) -> float:
        return max(0.0, self._clock.monotonic() - self._looked_secs())
