"""Reports the end of a run: to the ledger, a push gateway and OpenLineage while Spark runs, and last to the user."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from gluepot.core.clock import Clock
from gluepot.core.job_parameters import JobParameters
from gluepot.core.logging import get_logger
from gluepot.job.summary import Summary, lines
from gluepot.streaming.query.session import StreamSession

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

log = get_logger(__name__)

AtEnd = Callable[[type[BaseException] | None, BaseException | None, object], None]
"""Called with what ended the script, as the end of a context is."""


def push_at_end(gateway: str, job: str, metrics: CollectorRegistry, clock: Clock) -> AtEnd:
    """Return what pushes the metrics of a run that begins now.

    Raises:
        ConfigError: the gateway is no URL.
    """
    from gluepot.ops.push import Ended, checked_gateway, push  # noqa: PLC0415  few runs push

    checked_gateway(gateway)
    began = clock.monotonic()

    def at_end(_: object, error: BaseException | None, __: object) -> None:
        from gluepot.bookmarks.run_writer import WRITERS  # noqa: PLC0415  not before the environment is ready

        outputs, account = WRITERS.outputs(), WRITERS.account()
        ended = Ended(
            good=_failure(error) is None,
            end_epoch=clock.epoch(),
            duration_secs=clock.monotonic() - began,
            rows_out=sum(one.rows for one in outputs),
            files=sum(one.files for one in outputs),
            account=account,
        )
        push(gateway, job, metrics, ended)

    return at_end


def bookmarks_at_end(_: object, error: BaseException | None, __: object) -> None:
    """Note in the ledger why a run with bookmarks has failed; a run that ends without an error is left alone."""
    failure = _failure(error)
    if failure is None or "gluepot.bookmarks.jobrun" not in sys.modules:
        return
    from gluepot.bookmarks import jobrun  # noqa: PLC0415  not before the environment is ready

    lines = str(failure).splitlines() or [""]
    jobrun.end(f"the script failed: {type(failure).__name__}: {lines[0]}")


def lineage_until_end(parameters: JobParameters, streams: StreamSession) -> AtEnd | None:
    """Tell OpenLineage of a run from now on; return what tells of its end, None where the library is not to be had."""
    try:
        from gluepot.job.lineage.start import open_lineage  # noqa: PLC0415  an optional library
    except ImportError as missing:
        log.warning("lineage_off", reason=str(missing), hint="pip install 'gluepot[openlineage]'")
        return None
    lineage = open_lineage(parameters.job_name, parameters.run_id, streams.clock, streams.side_task_failed)
    if lineage is None:
        return None
    streams.watchers.append(lineage.update)
    lineage.began()

    def at_end(_: object, error: BaseException | None, __: object) -> None:
        from gluepot.bookmarks.run_writer import WRITERS  # noqa: PLC0415  not before the environment is ready

        account = WRITERS.account()
        told = account if account.sources or account.writes.arrived else None
        lineage.ended(streams.read, WRITERS.outputs(), _failure(error), WRITERS.checks(), told)

    return at_end


def summary_at_end(streams: StreamSession, *, live: bool) -> AtEnd:
    """Add up what a run does from now on; return what tells it if the run succeeds.

    Args:
        streams: the session of the run.
        live: tell it as lines for a person; else as a line of the log.
    """
    summary, began = Summary(), streams.clock.monotonic()
    streams.watchers.append(summary.update)

    def at_end(_: object, error: BaseException | None, __: object) -> None:
        if _failure(error) is not None:
            return
        if "gluepot.bookmarks.run_writer" in sys.modules:  # else nothing was written outside of streams
            from gluepot.bookmarks.run_writer import WRITERS  # noqa: PLC0415  not before the environment is ready

            summary.add(WRITERS.outputs(), WRITERS.rejected(), WRITERS.account(), WRITERS.nulled())
        secs = streams.clock.monotonic() - began
        for imbalance in () if summary.account is None else summary.account.imbalances():
            log.error("records_unaccounted", fault=imbalance, hint="please report it")
        if live:
            print(*lines(secs, summary), sep="\n", file=sys.stderr)
        else:
            log.info("job_done", **summary.values(secs))

    return at_end


def _failure(error: BaseException | None) -> BaseException | None:
    """Return the error with which a script failed; None if it succeeded, which includes `sys.exit()`."""
    return None if isinstance(error, SystemExit) and not error.code else error
