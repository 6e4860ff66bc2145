"""Opens the lineage of a run: the library's client, as its own configuration has it."""

from __future__ import annotations

import os
from importlib.metadata import version

from gluepot.core.clock import Clock
from gluepot.core.logging import get_logger
from gluepot.job.lineage.emitter import Lineage
from gluepot.job.lineage.events import Names, Versions
from gluepot.streaming.side_tasks import Failed

NAMESPACE = "gluepot"
"""Of jobs, unless OPENLINEAGE_NAMESPACE names another one."""

log = get_logger(__name__)


def open_lineage(job: str, run_id: str, clock: Clock, failed: Failed) -> Lineage | None:
    """Return the lineage of a run that is about to begin; None, with a warning, if the client is not to be had.

    Args:
        job: its name.
        run_id: of the run, `jr_...`.
        clock: for the times of events.
        failed: told of events that are not sent.
    """
    from openlineage.client import OpenLineageClient  # noqa: PLC0415  it reads its configuration at this moment

    try:
        client = OpenLineageClient()
    except Exception as wrong:  # noqa: BLE001  whatever is wrong with the configuration, the job goes on
        log.warning("lineage_off", reason=str(wrong), hint="correct openlineage.yml or OPENLINEAGE_*")
        return None
    names = Names(os.environ.get("OPENLINEAGE_NAMESPACE") or NAMESPACE, job, run_id)
    return Lineage(client.emit, names, Versions(version("gluepot"), version("pyspark")), clock, failed)
