"""One write: its commit key, its run, its place in the micro-batch."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark.sql import SparkSession

from batch import commit, execute
from streaming.batch import BatchContext, current_batch

if TYPE_CHECKING:
    from awsglue.dynamicframe import DynamicFrame
    from awsglue.sinks import SinkSettings

# Writes outside of a stream: one run of the process, its writes counted like those of a batch.
_run = BatchContext(query_id=uuid4().hex, batch_id=0)
_recovered: set[tuple[str, str, int]] = set()
_histories: dict[tuple[str, str, int], commit.History] = {}
_recovering = Lock()


def publish(spark: SparkSession, frame: DynamicFrame, settings: SinkSettings, ctx: str) -> None:
    """Run the frame's pipeline into the target and make it visible, once.

    Raises:
        ConfigError: the target cannot be written.
        CheckpointError: the query does not go on from what the table holds.
        Exception: what failed in the tasks or in publishing; nothing of the write is visible then.
    """
    batch = current_batch() or _run
    planned = batch.next_write(ctx)
    sink = settings.sink(planned.key, ctx, batch.rejects_path)
    target = commit.open_target(sink)
    first = (settings.path, planned.key.query_id, planned.token)
    with _recovering:  # writes from threads of one function: none may stage before the folder is clean
        if first not in _recovered:
            sink.check()
            commit.recover(target, planned.key.query_id, planned.token)
            if batch.origin is not None:
                _histories[first] = commit.History.of(commit.live(target.table), planned.key.query_id)
            _recovered.add(first)
        if batch.origin is not None and batch.rehearsed is None:
            commit.refuse_overlap(planned, _histories[first], batch.origin, target.table.url)
            _histories[first] = _histories[first].after(planned)
    if batch.rehearsed is not None:
        batch.rehearsed[planned.key] = target
        execute.rehearse(spark, frame.pipeline, sink, target, planned)
        return
    batch.record(*execute.write(spark, frame.pipeline, sink, target, planned))
