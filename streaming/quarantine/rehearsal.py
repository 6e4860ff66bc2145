"""Tries a batch function on a part of its batch; nothing that it writes through Gluepot becomes visible."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from gluepot import commit
from gluepot.commit.publish import published
from gluepot.connectors.values import Manifest
from gluepot.core.task_errors import is_ours
from gluepot.engine.rehearsing_writer import Reached, RehearsingWriter
from gluepot.engine.writer import Given
from gluepot.streaming.micro_batch.context import BatchContext, BatchFunction, run_known
from gluepot.streaming.micro_batch.frames import StreamFrame
from gluepot.streaming.quarantine.bisection import Ranges
from gluepot.streaming.quarantine.failure_text import failure_text
from gluepot.streaming.settings import StreamSettings


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Tries one batch function on parts of one batch.

    Args:
        stream: the stream that the batch comes from.
        frame: the DataFrame that Spark made for the batch.
        function: the batch function. Its writes by other means than `write_dynamic_frame` take effect.
        settings: the settings of the query.
        context: the context of the batch.
        writes: the writes that the function has reached so far.
    """

    stream: StreamFrame
    frame: DataFrame
    function: BatchFunction
    settings: StreamSettings
    context: BatchContext
    writes: Reached = field(default_factory=dict)

    def failure(self, part: Ranges) -> str | None:
        """Return the error text of the function on this part of the batch alone; None if it passes.

        Raises:
            Exception: one of Gluepot's own errors, which no record causes.
        """
        if not self.stream.source.admin.any_record(part):
            return None
        context = self.context
        writer = RehearsingWriter(context.writer, Given(part), self.writes)
        alone = BatchContext(
            writer,
            context.storage_level,
            scope=context.scope,
            source=context.source,
            on_malformed=context.on_malformed,
            beside=context.beside,
            distinct=context.distinct,
        )

        def rows() -> DataFrame:
            return self.stream.batch(self.frame.sparkSession, part)

        try:
            run_known(self.stream, self.frame, part, self.function, alone, self.settings, rows)
        except Exception as error:
            if is_ours(error):
                raise
            return failure_text(error)
        return None

    def take_back(self) -> None:
        """Take back what attempts at the whole batch published under the writes that this rehearsal reached.

        The following run without the guilty records may not reach all of these writes.
        """
        for (_, key), target in self.writes.items():
            if (record := published(target, key)) is not None and record.files:
                commit.publish(target, Manifest(key, token=self.context.writer.by.token))
