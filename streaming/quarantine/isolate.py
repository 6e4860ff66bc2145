"""Batches the function cannot get through: find the records it fails on, keep them as dead letters, run the others.

The search tries the function on parts of the batch; what it writes through `write_dynamic_frame` is staged then and
taken back, so a search that dies has changed nothing. Its outcome is decided in one step, the publishing of the dead
letters. Before that, what failed attempts have published of this batch is taken back; after it the function runs on the
batch without those records, under the batch's own commit keys. A replay finds the dead letters and goes straight to
that run. So once the batch is done, written + dead letters = input, wherever a driver died on the way.
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
    """What a query does about records its function fails on.

    Args:
        stream: what the query reads; None when its ranges are not known.
        function: the query's.
        settings: of the query.
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
        """Make sure that records can be told apart, where that is asked for.

        Raises:
            ConfigError: `onBatchFailure` is `quarantine` and the offsets of a batch's records are not known.
        """
        if self._settings.on_batch_failure == "quarantine" and self._stream is None:
            raise ConfigError(
                "onBatchFailure is 'quarantine', which needs the frame of a Kafka stream as it was read,"
                " with no transformation before forEachBatch; transform in the batch function, or use 'fail'.",
            )

    def takes(self, batch_id: int | None, failure: BaseException) -> bool:
        """Decide whether a batch whose retries are used up is searched when it runs next.

        Not for an error of ours, which is never a record's fault, and not again after a search that found nothing.

        Args:
            batch_id: of the batch whose function raised; None when something else failed.
            failure: what it raised.
        """
        wanted = self._settings.on_batch_failure == "quarantine" and isinstance(failure, Exception)
        if not wanted or batch_id is None or batch_id == self._fruitless or is_ours(failure):
            return False
        self._due = batch_id, failure
        return True

    def good(
        self, stream: StreamFrame, frame: DataFrame, ranges: Sequence[SourceRange], context: BatchContext
    ) -> Sequence[SourceRange]:
        """Return what the function is to run on: the batch less the records that are, or now become, dead letters.

        Args:
            stream: what the batch is of.
            frame: what Spark gave for the batch.
            ranges: all of the batch.
            context: of the batch; told how many records are dead letters.

        Raises:
            PermanentError: more records are guilty than `quarantineLimit` allows.
        """
        rounds = self._rounds(ranges, context)
        aside = [one for held in rounds for one in held]
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
        """Return what was set aside of this batch before.

        The checkpoint is asked for the first batch alone: of later ones this driver knows what it published itself.
        """
        batch_id = context.batch_id
        if self._decided is None:
            letters = self._letters(context)
            searching = self._settings.on_batch_failure == "quarantine"
            rounds = letters.take_over(batch_id) if searching else letters.decided(batch_id)
            for n, held in enumerate(rounds):
                if width(common(held, ranges)) < width(held):
                    # The batch was planned anew and lacks some of them: those come in another batch, which decides.
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
        """Publish the dead letters of a new round, which takes their records out of the batch for good."""
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
