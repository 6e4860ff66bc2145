"""The demo itself: server, producer, job, check."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError
from gluepot.demo.check import TableCheck, check_table
from gluepot.demo.stage import RATES, STAGES
from gluepot.job.options import RunOptions
from gluepot.job.run import run
from gluepot.produce import Produced, Steady, produce
from gluepot.produce.click_events import BROKEN_EVERY, events
from gluepot.streaming.progress import BatchStats, duration_quantile
from gluepot.streaming.query.session import StreamSession


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What the demo prints.

    Args:
        produced: events the server acknowledged, broken ones included.
        malformed: those broken on purpose.
        table: folder of the table.
        found: what DuckDB found in it.
        batches: micro-batches committed.
        p50_batch_seconds: median batch time.
        first_commit_seconds: from the start of the job to the first committed batch.
        script: the job script.
        late_seconds: how long after its time the last event was sent, because the server was too slow.
    """

    produced: int
    malformed: int
    table: Path
    found: TableCheck
    batches: int
    p50_batch_seconds: float
    first_commit_seconds: float
    script: Path
    late_seconds: float = 0.0

    @property
    def lost(self) -> int:
        """Good events that are not in the table."""
        return self.found.lost

    @property
    def duplicated(self) -> int:
        """Records that are there more than once."""
        return self.found.duplicated


class _Ending:
    """Ends the job when the producer is done and everything it sent is committed."""

    def __init__(self, streams: StreamSession) -> None:
        self._streams = streams
        self._expected: int | None = None
        self._lock = threading.Lock()
        self.history: list[BatchStats] = []

    def on_batch(self, stats: BatchStats) -> None:
        with self._lock:
            self.history.append(stats)
            self._end_if_done()

    def on_produced(self, total: int) -> None:
        with self._lock:
            self._expected = total
            self._end_if_done()

    def _end_if_done(self) -> None:
        if self._expected is not None and sum(stats.rows_in for stats in self.history) >= self._expected:
            self._streams.stop.set()


def run_demo(seconds: int, rate: int | None, *, live: bool, source: str = "kafka") -> DemoResult:
    """Run everything in a new folder below `.gluepot/demo`.

    Args:
        seconds: how long events are sent.
        rate: events a second; None for what the source takes.
        live: show the job while it runs.
        source: where they are sent to, a key of `STAGES`.

    Raises:
        ConfigError: a value is not above 0, or something the demo needs is missing.
    """
    rate = RATES[source] if rate is None else rate
    if seconds < 1 or rate < 1:
        raise ConfigError(f"seconds is {seconds} and rate is {rate}; use integers above 0.")
    if find_spec("duckdb") is None:
        raise ConfigError("The demo checks its table with DuckDB, which is missing; run `pip install 'gluepot[demo]'`.")
    folder = Path(".gluepot/demo", datetime.now(UTC).strftime("%Y%m%d-%H%M%S")).absolute()
    folder.mkdir(parents=True)
    table, total = folder / "table", seconds * rate
    clock = SystemClock()
    sent = Produced(0, 0.0)
    streams = StreamSession()
    ending = _Ending(streams)
    streams.watchers.append(ending.on_batch)
    failures: list[BaseException] = []
    with STAGES[source](folder, clock) as stage:

        def send() -> None:
            nonlocal sent
            records = ((event.payload, str(event.number).encode()) for event in events(total))
            try:
                sent = produce(records, Steady(rate), stage.target, clock, slice_secs=stage.slice_secs)
            except BaseException as error:  # noqa: BLE001  raised in the main thread, below
                failures.append(error)
            ending.on_produced(sent.acknowledged)

        sending = threading.Thread(target=send, daemon=True)
        began = clock.epoch()
        sending.start()
        arguments = ("--JOB_NAME", "clickstream", "--TempDir", str(folder / "temp"), "--output_path", str(table))
        options = RunOptions(connections=stage.connections)
        run(stage.script, (*arguments, *stage.arguments), options, streams, live=live)
        sending.join()
    if failures:
        raise failures[0]
    malformed = total // BROKEN_EVERY
    return DemoResult(
        produced=sent.acknowledged,
        malformed=malformed,
        table=table,
        found=check_table(table, total - malformed, total, BROKEN_EVERY),
        batches=len(ending.history),
        p50_batch_seconds=round(duration_quantile(ending.history, 0.5) or 0.0, 3),
        first_commit_seconds=round(ending.history[0].committed_epoch - began, 1) if ending.history else 0.0,
        script=stage.script,
        late_seconds=round(max(0.0, sent.secs - seconds), 1),
    )
