"""Begins the reports of a run when there is something to report. It loads nothing large before that."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gluepot.core.job_parameters import JobParameters
from gluepot.streaming.query.session import StreamSession
from gluepot.streaming.side_tasks import side_task

if TYPE_CHECKING:
    from gluepot.job.glue_metrics.reports import Reports
    from gluepot.quality.results import Checked

REPORTS_FOLDER = "GLUEPOT_METRIC_REPORTS"
"""The environment variable with the folder; the service that has started the run looks there."""


def reporting(parameters: JobParameters, streams: StreamSession, environ: Mapping[str, str]) -> Callable[[], None]:
    """Report Glue's metrics of a run from now on; return what makes the last report.

    A run reports from its begin if its parameters say so, else from the first check of data quality that has metrics.

    Args:
        parameters: of the job.
        streams: the session of the run; this adds to its watchers.
        environ: says where the service looks for reports; without it nothing is reported.
    """
    folder = environ.get(REPORTS_FOLDER)
    begun: list[Reports] = []
    turn = threading.Lock()

    @side_task("glue_metrics")
    def checked(one: Checked) -> None:
        if one.in_cloudwatch:
            with turn:
                if not begun:
                    begun.append(_begun(parameters, streams, folder or ""))
            begun[0].checked(one)

    if folder:
        streams.check_watchers.append(checked)
    if folder and (parameters.enable_metrics or parameters.enable_observability_metrics):
        begun.append(_begun(parameters, streams, folder))
        streams.watchers.append(begun[0].update)

    def end() -> None:
        for one in begun:
            one.end()

    return end


def _begun(parameters: JobParameters, streams: StreamSession, folder: str) -> Reports:
    from gluepot.job.glue_metrics.reports import begin  # noqa: PLC0415  it loads Spark

    return begin(Path(folder), parameters, streams)
