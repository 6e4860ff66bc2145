"""A stream in which nothing happens for a while: nothing grows, the service is asked seldom, the next record comes soon.

GLUEPOT_IDLE_SECS=600 makes the while ten minutes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from gluepot.connectors.kinesis.pacing import READS_PER_SEC
from gluepot.core.clock import SystemClock
from tests.crash.http_proxy import Fate, http_proxy

IDLE_SECS = float(os.environ.get("GLUEPOT_IDLE_SECS", "15"))
WINDOW_SECS = 5.0
SLACK_SECS = 2.0
"""For a read that was just done when the record came, and for a machine that is busy."""
FIRST_BATCH_SECS = 120.0
PLANNER = "pyspark.sql.streaming.python_streaming_source_runner"
MOST_GROWN_BYTES = 16 * 1024 * 1024


@dataclass
class Counter:
    """When which operation was called, for a proxy."""

    calls: dict[str, list[float]] = field(default_factory=dict)
    _clock: SystemClock = field(default_factory=SystemClock)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fate(self, method: str, path: str, headers: Mapping[str, str]) -> Fate:
        with self._lock:
            operation = headers["X-Amz-Target"].rpartition(".")[2]
            self.calls.setdefault(operation, []).append(self._clock.monotonic())
        return "pass"

    def most_within_a_second(self, operation: str) -> int:
        at = self.calls[operation]
        return max(sum(1 for other in at if one <= other < one + 1.0) for one in at)


@pytest.fixture
def counted_kinesis(kinesis: str) -> Iterator[tuple[Counter, str]]:
    counter = Counter()
    with http_proxy(kinesis, counter.fate, hold_secs=0.0) as url:
        yield counter, url


def files_in(*folders: Path) -> set[Path]:
    return {
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".") and path.suffix != ".part"
    }


def planner_bytes() -> int:
    """Memory of the processes that plan."""
    held_bytes = 0
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # short-lived ones of other tests end meanwhile
            held_bytes += one.memory_info().rss if PLANNER in one.cmdline() else 0
    return held_bytes


def test_nothing_grows_calls_are_few_and_the_first_record_comes_within_a_window(
    job, new_kinesis_stream, counted_kinesis
):
    counter, url = counted_kinesis
    stream, clock = new_kinesis_stream(shards=1), SystemClock()
    stream.send_json({"n": 0})
    seen: dict[str, Any] = {}
    state = {job.checkpoint, job.table}

    def copy(frame: Any, batch_id: int) -> None:
        state.add(frame.batch_input.reading.reader.folder)
        job.copy(frame, batch_id)

    def rest_and_send() -> None:
        stream.rest_until(lambda: job.published() == 1, FIRST_BATCH_SECS)
        stream.rest(WINDOW_SECS)
        files, memory_bytes = files_in(*state), planner_bytes()
        counter.calls.clear()
        stream.rest(IDLE_SECS)
        seen["new"], seen["grown_bytes"] = files_in(*state) - files, planner_bytes() - memory_bytes
        seen["idle_calls"] = {name: len(at) for name, at in counter.calls.items()}
        seen["sent_epoch"] = clock.epoch()
        stream.send_json({"n": 1})
        stream.rest_until(lambda: job.published() == 2, FIRST_BATCH_SECS)

    stats = job.run_beside(
        rest_and_send,
        stream.options(endpointUrl=url),
        copy,
        connection_type="kinesis",
        windowSize=f"{WINDOW_SECS:.0f} seconds",
        batchMaxRetries=0,
    )

    assert seen["new"] == set()
    assert seen["grown_bytes"] < MOST_GROWN_BYTES
    assert counter.most_within_a_second("GetRecords") <= READS_PER_SEC
    assert IDLE_SECS / WINDOW_SECS < seen["idle_calls"]["GetRecords"] <= 2.5 * IDLE_SECS
    assert seen["idle_calls"]["ListShards"] <= IDLE_SECS + 2
    assert stats[-1].started_epoch - seen["sent_epoch"] <= WINDOW_SECS + SLACK_SECS
    assert [one.rows_in for one in stats] == [1, 1]
