from __future__ import annotations

import json

import pytest

from benchmarks.drain.connect import committed


@pytest.fixture
def table(tmp_path):
    (tmp_path / "metadata").mkdir()
    return tmp_path


def _version(table, number, metadata):
    (table / "metadata" / f"v{number}.metadata.json").write_text(json.dumps(metadata))
    (table / "metadata" / "version-hint.text").write_text(str(number))


def test_records_are_those_of_the_current_snapshot(table):
    snapshots = [{"snapshot-id": one, "summary": {"total-records": str(one * 10)}} for one in (1, 2)]
    _version(table, 3, {"current-snapshot-id": 2, "snapshots": snapshots})
    assert committed(table) == 20


@pytest.mark.parametrize("metadata", [{"current-snapshot-id": -1}, {"current-snapshot-id": None, "snapshots": []}])
def test_a_table_without_a_snapshot_has_no_records(table, metadata):
    _version(table, 1, metadata)
    assert committed(table) == 0


def test_metadata_that_is_being_written_has_none_yet(table):
    assert committed(table) == 0
    (table / "metadata" / "version-hint.text").write_text("1")
    (table / "metadata" / "v1.metadata.json").write_text('{"curr')
    assert committed(table) == 0
