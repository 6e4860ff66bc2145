"""A reader opens the table again and again while batches are published and published anew."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sized
from pathlib import Path

import duckdb
import pytest

import gluepot.table
from gluepot.core.errors import ConfigError, TransientError
from tests.unit.tables.tables import Writer

BATCHES = 40
FIRST, SECOND = 6, 9  # rows of a batch, and of the one that takes its place


def write(folder: str, reads: Sized) -> None:
    """Write all batches, at most so fast that a read has ended for every four of them, whatever the disk's speed."""
    writer = Writer(folder, partition_keys=["k"])
    for batch_id in range(BATCHES):
        while len(reads) < batch_id // 4:
            time.sleep(0.001)
        for rows in (FIRST, SECOND) if batch_id % 2 else (FIRST,):
            batch = [{"batch": batch_id, "rows": rows, "k": "abc"[n % 3]} for n in range(rows)]
            writer.publish(batch_id, batch, start=batch_id * 100)


def read(folder: str, *, by_duckdb: bool) -> Counter[tuple[int, int]] | None:
    """Return how often each batch and version is there; None if the table changed under the reader, or is not there."""
    try:
        table = gluepot.table.open(folder)
        if by_duckdb:
            with table.duckdb(name="t") as db:
                found = db.sql("SELECT batch, rows FROM t").fetchall()
        else:
            found = [(row["batch"], row["rows"]) for row in table.to_arrow(["batch", "rows"]).to_pylist()]
    except ConfigError:
        return None
    except (TransientError, duckdb.IOException):
        return None
    return Counter(found)


@pytest.mark.slow
def test_each_read_is_a_whole_number_of_batches(tmp_path: Path):
    folder = str(tmp_path / "table")
    reads = []
    job = threading.Thread(target=write, args=(folder, reads), daemon=True)
    job.start()
    while job.is_alive():
        reads += [read(folder, by_duckdb=False), read(folder, by_duckdb=True)]
    job.join()
    reads.append(read(folder, by_duckdb=False))
    seen = [found for found in reads if found]
    for found in seen:
        assert sorted(batch_id for batch_id, _ in found) == list(range(len(found)))
        assert all(times == rows for (_, rows), times in found.items())
    assert len({len(found) for found in seen}) > 2
    assert len(seen[-1]) == BATCHES
