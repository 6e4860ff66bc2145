"""A table is compacted while a stream writes it, and before batches of it are replayed: each record stays there once."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from uuid import uuid4

import gluepot.table
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError
from gluepot.core.storage import open_storage
from gluepot.streaming.query.session import Drain
from gluepot.tables.compact import Compacted, CompactSettings, compact
from gluepot.tables.verify import verify

ALL = list(range(400))
EACH = 20


def run_compaction(table) -> list[Compacted]:
    return list(compact(open_storage(str(table)), CompactSettings(), SystemClock(), uuid4().hex[:12]))


@contextmanager
def being_compacted(table) -> Iterator[list[Compacted]]:
    done: list[Compacted] = []
    ended = threading.Event()

    def again_and_again() -> None:
        while not ended.wait(0.1):
            with suppress(ConfigError):  # no batch was published yet
                done.extend(run_compaction(table))

    thread = threading.Thread(target=again_and_again)
    thread.start()
    try:
        yield done
    finally:
        ended.set()
        thread.join()


def assert_whole(job):
    assert sorted(int(row[0]) for row in job.rows("n")) == ALL
    assert sorted(gluepot.table.open(str(job.table)).to_arrow()["n"].to_pylist()) == ALL
    found = verify(open_storage(str(job.table)), None)
    assert found.findings == []
    assert not found.unfinished


def test_a_stream_goes_on_while_its_table_is_compacted(topic, job):
    topic.send_json(*({"n": n} for n in ALL))

    with being_compacted(job.table) as done:
        job.drain(topic.options(maxOffsetsPerTrigger=EACH), job.copy)

    assert done
    assert_whole(job)


def test_batches_that_are_replayed_after_their_files_were_compacted_are_there_once(topic, job):
    topic.send_json(*({"n": n} for n in ALL))
    job.drain(topic.options(maxOffsetsPerTrigger=EACH), job.copy, drain=Drain(max_batches=5))
    earlier = shutil.copytree(job.checkpoint, job.folder / "earlier")
    job.drain(topic.options(maxOffsetsPerTrigger=EACH), job.copy)
    assert run_compaction(job.table)
    shutil.rmtree(job.checkpoint)
    shutil.move(earlier, job.checkpoint)

    job.drain(topic.options(maxOffsetsPerTrigger=EACH), job.copy)

    assert_whole(job)
    run_compaction(job.table)
    assert_whole(job)
