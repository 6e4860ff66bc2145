"""Runs one query: starts it, retries it after failures, and ends it between two batches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from gluepot.commit import Background, Journal, Origin, QueryWrites
from gluepot.commit.record import input_text
from gluepot.connectors.documents import sink as documents
from gluepot.connectors.positions import StreamPositions
from gluepot.connectors.streams.rejects import discard, rejects_root
from gluepot.connectors.streams.start import read_start
from gluepot.connectors.values import SourceRange, coalesced
from gluepot.core.checkpoint import Checkpoint
from gluepot.core.errors import CheckpointError, EtlError, TransientError
from gluepot.core.failpoints import reach
from gluepot.core.logging import bind_context, get_logger
from gluepot.core.storage import LocalRoot, parse_url
from gluepot.engine import execute, on_driver, task_ranges
from gluepot.engine.pipeline import RangeInput
from gluepot.engine.readings import READINGS
from gluepot.engine.rejects import Rejects
from gluepot.engine.write_totals import RecordSchema, WriteTotals
from gluepot.engine.writer import Given, KnownTargets, TableWriter, Writing
from gluepot.frames.schema.changes import by_kind
from gluepot.spark import local_files
from gluepot.streaming.checkpoints import lease
from gluepot.streaming.checkpoints.start import mend_late_commit, prepare
from gluepot.streaming.count_ahead.prediction import Prediction
from gluepot.streaming.count_ahead.speculation import Speculation, Use
from gluepot.streaming.micro_batch.context import BatchContext, BatchFunction, run_known, run_rows
from gluepot.streaming.micro_batch.frames import StreamFrame, kept_at
from gluepot.streaming.micro_batch.inputs import Inputs, named
from gluepot.streaming.micro_batch.scopes import Scope
from gluepot.streaming.micro_batch.shuffles import suit_batches
from gluepot.streaming.observe.capacity import capacity_of
from gluepot.streaming.observe.lag import Lag, LagWatch
from gluepot.streaming.progress import BatchStats
from gluepot.streaming.quarantine.isolate import Quarantine
from gluepot.streaming.query import retry
from gluepot.streaming.query.batch_account import batch_account
from gluepot.streaming.query.ledger_positions import LedgerPositions
from gluepot.streaming.query.pausing import rest
from gluepot.streaming.query.session import ENDLESS, StreamSession
from gluepot.streaming.query.spark_progress import SparkProgress, name_in_spark
from gluepot.streaming.query.stopping import stop_on_signals
from gluepot.streaming.query.throttling import Throttling
from gluepot.streaming.settings import StreamSettings

POLL_SECS = 0.05

log = get_logger(__name__)

T = TypeVar("T")


class StopBetweenBatches(Exception):
    """Raised when a batch begins after a stop was requested; its offsets are planned, but its function has not run."""


@dataclass(slots=True)
class _Run:
    """The state that the batch callback and the waiting thread share.

    Args:
        gate: held while a batch begins and while the query decides whether to stop.
        stopping: whether no further batch may begin.
        in_function: whether a batch is running.
        done_batches: number of non-empty batches whose function returned, without those that Spark could not commit.
        finished: the batch whose function returned last, and whether it held records; None once it is known whether
            Spark committed that batch.
        failures: consecutive failures of the current batch, or of planning it.
        error: what the last batch raised.
        last_started_epoch: when the last batch began, in seconds since 1970 UTC.
        last_positions: the positions of the last batch.
        failed_batch: the batch whose function failed last.
        caught_up: whether a drain of Spark's own sources is complete.
        is_first: whether the next batch is the first one since Spark started the query.
        returned: the last batch whose function returned in this driver.
        began: the batch that began last in this driver: the id of its query, its number, its input.
    """

    gate: threading.Lock = field(default_factory=threading.Lock)
    stopping: bool = False
    in_function: bool = False
    done_batches: int = 0
    finished: tuple[int, bool] | None = None
    failures: int = 0
    error: BaseException | None = None
    last_started_epoch: float | None = None
    last_positions: list[StreamPositions[Any]] = field(default_factory=list)
    failed_batch: int | None = None
    caught_up: bool = False
    is_first: bool = True
    returned: int | None = None
    began: tuple[str, int, str] = "", -1, ""


class _Drain:
    """The positions at which a drain ends: the ends of the streams when the drain began.

    Args:
        inputs: the streams of the query.
        began_epoch: when the drain began, in seconds since 1970 UTC.
    """

    def __init__(self, inputs: Inputs, began_epoch: float) -> None:
        self._inputs = inputs
        self._began_epoch = began_epoch
        self._ends: dict[tuple[str, Any], int | None] = {}
        self._known = False

    def look(self) -> bool:
        """Ask for the ends that are still unknown; return whether all are known. A known end never changes."""
        if not self._known and (found := self._inputs.ends_at(self._began_epoch)) is not None:
            self._ends = {
                shard: end if self._ends.get(shard) is None else self._ends[shard] for shard, end in found.items()
            }
            self._known = None not in self._ends.values()
        return self._known

    def is_reached(self, positions: Sequence[StreamPositions[Any]]) -> bool:
        """Tell whether the last completed batch, which held these positions, reaches the ends of all shards."""
        if not self.look():
            return False
        reached = {shard: end for one in positions for shard, end in one.ends_by_id().items()}
        return all(reached.get(shard, 0) >= (end or 0) for shard, end in self._ends.items())


class Query:
    """A streaming query of a job, run as Glue's `forEachBatch` runs it (docs/glue 2).

    Args:
        frame: a streaming DataFrame; for a `StreamFrame` the offset ranges of each batch are known.
        function: the batch function, called with `(data_frame, batch_id)`.
        settings: the settings of the query.
        session: the job's services.
        name: the name of the query in logs and metrics.
    """

    def __init__(
        self,
        frame: DataFrame,
        function: BatchFunction,
        settings: StreamSettings,
        session: StreamSession,
        name: str,
    ) -> None:
        self._frame = frame
        self._stream = frame if isinstance(frame, StreamFrame) else None
        self._function = function
        self._settings = settings
        self._session = session
        self._name = name
        self._checkpoint = Checkpoint(settings.checkpoint_location)
        self._inputs = Inputs(frame, self._checkpoint)
        self._throttling = Throttling(self._inputs.throttled_reads, session.clock)
        self._lag = LagWatch(self._inputs.backlog, session.clock, failed=partial(self._failed_beside, "lag"))
        self._schema = RecordSchema()
        self._journal: Journal | None = None
        self._known: KnownTargets | None = None
        self._clearing = Background()
        self._rolling: threading.Thread | None = None
        self._scope = Scope()
        self._prediction = Prediction[Use]()
        self._run = _Run()
        self._quarantine = Quarantine(self._stream, function, settings, self._end_search_if_stopping)
        self._drain: _Drain | None = None
        self._ledger_positions = LedgerPositions(name, settings.checkpoint_location, session.clock)
        self._lease: lease.Lease | None = None
        self._origin: Origin | None = None
        self._progress = SparkProgress()

    def run(self) -> None:
        """Run until the job stops the query, a drain is complete, or a batch fails for good.

        Raises:
            Exception: what the batch function raised in its last attempt, or what the source reported.
        """
        with (
            bind_context(query=self._name),
            self._told(),
            self._own() as self._lease,
            ExitStack() as watching,
        ):
            self._session.running.add(self)
            watching.callback(self._session.running.discard, self)
            watching.callback(self._beside, "clearing", self._clearing.finish)
            watching.callback(self._beside, "ledger_positions", self._ledger_positions.note)
            self._tell(lease="held")
            self._before_first_start()
            watching.enter_context(self._lag_shown())
            while not self._ending():
                if self._pausing():
                    self._pause()
                    continue
                failure = self._attempt()
                self._lease.check()
                if failure is None:
                    continue
                self._judge_finished()
                self._run.failures += 1
                self._tell(failures_in_a_row=self._run.failures)
                self._count("failure")
                # A batch that fails after a stop was requested is not retried, and the query ends with its error.
                final = retry.is_final(failure) or self._session.stop.is_set()
                match retry.after_failure(self._run.failures, self._settings):
                    case retry.RetryAfter(wait_secs) if not final:
                        log.warning(
                            "batch_failed", attempt=self._run.failures, wait_secs=wait_secs, reason=str(failure)
                        )
                        self._count("retry")
                        reach("retry.counted")
                        self._session.clock.sleep(wait_secs)
                    case retry.GiveUp() if not final and self._quarantine.takes(self._run.failed_batch, failure):
                        log.warning("batch_searched", attempts=self._run.failures, reason=str(failure))
                        self._run.failures = 0
                    case _:
                        log.error("query_failed", attempts=self._run.failures, reason=str(failure))
                        raise failure
            self._lease.check()  # the lease may be lost while no attempt runs: before the next attempt, or in a pause

    def _judge_finished(self) -> None:
        """After a failure, find out whether Spark committed the batch whose function returned last.

        If Spark did not, the function runs again, and the failure counts as another failure of the same batch.
        """
        finished, self._run.finished = self._run.finished, None
        if finished is None:
            return
        batch_id, filled = finished
        try:
            newest = self._checkpoint.newest_done()
        except (EtlError, OSError):  # the storage fault that kept Spark from committing may last
            newest = None
        if newest is not None and newest >= batch_id:
            self._run.failures = 0
        else:
            self._run.done_batches -= filled

    def _pause(self) -> None:
        """Wait between two batches, holding the lease, until the query is resumed or has to end."""
        log.info("query_paused")
        self._tell(paused=True)
        try:
            rested_secs = rest(self._pausing, self._ending, self._session.clock)
        finally:
            self._tell(paused=False)
        log.info("query_resumed", paused_secs=round(rested_secs, 1))

    def _own(self) -> lease.Lease:
        return lease.take(self._checkpoint.storage, self._session.clock, ttl_secs=self._session.lease_secs)

    def _before_first_start(self) -> None:
        if isinstance(parse_url(self._settings.checkpoint_location), LocalRoot):
            local_files.begin(self._frame.sparkSession)
        if (metrics := self._session.metrics) is not None:
            self._beside("metrics", lambda: metrics.announce(self._name, self._settings.window_size_secs))
        storage = self._checkpoint.storage
        prepare(storage, self._session.clock)
        chosen = read_start(storage) is not None
        self._origin = Origin(storage.url, chosen, self._settings.allow_overlap)
        self._quarantine.check()
        self._inputs.check()
        self._tell(source_reached=True)
        self._beside("shuffle_partitions", lambda: suit_batches(self._frame.sparkSession))
        if self._session.drain.until_caught_up and self._inputs:
            self._drain = _Drain(self._inputs, self._session.clock.epoch())
            self._drain.look()

    def _attempt(self) -> BaseException | None:
        """Start the query and wait for its end; return its error, or None after a requested stop or pause."""
        self._run.error = None
        self._run.failed_batch = None
        self._run.stopping = False
        self._run.is_first = True
        if self._journal is not None and self._journal.repeats is not None:
            mend_late_commit(self._checkpoint.storage, self._session.clock)
        self._inputs.begin()
        self._progress.begin()
        with name_in_spark(self._frame.sparkSession, self._name) as shown:
            query = (
                self._triggered(self._frame.writeStream.foreachBatch(self._on_batch))
                .queryName(shown)
                .option("checkpointLocation", self._settings.checkpoint_location)
                .start()
            )
            try:
                return self._wait(query)
            finally:
                reach("query.ending")
                query.stop()
                self._tell_phases(query)
                self._tell_throttled(anew=True)

    def _triggered(self, writer: DataStreamWriter) -> DataStreamWriter:
        """Set when batches begin. A drain does not wait for windows; of Spark's own sources Spark knows the ends."""
        if self._ends_by_spark():
            return writer.trigger(availableNow=True)
        window_secs = 0.0 if self._session.drain != ENDLESS else self._settings.window_size_secs
        return writer.trigger(processingTime=f"{int(window_secs * 1000)} milliseconds")

    def _ends_by_spark(self) -> bool:
        return self._session.drain.until_caught_up and not self._inputs

    def _wait(self, query: StreamingQuery) -> BaseException | None:
        """Wait until the query ends, or until it can be stopped between two batches for a requested stop or pause.

        Calling `stop()` while the batch function runs interrupts Python in mid-call and can end the stream's thread
        with a StackOverflowError (Spark 4.1). The caller therefore stops the query only while no batch is running; a
        batch that begins at the same instant ends itself with `StopBetweenBatches`.
        """
        while True:
            self._tell_throttled()
            self._tell_phases(query)
            try:
                if query.awaitTermination(POLL_SECS):  # type: ignore[arg-type]  # fractions of a second work
                    self._run.caught_up = self._ends_by_spark()
                    return None
            except StreamingQueryException as failure:
                return self._cause(failure)
            # Once asked to stop, planners plan nothing more. So `stopping` stays set even if a pause is cancelled now.
            if not (self._run.stopping or self._ending() or self._pausing()):
                continue
            with self._run.gate:
                self._run.stopping = True
                idle = not self._run.in_function
            self._inputs.ask_stop()
            if idle and not query.status["isTriggerActive"]:
                return None

    def _cause(self, failure: StreamingQueryException) -> BaseException | None:
        """Return the error as it was raised in Python, not its text as it came back through the JVM."""
        if isinstance(self._run.error, StopBetweenBatches):
            return None
        return self._run.error or self._inputs.reported() or failure

    def _ending(self) -> bool:
        lost = self._lease is not None and self._lease.is_lost
        if lost:
            self._tell(lease="lost")
        return lost or self._session.stop.is_set() or self._drained()

    def _pausing(self) -> bool:
        return self._session.pauses.hold(self._name)

    def _drained(self) -> bool:
        drain = self._session.drain
        if self._run.caught_up or (drain.max_batches is not None and self._run.done_batches >= drain.max_batches):
            return True
        return self._drain is not None and self._drain.is_reached(self._run.last_positions or self._inputs.committed())

    def _on_batch(self, frame: DataFrame, batch_id: int) -> None:
        with self._run.gate:
            # Checked here too, because the next batch may begin before the waiting thread checks again.
            if self._run.stopping or self._ending() or self._pausing():
                self._run.error = StopBetweenBatches()
                raise self._run.error
            self._run.in_function = True
            if self._run.finished is not None:  # Spark begins a batch only after it has committed the previous one
                self._run.finished, self._run.failures = None, 0
        try:
            self._scope.refuse_late_writes()
            assert self._lease is not None  # taken before the first attempt
            self._lease.confirm()
            self._tell(batch_id=batch_id, batch_began_epoch=self._session.clock.epoch())
            reach("batch.planned")
            self._checkpoint.keep_planned(batch_id)
            with bind_context(query=self._name, batch=batch_id):
                positions = self._inputs.positions(batch_id) if self._inputs else []
                with bind_context(**named(positions)):
                    self._one(frame, batch_id, self._lease.token, positions)
                    reach("batch.done")
        except BaseException as error:
            self._run.error = error
            self._run.failed_batch = batch_id
            raise
        finally:
            self._run.in_function = False
            self._progress.end(batch_id)
            self._tell(batch_began_epoch=None)

    def _one(self, frame: DataFrame, batch_id: int, token: int, positions: list[StreamPositions[Any]]) -> None:
        clock, run = self._session.clock, self._run
        began, began_epoch = clock.monotonic(), clock.epoch()
        query_id = self._checkpoint.query_id()
        if query_id is None:
            raise CheckpointError(
                f"The checkpoint {self._checkpoint.location} has lost its metadata while the query ran; if somebody has"
                " moved or rewound it, start the job again."
            )
        known = self._targets(query_id, token)
        self._begin_again(query_id, batch_id)
        ranges = self._inputs.ranges(positions)
        given = Given(ranges, "" if ranges else self._inputs.digest(batch_id))
        self._refuse_other_input(query_id, batch_id, given)
        speculation, checkpoint = Speculation(self._prediction), self._checkpoint.location
        writer = TableWriter(
            Writing(query_id, batch_id, token, self._origin),
            known,
            given=given,
            totals=WriteTotals(self._schema),
            rejects_path=self._settings.rejects_path,
            documents_path=f"{checkpoint.rstrip('/')}/{documents.FOLDER}",
            prepared=speculation,
            rejects=Rejects(rejects_root(self._settings.rejects_path, checkpoint), query_id, batch_id),
            during=self._scope.write,
        )
        context = BatchContext(
            writer,
            kept_at(self._settings),
            speculation,
            self._scope,
            named(positions).get("stream", "stream"),
            self._session.on_malformed if self._stream is None else self._stream.source.shape.on_malformed,
            self._session.is_strict,
            self._beside,
            self._inputs.record_columns,
        )
        writer.begin_attempt()  # needed here too, because the function is not called if all records are dead letters
        filled = self._fill(frame, positions, context)
        began_commit = clock.monotonic()
        writer.settle()
        reach("batch.settled")
        assert self._journal is not None  # opened with the targets
        self._journal.ended()
        commit_secs = clock.monotonic() - began_commit
        run.returned = batch_id
        attempts = run.failures + 1
        run.last_positions = positions
        run.done_batches += filled
        run.finished = batch_id, filled
        self._beside("ledger_positions", lambda: self._ledger_positions.done(query_id, batch_id, positions))
        self._beside("lag", lambda: self._lag.committed(positions, context.totals.newest_epoch_ms))
        self._beside("group_commits", lambda: self._tell_groups(positions))
        self._beside("rollups", self._roll_up)
        self._tell(failures_in_a_row=0)
        if not filled:
            self._count("empty")
            return
        lag = self._beside("lag", self._lag.after_batch) or Lag()
        duration_secs = clock.monotonic() - began
        self._tell(last_commit_epoch=began_epoch + duration_secs)
        stats = self._beside(
            "statistics", lambda: self._stats(positions, ranges, writer, lag, attempts, began_epoch, duration_secs)
        )
        run.last_started_epoch = began_epoch
        if stats is not None:
            self._report(stats, commit_secs)
            if self._stream is not None and stats.rows_in:
                spark, rows = self._frame.sparkSession, stats.rows_in
                self._beside("spark_progress", lambda: self._progress.read(spark, query_id, rows))

    def _begin_again(self, query_id: str, batch_id: int) -> None:
        """Note in the journal if a batch runs again that Spark may have been about to commit.

        Raises:
            TransientError: a batch before this one runs again and has not ended.
        """
        assert self._journal is not None  # opened with the targets
        is_first, self._run.is_first = self._run.is_first, False
        batch = query_id, batch_id
        if retry.may_be_committed_late(batch, self._run.began[:2], self._run.returned, is_first=is_first):
            self._journal.repeat(query_id, batch_id)
        unended = self._journal.repeats
        if unended is not None and unended[0] == query_id and unended[1] < batch_id:
            raise TransientError(
                f"batch {batch_id} has to wait: batch {unended[1]} runs again, and its entry in the commit log is of an"
                " earlier attempt"
            )

    def _refuse_other_input(self, query_id: str, batch_id: int, given: Given) -> None:
        """Make sure that a batch has the same records each time it runs in this driver.

        The tables are compared with the checkpoint when the driver first writes to them, so not again here.

        Raises:
            CheckpointError: the entry of the batch is gone and was planned anew.
        """
        input_now = input_text(given.ranges, given.digest)
        last_query, last_batch, last_input = self._run.began
        self._run.began = query_id, batch_id, input_now
        if query_id == last_query and (batch_id < last_batch or (batch_id == last_batch and input_now != last_input)):
            raise CheckpointError(
                f"The checkpoint {self._checkpoint.location} has lost offsets/{batch_id} while the query ran, and the"
                " batch was planned anew with other records; start the job again."
            )

    def _rows_in(self, totals: WriteTotals, positions: Sequence[StreamPositions[Any]]) -> int:
        """Return how many records the batch held. Rows that a write got from a DataFrame may be more or fewer."""
        if totals.records_read:
            return totals.records_read + totals.rows_aside
        return self._inputs.holds_records(positions) if self._inputs else totals.rows_in

    def _stats(
        self,
        positions: Sequence[StreamPositions[Any]],
        ranges: tuple[SourceRange, ...],
        writer: TableWriter,
        lag: Lag,
        attempts: int,
        began_epoch: float,
        duration_secs: float,
    ) -> BatchStats:
        """Return the numbers of a committed batch; if its lineage names cannot be found, they are left out."""
        totals, now_epoch = writer.totals, self._session.clock.epoch()
        rows_in = self._rows_in(totals, positions)
        ages = {shard: max(0.0, now_epoch - newest / 1000) for shard, newest in totals.newest_epoch_ms.items()}
        return BatchStats(
            query=self._name,
            batch_id=writer.by.batch_id,
            window_secs=self._settings.window_size_secs,
            started_epoch=began_epoch,
            duration_secs=duration_secs,
            previous_started_epoch=self._run.last_started_epoch,
            phase_secs=dict(totals.phase_secs),
            rows_in=rows_in,
            rows_out=totals.rows_out,
            bytes_in=totals.bytes_in,
            bytes_out=totals.bytes_out,
            files=totals.files,
            file_sizes_bytes=tuple(totals.file_sizes_bytes),
            schema_changes=dict(by_kind(totals.column_changes)),
            rejected=dict(totals.rejected),
            streams=sorted({(one.SOURCE, stream) for one in positions for stream in one.streams()}),
            positions={f"{stream}-{shard}": end for one in positions for (stream, shard), end in one.ends().items()},
            attempts=attempts,
            lag_records=lag.records,
            lag_secs=lag.secs,
            latency_secs=ages,
            divisible=totals.in_any_order and self._is_worth_pieces(totals.rows_in),
            ranges=ranges,
            written=tuple(totals.written),
            column_changes=tuple(totals.column_changes),
            rows_in_table=dict(totals.rows_in_table),
            inputs=self._beside("lineage", lambda: self._inputs.datasets(positions)) or (),
            outputs=tuple(totals.outputs),
            checks=tuple(totals.checks.values()),
            misfits=dict(totals.misfits),
            account=batch_account(
                named(positions).get("stream", "stream"), rows_in, totals, READINGS.take(writer.scope)
            ),
        )

    def _beside(self, task: str, action: Callable[[], T]) -> T | None:
        """Run a side task; its errors are logged and counted, and the batch continues. Return None after an error."""
        try:
            return action()
        except Exception as failed:  # noqa: BLE001  no error of a side task may fail the batch
            self._failed_beside(task, failed)
            return None

    def _failed_beside(self, task: str, failed: Exception) -> None:
        self._session.side_task_failed(self._name, task, failed)

    def _targets(self, query_id: str, token: int) -> KnownTargets:
        """Return what this driver knows about the query's targets; the first call opens the checkpoint's journal."""
        known = self._known
        if known is None or known.tables.query_id != query_id:
            self._journal = Journal(self._checkpoint.storage, token)
            assert self._lease is not None  # taken before the first attempt
            tables = QueryWrites(
                query_id,
                token,
                self._journal,
                self._checkpoint.replaced_query_ids(),
                background=self._clearing,
                confirm=self._lease.confirm,
            )
            known = self._known = KnownTargets(tables) if known is None else replace(known, tables=tables)
        return known

    def _roll_up(self) -> None:
        """Start rolling up manifests in a thread if that is due, because it takes seconds for a table in S3."""
        tables = None if self._known is None else self._known.tables
        if tables is None or not tables.has_to_roll_up() or (self._rolling and self._rolling.is_alive()):
            return

        def run() -> None:
            self._beside("rollups", partial(tables.roll_up, with_gaps=self._settings.allow_overlap))

        self._rolling = threading.Thread(target=run, name="gluepot-rollups", daemon=True)
        self._rolling.start()

    def _is_worth_pieces(self, records: int) -> bool:
        least = None if self._stream is None else self._stream.source.reading().least_piece
        return least is not None and task_ranges.is_divided(records, least)

    def _fill(self, frame: DataFrame, positions: Sequence[StreamPositions[Any]], context: BatchContext) -> bool:
        """Run the function on a batch; return False, without calling the function, if the batch is empty."""
        if self._stream is None:
            return run_rows(frame, self._function, context)
        (span,) = positions
        source = self._stream.source
        ranges = source.split(span)
        counted = None
        if on_driver.is_small(span.records(), len(ranges), self._settings.small_batch_records):
            given = RangeInput(source.small_reading(), tuple(ranges), on_driver=True)
            counted = execute.count_raw(frame.sparkSession, given)
        if not (source.admin.any_record(ranges) if counted is None else counted):
            return False
        good = self._quarantine.good(self._stream, frame, ranges, context)
        context.writer.given = Given(tuple(coalesced(good)))
        if good is ranges:
            run_known(self._stream, frame, ranges, self._function, context, self._settings, counted=counted)
        elif good:
            self._run_rest(self._stream, frame, ranges, good, context)
        return True

    def _run_rest(
        self,
        stream: StreamFrame,
        frame: DataFrame,
        ranges: Sequence[SourceRange],
        good: Sequence[SourceRange],
        context: BatchContext,
    ) -> None:
        """Run the function on a batch without its dead letters.

        Rejects files of the whole batch's ranges are discarded, because the remaining pieces get files of their own.
        """
        root = rejects_root(stream.source.shape.rejects_path, self._settings.checkpoint_location)
        if root is not None:
            discard(root, ranges)

        def rows() -> DataFrame:
            return stream.batch(frame.sparkSession, good, root)

        run_known(stream, frame, good, self._function, context, self._settings, rows)

    def _end_search_if_stopping(self) -> None:
        if self._session.stop.is_set():
            raise StopBetweenBatches

    def _report(self, stats: BatchStats, commit_secs: float) -> None:
        if (metrics := self._session.metrics) is not None:
            self._beside("metrics", lambda: metrics.observe(stats))
            self._beside("metrics", lambda: metrics.phases(self._name, {"commit": commit_secs}))
            self._beside("capacity", lambda: metrics.capacity(capacity_of(self._frame.sparkSession)))
        self._session.committed(stats, self._beside)
        for fault in stats.account.imbalances():
            log.error("records_unaccounted", fault=fault, hint="please report it")
        read, writes = stats.account.read, stats.account.writes
        rare = {
            "rejected_in_read": read.rejected,
            "left_out": read.left_out,
            "refused": writes.refused,
            "skipped": writes.skipped,
            "unseen": stats.account.unseen,
        }
        log.info(
            "batch_done",
            rows=stats.rows_in,
            rows_out=stats.rows_out,
            rejected=sum(stats.rejected.values()),
            files=stats.files,
            secs=round(stats.duration_secs, 3),
            lag=sum(stats.lag_records.values()),
            delivered=read.delivered,
            arrived=writes.arrived,
            **{name: count for name, count in rare.items() if count},
        )

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Report the query to the job's status when this opens, and its end when this closes."""
        settings = asdict(self._settings)
        self._tell(window_secs=self._settings.window_size_secs, settings=settings, ended=False)
        try:
            yield
        finally:
            self._tell(ended=True, lease="lost" if self._lease and self._lease.is_lost else "none")

    @contextmanager
    def _lag_shown(self) -> Iterator[None]:
        """Show the lag continuously while this is open, because a batch that hangs never ends and would show none."""
        metrics = self._session.metrics
        if metrics is None or not self._inputs:
            yield
            return
        # The checkpoint's earlier positions only improve the first lag shown, so an error here must not stop the query.
        self._beside("lag", lambda: self._lag.committed(self._inputs.committed(), {}))

        def show(lag: Lag) -> None:
            metrics.lag(self._name, lag)

        with self._lag.looking(show):
            yield

    def _tell(self, **changes: Any) -> None:
        self._beside("status", lambda: self._session.status.tell(self._name, **changes))

    def _tell_throttled(self, *, anew: bool = False) -> None:
        self._beside("throttled_reads", lambda: self._tell(throttled_reads=self._throttling.look(anew=anew)))

    def _tell_phases(self, query: StreamingQuery) -> None:
        if (metrics := self._session.metrics) is not None:
            self._beside("metrics", lambda: metrics.phases(self._name, self._progress.phases(query)))

    def _tell_groups(self, positions: Sequence[StreamPositions[Any]]) -> None:
        """Commit the ends of a published batch to consumer groups; a group must never be ahead of the table."""
        commits, failures = self._inputs.commit_groups(positions)
        for failed in failures:
            self._failed_beside("group_commits", failed)
        if (metrics := self._session.metrics) is not None:
            self._beside("metrics", lambda: metrics.group_commits(self._name, commits, len(failures)))

    def _count(self, what: str) -> None:
        if (metrics := self._session.metrics) is not None:
            self._beside("metrics", lambda: getattr(metrics, what)(self._name))


def for_each_batch(frame: Any, function: BatchFunction, settings: StreamSettings, session: StreamSession) -> None:
    """Run a query to its end; see `Query`.

    Raises:
        EtlError: with the query's name and checkpoint added as a note.
        Exception: what the batch function raised.
    """
    try:
        with stop_on_signals(session):
            Query(frame, function, settings, session, settings.query_name).run()
    except EtlError as error:
        error.add_note(f"query {settings.query_name}, checkpoint {settings.checkpoint_location}")
        raise
