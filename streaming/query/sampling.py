"""Takes some records of a stream for a look at them (docs/glue 2.4)."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, Row

from gluepot.core.checkpoint import Checkpoint
from gluepot.core.clock import Clock
from gluepot.streaming.micro_batch.inputs import Inputs

_WINDOW = re.compile(r"\s*(\d+)\s+(second|minute|hour)s?\s*", re.IGNORECASE)
_UNIT_SECS = {"second": 1, "minute": 60, "hour": 3600}
_POLL_SECS = 0.1


@dataclass(frozen=True, slots=True)
class SampleSettings:
    """How long to look, and at how many records.

    Args:
        window_secs: time between two batch starts.
        polling_secs: how long records are waited for.
        most_records: the largest number of records.
    """

    window_secs: int
    polling_secs: float = 10.0
    most_records: int = 100

    @classmethod
    def from_glue(cls, options: Mapping[str, Any]) -> SampleSettings:
        """Read Glue's options; the types and texts of the errors are Glue's.

        Raises:
            ValueError: the window is missing or wrong, or polling takes no longer than a window.
        """
        given = options.get("windowSize")
        if given is None:
            raise ValueError("Missing windowSize argument")
        window = _WINDOW.fullmatch(str(given))
        if window is None:
            raise ValueError("Received invalid window size")
        window_secs = int(window[1]) * _UNIT_SECS[window[2].lower()]
        polling_secs = int(options.get("pollingTimeInMs", 10_000)) / 1000
        if polling_secs <= window_secs:
            raise ValueError("Polling time needs to be larger than window size")
        return cls(window_secs, polling_secs, int(options.get("recordPollingLimit", 100)))


def sample(
    frame: DataFrame,
    settings: SampleSettings,
    function: Callable[[DataFrame, int], Any] | None,
    clock: Clock,
) -> DataFrame:
    """Return some records of a stream, and give the micro-batches to a function meanwhile.

    The records come from a query with a checkpoint of its own, which is removed, so the job's queries miss nothing. It
    ends when there are enough records or the time is over.

    Args:
        frame: the stream.
        settings: how long, and how many.
        function: gets each micro-batch and its number; None for a look only.
        clock: for the wait.

    Raises:
        Exception: what the function or the source raised.
    """
    rows: list[Row] = []
    failed: list[Exception] = []

    def look(batch: DataFrame, batch_id: int) -> None:
        try:
            if len(rows) < settings.most_records:
                rows.extend(batch.take(settings.most_records - len(rows)))
            if function is not None:
                function(batch, batch_id)
        except Exception as error:
            failed.append(error)
            raise

    with tempfile.TemporaryDirectory(prefix="gluepot-sample-") as folder:
        inputs = Inputs(frame, Checkpoint(folder))
        inputs.check()
        inputs.begin()
        writer = frame.writeStream.foreachBatch(look).option("checkpointLocation", folder)
        query = writer.trigger(processingTime=f"{settings.window_secs} seconds").start()
        ends = clock.monotonic() + settings.polling_secs
        try:
            while query.isActive and clock.monotonic() < ends and len(rows) < settings.most_records:
                clock.sleep(_POLL_SECS)
            inputs.ask_stop()
            while query.isActive and query.status["isTriggerActive"]:  # a stop would interrupt Python in mid-call
                clock.sleep(_POLL_SECS)
        finally:
            query.stop()
        if failed:
            raise failed[0]
        if (error := query.exception()) is not None:
            raise inputs.reported() or error
    return frame.sparkSession.createDataFrame(rows, frame.schema)
