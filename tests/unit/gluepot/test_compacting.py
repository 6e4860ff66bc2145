from __future__ import annotations

from pathlib import Path

import pytest
from structlog.testing import capture_logs

import gluepot.table
from gluepot.core.clock import FakeClock
from gluepot.engine.write_totals import WrittenFile
from gluepot.job.compacting import Due, compacting
from gluepot.streaming.progress import BatchStats
from tests.unit.tables.tables import Writer


def batch(*tables: str, rejects: bool = False) -> BatchStats:
    written = tuple(WrittenFile(table, "a.parquet", 1, 1, rejects) for table in tables)
    return BatchStats("q", batch_id=1, window_secs=1.0, started_epoch=0.0, duration_secs=0.1, written=written)


def test_a_table_is_due_after_so_many_batches_that_wrote_to_it():
    due = Due(2)

    assert [due.after(batch(*tables)) for tables in ("a", "ab", "b", "", "ab")] == [[], ["a"], ["b"], [], []]


def test_rejected_records_are_no_write_to_a_table():
    assert Due(1).after(batch("a", rejects=True)) == []


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    writer = Writer(str(tmp_path / "table"))
    for batch_id in range(3):
        writer.publish(batch_id, [{"n": batch_id}])
    return writer


def test_a_table_is_compacted_beside_the_batches(writer):
    with compacting(2, FakeClock(1.0)) as watch:
        for _ in range(2):
            watch(batch(writer.path))

    table = gluepot.table.open(writer.path)
    assert [file.rows for file in table.files()] == [2, 1]
    assert sorted(table.to_arrow()["n"].to_pylist()) == [0, 1, 2]


def test_a_table_that_cannot_be_compacted_is_no_reason_to_end(writer, tmp_path):
    failures = []
    with compacting(1, FakeClock(1.0), lambda *told: failures.append(told[:2])) as watch:
        watch(batch(str(tmp_path / "nothing"), writer.path))

    assert failures == [("q", "compaction")]
    assert len(gluepot.table.open(writer.path).files()) == 2


def test_a_damaged_file_is_warned_of_and_the_others_are_compacted(tmp_path):
    writer = Writer(str(tmp_path / "table"))
    for batch_id in range(4):
        writer.publish(batch_id, [{"n": batch_id}])
    damaged = min(Path(writer.path).glob("*.parquet"))
    damaged.write_bytes(b"PAR1")

    with capture_logs() as logs, compacting(1, FakeClock(1.0)) as watch:
        watch(batch(writer.path))

    assert [file.rows for file in gluepot.table.open(writer.path).files()] == [2, 1, 1]
    assert f"{damaged.name} has 4 bytes and was published with" in str(logs)
