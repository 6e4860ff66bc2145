from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from awsglue.job import Job
from gluepot.bookmarks import jobrun
from gluepot.bookmarks.run_writer import RunWriters
from gluepot.core import logging
from gluepot.core.clock import Clock, SystemClock
from gluepot.core.leases import TTL_SECS
from gluepot.engine.readings import READINGS
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


@pytest.fixture
def writers(monkeypatch, tmp_path):
    fresh = RunWriters()
    READINGS.forget(jobrun.SCRIPT)
    monkeypatch.setattr("awsglue.writing.WRITERS", fresh)
    monkeypatch.setattr("awsglue.job.WRITERS", fresh)
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_LEDGER", raising=False)
    yield fresh
    jobrun.end("the test ended")


@pytest.fixture
def job(glue_context, writers):
    def begin(name="copy", bookmarks=True, **arguments):
        made = Job(glue_context)
        option = {"job_bookmark_option": "job-bookmark-enable"} if bookmarks else {}
        made.init(name, {"JOB_NAME": name, **option, **arguments})
        return made

    return begin


@pytest.fixture
def read(glue_context):
    def read(folder, form="json", ctx="source", **format_options):
        return glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [str(folder)]}, format=form, format_options=format_options, transformation_ctx=ctx
        )

    return read


@pytest.fixture
def write(glue_context, tmp_path):
    def write(frame, **options):
        given = {"path": str(tmp_path / "out"), **options}
        glue_context.write_dynamic_frame.from_options(
            frame, "s3", given, format="glueparquet", transformation_ctx="sink"
        )

    return write


@pytest.fixture
def said(capsys):
    """The warnings since the last call, by event."""
    logging.configure(json=True)
    capsys.readouterr()

    def said():
        lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
        return {one["msg"]: one for one in map(json.loads, lines) if one.get("level") == "warning"}

    return said


@pytest.fixture
def setting(monkeypatch):
    def setting(**values):
        for name, value in values.items():
            monkeypatch.setattr(session.current(), name, value)

    return setting
