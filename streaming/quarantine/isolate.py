"""Quarantine: finds the records on which the function fails, keeps them as dead letters, and runs the other records.

The search tries the function on parts of the batch. Writes through `write_dynamic_frame` are then only staged and taken
back, so a search whose driver dies has changed nothing. When the search has found records, what failed attempts
published from this batch is taken back first; then one step, publishing the dead letters, decides the outcome. After
that the function runs on the batch without those records, under the batch's own commit keys. A replay finds the dead
letters and goes straight to that run. So when the batch is done, written + dead letters = input, even if a driver died
at any point on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import DataFrame

from gluepot.connectors.ports import SourceRange
from gluepot.connectors.streams.dead_letters import DeadLetter
from gluepot.connectors.streams.ranges import common, width, without
from gluepot.core import failpoints
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.core.logging import get_logger
from gluepot.core.task_errors import is_ours
from gluepot.streaming.micro_batch.context import BatchContext, BatchFunction
from gluepot.streaming.micro_batch.frames import StreamFrame
from gluepot.streaming.quarantine.bisection import Guilty, Ranges, TooMany, find_guilty
from gluepot.streaming.quarantine.dead_letters import DeadLetters
from gluepot.streaming.quarantine.rehearsal import Rehearsal
from gluepot.streaming.settings import StreamSettings

REASON = "batch_function"

log = get_logger(__name__)


class Quarantine:
    """Isolates the records on which a query's function fails.

    Args:
        stream: the stream that the query reads; None if its ranges are not known.
        function: the batch function.
        settings: the settings of the query.
        before_each_try: called before the function is tried on a part; may raise to end the search.
    """

    def __init__(
        self,
        stream: StreamFrame | None,
        function: BatchFunction,
        settings: StreamSettings,
        before_each_try: Callable[[], None],
    ) -> None:
        self._stream = stream
        self._function = function
        self._settings = settings
        self._before_each_try = before_each_try
        self._decided: tuple[int, tuple[Ranges, ...]] | None = None
        self._due: tuple[int, BaseException] | None = None
        self._fruitless: int | None = None

    def check(self) -> None:
        """If quarantine is configured, make sure that the offsets of records are known.

        Raises:
            ConfigError: `onBatchFailure` is `quarantine` and the offsets of a batch's records are not known.
        """
        if self._settings.on_batch_failure == "quarantine" and self._stream is None:
            raise ConfigError(
                "onBatchFailure is 'quarantine', which needs the frame of a Kafka stream as it was read,"
                " with no transformation before forEachBatch; transform in the batch function, or use 'fail'.",
            )

    def takes(self, batch_id: int | None, failure: BaseException) -> bool:
        """Decide whether to search a batch, whose retries are used up, when it runs next.

        There is no search after one of Gluepot's own errors, which no record causes, and no second search after one
        that found nothing.

        Args:
            batch_id: the batch whose function raised; None if something else failed.
            failure: the error.
        """
        wanted = self._settings.on_batch_failure == "quarantine" and isinstance(failure, Exception)
        if not wanted or batch_id is None or batch_id == self._fruitless or is_ours(failure):
            return False
        self._due = batch_id, failure
        return True

    def good(
        self, stream: StreamFrame, frame: DataFrame, ranges: Sequence[SourceRange], context: BatchContext
    ) -> Sequence[SourceRange]:
        """Return the ranges to run the function on: the batch without the records that are or now become dead letters.

        Args:
            stream: the stream that the batch comes from.
            frame: the DataFrame that Spark made for the batch.
            ranges: all ranges of the batch.
            context: the context of the batch; its totals get the number of dead letters.

        Raises:
            PermanentError: more records are guilty than `quarantineLimit` allows.
        """
        rounds = self._rounds(ranges, context)
        aside = [one for in_round in rounds for one in in_round]
        if self._due is not None and self._due[0] == context.batch_id:
            failure, self._due = self._due[1], None
            rehearsal = Rehearsal(stream, frame, self._function, self._settings, context)
            guilty = self._search(rehearsal, without(ranges, aside), width(aside), failure)
            if guilty:
                rehearsal.take_back()
                self._decide(stream, rounds, guilty, context)
                aside += [one.at for one in guilty]
            else:
                self._fruitless = context.batch_id
                log.warning("quarantine_found_nothing", hint="every part passes by itself; the batch is tried again")
        if not aside:
            return ranges
        context.totals.rows_aside = width(aside)
        context.totals.rejected[REASON] += context.totals.rows_aside
        return without(ranges, aside)

    def _rounds(self, ranges: Sequence[SourceRange], context: BatchContext) -> tuple[Ranges, ...]:
        """Return the ranges that earlier rounds of this batch set aside.

        Only for the first batch does this read the checkpoint. All rounds of later batches come from this driver.
        """
        batch_id = context.batch_id
        if self._decided is None:
            letters = self._letters(context)
            searching = self._settings.on_batch_failure == "quarantine"
            rounds = letters.take_over(batch_id) if searching else letters.decided(batch_id)
            for n, in_round in enumerate(rounds):
                if width(common(in_round, ranges)) < width(in_round):
                    # The batch was planned again and lacks some of these records. The batch that holds them decides.
                    letters.publish(batch_id, n + 1, (), ())
                    rounds[n] = ()
            self._decided = batch_id, tuple(rounds)
        elif self._decided[0] != batch_id:
            self._decided = batch_id, ()
        return self._decided[1]

    def _letters(self, context: BatchContext) -> DeadLetters:
        settings, by = self._settings, context.writer.by
        return DeadLetters(settings.checkpoint_location, settings.rejects_path, by.query_id, by.token)

    def _search(
        self, rehearsal: Rehearsal, suspects: Ranges, already: int, failure: BaseException
    ) -> tuple[Guilty, ...]:
        if not suspects:
            return ()
        steps = find_guilty(suspects, self._settings.quarantine_limit - already)
        part = next(steps)
        while True:
            self._before_each_try()
            found = rehearsal.failure(part)
            failpoints.reach("quarantine.tried")
            try:
                part = steps.send(found)
            except StopIteration as end:
                outcome: tuple[Guilty, ...] | TooMany = end.value
                break
        if isinstance(outcome, TooMany):
            raise PermanentError(
                f"{already + outcome.found} records or more make the batch function fail in batch"
                f" {rehearsal.context.batch_id}, and quarantineLimit is {self._settings.quarantine_limit}; correct the"
                " function or what it depends on, or raise the limit.",
            ) from failure
        return outcome

    def _decide(
        self, stream: StreamFrame, rounds: tuple[Ranges, ...], guilty: Sequence[Guilty], context: BatchContext
    ) -> None:
        """Publish the dead letters of a new round, which permanently removes their records from the batch."""
        at = tuple(one.at for one in guilty)
        letters = (
            DeadLetter(record, REASON, one.message)
            for one, record in zip(guilty, stream.source.originals(at), strict=True)
        )
        free = rounds.index(()) if () in rounds else len(rounds)
        failpoints.reach("quarantine.found")
        context.totals.written += self._letters(context).publish(context.batch_id, free + 1, letters, at)
        failpoints.reach("quarantine.decided")
        self._decided = context.batch_id, (*rounds[:free], at, *rounds[free + 1 :])
        first = at[0]
        log.warning(
            "records_quarantined",
            records=len(guilty),
            first=f"{first.stream}-{first.shard} at {first.start}",
            reason=guilty[0].message,
        )
