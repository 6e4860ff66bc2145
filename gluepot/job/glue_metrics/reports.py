"""Reports the metrics of a run in files, which the service takes: one every 30 seconds, and one at the end.

The service may be away meanwhile, and the run does not wait for it. A report is a list of requests to PutMetricData.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gluepot.core.clock import Clock
from gluepot.core.datasets import Dataset
from gluepot.core.job_parameters import JobParameters
from gluepot.core.logging import get_logger
from gluepot.core.private import make_private_folder
from gluepot.engine.account import Account
from gluepot.engine.readings import READINGS
from gluepot.engine.write_totals import Output
from gluepot.job.glue_metrics.figures import (
    NAMESPACE,
    QUALITY_NAMESPACE,
    Batches,
    Counts,
    Gauges,
    Names,
    account_data,
    batch_data,
    job_data,
    observability_data,
    quality_data,
)
from gluepot.job.glue_metrics.spark_status import SparkStatus
from gluepot.job.written import Written, add
from gluepot.quality.results import Checked
from gluepot.streaming.observe.first_times import FirstTimes
from gluepot.streaming.progress import BatchStats
from gluepot.streaming.query.session import StreamSession
from gluepot.streaming.side_tasks import Failed, side_task

REPORT_SECS = 30.0
"""The interval of Glue's reports."""
# A day of reports that nobody took; what follows is not kept.
_MOST_WAITING = 2880
_TASK = "glue_metrics"
_DATA_A_REQUEST = 1000
_END_SECS = 10.0
_RUN_WRITER = "gluepot.bookmarks.run_writer"

log = get_logger(__name__)


