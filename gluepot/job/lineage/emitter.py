"""Sends the events of a run to OpenLineage from a separate thread, because the receiver may be slow or unreachable."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from openlineage.client.event_v2 import RunEvent, RunState

from gluepot.core.clock import Clock
from gluepot.core.datasets import Dataset
from gluepot.core.logging import get_logger
from gluepot.core.masking import mask_text
from gluepot.engine.account import Account
from gluepot.engine.write_totals import Output
from gluepot.job.lineage.events import Names, Versions, event
from gluepot.quality.results import Checked
from gluepot.streaming.progress import BatchStats
from gluepot.streaming.side_tasks import Failed, side_task, warn

MOST_WAITING = 1_000
END_SECS = 10.0
"""How long the end of a run waits until what is left is sent."""
TASK = "lineage"

log = get_logger(__name__)


@dataclass(slots=True)
class Lineage:
    """The events of one run. Nothing of it waits, but for `ended`, and nothing raises.

    Args:
        send: hands an event over; may block, may raise.
        names: of the run.
        versions: of what runs it.
        clock: for the times of events.
        failed: told of each event that is not sent; of the run's own ones with no name of a query.
    """

    send: Callable[[RunEvent], object]
    names: Names
    versions: Versions
    clock: Clock
    failed: Failed = warn
    _waiting: queue.Queue[tuple[str, Callable[[], RunEvent]] | None] = field(
        default_factory=lambda: queue.Queue(MOST_WAITING)
    )
    _queries: dict[str, Names] = field(default_factory=dict)
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _sender: threading.Thread | None = None
    _lost: int = 0

    def began(self) -> None:
        """Report that the run begins."""
        self._sender = threading.Thread(target=self._send_all, name="gluepot-lineage", daemon=True)
        self._sender.start()
        self._put(self.names, partial(event, RunState.START, self.names, self.versions, self.clock.epoch()))

    @side_task(TASK)
    def update(self, stats: BatchStats) -> None:
        """Report a committed batch."""
        with self._turn:
            new = stats.query not in self._queries
            own = self._queries.setdefault(
                stats.query, Names(self.names.namespace, self.names.job, self.names.run_id, stats.query)
            )
        if new:
            self._put(own, partial(event, RunState.START, own, self.versions, stats.started_epoch, stats.inputs))
        batch = (own, self.versions, stats.committed_epoch, stats.inputs, stats.outputs)
        self._put(own, partial(event, RunState.RUNNING, *batch, checks=stats.checks, account=stats.account))

    def ended(
        self,
        inputs: Iterable[Dataset],
        outputs: Iterable[Output],
        error: BaseException | None,
        checks: Iterable[Checked] = (),
        account: Account | None = None,
    ) -> None:
        """Tell that the run and its queries end.

        Args:
            inputs: read outside of streams.
            outputs: written outside of streams.
            error: what ended it; None for a good end.
            checks: what checks of data quality found outside of streams.
            account: of the records outside of streams.
        """
        state = RunState.COMPLETE if error is None else RunState.FAIL
        said = "" if error is None else mask_text(f"{type(error).__name__}: {error}")
        now_epoch = self.clock.epoch()
        for own in self._queries.values():
            self._put(own, partial(event, state, own, self.versions, now_epoch, error=said))
        run = (self.names, self.versions, now_epoch, tuple(inputs), tuple(outputs), said)
        self._put(self.names, partial(event, state, *run, checks=tuple(checks), account=account))
        with suppress(queue.Full):  # then nobody waits for the end
            self._waiting.put_nowait(None)
        if self._sender is not None:
            self._sender.join(END_SECS)
        if lost := self._lost + self._waiting.qsize():
            log.warning("lineage_lost", events=lost)

    def _put(self, names: Names, make: Callable[[], RunEvent]) -> None:
        try:
            self._waiting.put_nowait((names.query, make))
        except queue.Full:
            self._lose(names.query, TimeoutError(f"{MOST_WAITING:,} events wait to be sent already"))

    def _send_all(self) -> None:
        while (waiting := self._waiting.get()) is not None:
            query, make = waiting
            try:
                self.send(make())
            except Exception as error:  # noqa: BLE001  whatever a transport raises, the job goes on
                self._lose(query, error)

    def _lose(self, query: str, error: Exception) -> None:
        self._lost += 1
        self.failed(query, TASK, error)
