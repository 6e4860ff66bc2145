from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gluepot.core.clock import Clock, SystemClock
from gluepot.core.leases import TTL_SECS
from gluepot.streaming.query import session
from gluepot.streaming.query.session import Drain, StreamSession

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from awsglue.context import GlueContext

ROWS_PER_BATCH = 10


@dataclass
class NumberStream:
    """A stream that needs no server: batch N holds the numbers from `10 * N` to below `10 * (N + 1)`."""

    glue_context: GlueContext
    checkpoint: Path

    def frame(self) -> DataFrame:
        reader = self.glue_context.spark_session.readStream.format("rate-micro-batch")
        return reader.option("rowsPerBatch", ROWS_PER_BATCH).load().select("value")

    def run(
        self,
        function: Callable[[Any, int], Any],
        *,
        max_batches: int | None = 1,
        clock: Clock | None = None,
        lease_secs: float = TTL_SECS,
        frame: DataFrame | None = None,
        **options: Any,
    ) -> StreamSession:
        """Give micro-batches to the function until as many have been committed; return the session it ran in."""
        drain = Drain(max_batches=max_batches)
        streams = StreamSession(clock=clock or SystemClock(), drain=drain, lease_secs=lease_secs)
        session.install(streams)
        self.for_each_batch(function, frame, **options)
        return streams

    def for_each_batch(
        self, function: Callable[[Any, int], Any], frame: DataFrame | None = None, **options: Any
    ) -> None:
        given = {"windowSize": "0 seconds", "checkpointLocation": str(self.checkpoint), **options}
        self.glue_context.forEachBatch(frame=frame or self.frame(), batch_function=function, options=given)


@pytest.fixture
def numbers(glue_context: GlueContext, tmp_path: Path) -> Iterator[NumberStream]:
    yield NumberStream(glue_context, tmp_path / "checkpoint")
    session.install(StreamSession())


@pytest.fixture
def persisted_rdds(glue_context: GlueContext) -> Callable[[], int]:
    return lambda: glue_context.spark_session.sparkContext._jsc.sc().getPersistentRDDs().size()
