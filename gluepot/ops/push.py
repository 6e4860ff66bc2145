"""Sends the metrics of a run to a push gateway when it ends, because periodic scrapes miss short jobs."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, Gauge, pushadd_to_gateway

from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger
from gluepot.engine.account import Account
from gluepot.streaming.observe.metric_names import AT_END, PREFIX

# How long the end of a run waits for the gateway.
PUSH_SECS = 10.0

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended.

    Args:
        good: whether it succeeded.
        end_epoch: time of its end, in seconds since 1970 UTC.
        duration_secs: time from its start to its end.
        rows_out: number of records written outside of streams.
        files: number of files published outside of streams.
        account: of the records outside of streams.
    """

    good: bool
    end_epoch: float
    duration_secs: float
    rows_out: int
    files: int
    account: Account = field(default_factory=Account)

    def values(self) -> dict[str, float]:
        """Return the values of `AT_END`, by name."""
        return {
            "run_success": float(self.good),
            "run_end_timestamp_seconds": self.end_epoch,
            "run_duration_seconds": self.duration_secs,
            "run_rows_out": self.rows_out,
            "run_files_written": self.files,
            "run_rows_in": self.account.read.records,
            "run_rows_delivered": self.account.read.delivered,
            "run_rows_rejected_in_read": self.account.read.rejected,
            "run_rows_left_out": self.account.read.left_out,
            "run_rows_refused": self.account.writes.refused,
        }


def checked_gateway(url: str) -> str:
    """Return the URL of a push gateway; raise ConfigError if it is not a URL."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(f"--push-gateway is {url!r}; give a URL such as http://gateway:9091.")
    return url


def push(gateway: str, job: str, registry: CollectorRegistry, ended: Ended) -> None:
    """Send all metrics, and how the run ended. A failure is only logged as a warning; the run's result stays.

    Args:
        gateway: URL of the gateway.
        job: name of the job, under which the gateway keeps the last run.
        registry: the metrics.
        ended: how the run ended.
    """
    values = ended.values()
    try:
        for metric in AT_END:
            gauge = Gauge(PREFIX + metric.name, metric.help, metric.labels, registry=registry)
            gauge.labels(job).set(values[metric.name])
        pushadd_to_gateway(gateway, job=job, registry=registry, timeout=PUSH_SECS)
    except Exception as failed:  # noqa: BLE001  a metric that cannot be had, too
        log.warning("metrics_not_pushed", gateway=gateway, reason=str(failed))