@dataclass(slots=True)
class Reports:
    """The reports of one run. Nothing of it fails the run.

    Args:
        folder: where the service looks for reports.
        names: of the run.
        job_metrics: whether the run reports job metrics (`--enable-metrics`).
        observability: whether it reports observability metrics (`--enable-observability-metrics true`).
        sources: returns what was read outside of streams.
        outputs: returns the outputs of all writes outside of streams.
        account: returns the account of what was read and written outside of streams.
        clock: tells the time.
        failed: told of reports that could not be made.
    """

    folder: Path
    names: Names
    job_metrics: bool
    observability: bool
    sources: Callable[[], Iterable[Dataset]]
    outputs: Callable[[], Iterable[Output]]
    account: Callable[[], Account]
    clock: Clock
    failed: Failed
    status: Callable[[int], tuple[Counts, Gauges | None]] = field(default_factory=lambda: SparkStatus().read)
    _number: int = 0
    _before: Counts = field(default_factory=Counts)
    _written_before: dict[Dataset, Written] = field(default_factory=dict)
    _batches: list[BatchStats] = field(default_factory=list)
    _of_streams: Account = field(default_factory=Account)
    _streams_written: dict[Dataset, Written] = field(default_factory=dict)
    _streams_read: set[Dataset] = field(default_factory=set)
    _checks: list[dict[str, Any]] = field(default_factory=list)
    _evaluations: FirstTimes = field(default_factory=FirstTimes)
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _ends: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def begin(self) -> None:
        """Report from now on."""
        self._thread = threading.Thread(target=self._report_until_end, name="gluepot-glue-metrics", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Make the last report, while Spark is still there."""
        self._ends.set()
        if self._thread is not None:
            self._thread.join(_END_SECS)

    @side_task(_TASK)
    def update(self, stats: BatchStats) -> None:
        """Count a committed batch."""
        with self._turn:
            self._batches.append(stats)
            self._of_streams += stats.account
            add(self._streams_written, stats.outputs)
            self._streams_read.update(stats.inputs)

    def checked(self, checked: Checked) -> None:
        """Count a check of data quality; Glue has metrics of it only if the script asks for them."""
        result = checked.result
        if checked.in_cloudwatch and self._evaluations.is_first(result.evaluation):
            with self._turn:
                self._checks += quality_data(self.names.job, result.source.context, result.passed, result.failed)

    def report(self) -> None:
        """Write a report of what has happened since the last one."""
        now_ms = round(self.clock.epoch() * 1000)
        try:
            counts, gauges = self.status(now_ms)
        except Exception as error:  # noqa: BLE001  whatever Spark raises while it ends
            log.debug("spark_status_not_read", reason=str(error))
            counts, gauges = self._before, None
        else:
            records, size_bytes = READINGS.records_and_bytes()
            counts = counts.plus(Counts(bytes_read=size_bytes, records_read=records))
        with self._turn:
            batches, checks, written = list(self._batches), list(self._checks), dict(self._streams_written)
            sources = sorted({*self._streams_read, *self.sources()})
        add(written, self.outputs())
        if counts is not self._before:
            counts = replace(counts, records_written=sum(one.records for one in written.values()))
        new = counts.since(self._before)
        data: list[dict[str, Any]] = []
        if self.job_metrics:
            data += job_data(self.names, new, gauges, sources)
            data += batch_data(self.names, _together(batches)) if batches else []
        if self.observability:
            data += observability_data(self.names, new, gauges, sources, _since(written, self._written_before))
        if self._ends.is_set() and (self.job_metrics or self.observability):
            data += account_data(self.names, self._of_streams + self.account())
        self._write(now_ms / 1000, {NAMESPACE: data, QUALITY_NAMESPACE: checks})
        # What could not be written is a part of the next report.
        self._before, self._written_before = counts, written
        with self._turn:
            del self._batches[: len(batches)], self._checks[: len(checks)]

    def _report_until_end(self) -> None:
        while True:
            ends = self._ends.wait(REPORT_SECS)
            try:
                self.report()
            except Exception as error:  # noqa: BLE001  a full disk, or whatever it is: the run goes on
                self.failed("", _TASK, error)
            if ends:
                return

    def _write(self, at_secs: float, data: Mapping[str, list[dict[str, Any]]]) -> None:
        requests = [
            {"Namespace": namespace, "MetricData": [{**one, "Timestamp": at_secs} for one in some]}
            for namespace, those in data.items()
            for some in _parts(those)
        ]
        if not requests or sum(1 for _ in self.folder.glob(f"{self.names.run_id}.*")) >= _MOST_WAITING:
            return
        self._number += 1
        make_private_folder(self.folder)
        path = self.folder / f"{self.names.run_id}.{self._number}.json"
        temporary = path.with_suffix(".part")
        temporary.write_text(json.dumps(requests))
        temporary.rename(path)


def _parts(data: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield data in parts that a request takes."""
    for first in range(0, len(data), _DATA_A_REQUEST):
        yield data[first : first + _DATA_A_REQUEST]


def _since(now: Mapping[Dataset, Written], before: Mapping[Dataset, Written]) -> dict[Dataset, Written]:
    new = {name: one.since(before.get(name, Written())) for name, one in now.items()}
    return {name: one for name, one in new.items() if one != Written()}


def _together(batches: Sequence[BatchStats]) -> Batches:
    lags_secs = [secs for one in batches for secs in one.lag_secs.values()]
    return Batches(
        sum(one.rows_in for one in batches),
        sum(one.duration_secs for one in batches) * 1000,
        max(lags_secs) * 1000 if lags_secs else None,
    )


def begin(folder: Path, parameters: JobParameters, streams: StreamSession) -> Reports:
    """Return the reports of a run, which have begun.

    Args:
        folder: where the service looks for reports.
        parameters: of the job.
        streams: the session of the run.
    """
    reports = Reports(
        folder,
        Names(parameters.job_name, parameters.run_id),
        parameters.enable_metrics,
        parameters.enable_observability_metrics,
        lambda: tuple(streams.read),
        _outputs,
        _account,
        streams.clock,
        streams.side_task_failed,
    )
    reports.begin()
    return reports


def _outputs() -> Sequence[Output]:
    if _RUN_WRITER not in sys.modules:  # nothing was written
        return ()
    from gluepot.bookmarks.run_writer import WRITERS  # noqa: PLC0415  not before the script has loaded it

    return WRITERS.outputs()


def _account() -> Account:
    if _RUN_WRITER not in sys.modules:
        return Account()
    from gluepot.bookmarks.run_writer import WRITERS  # noqa: PLC0415  as above

    return WRITERS.account()
