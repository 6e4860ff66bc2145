"""What a reader of manifests can tell of a Kinesis stream: records that are missing, children that came too early."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.crash import manifests
from tests.crash.lanes import LocalFolder

PARENTS = {"merged": ["left", "right"]}


def table_of(folder: Path, *batches: dict[str, int]) -> LocalFolder:
    """A table with a manifest for each batch, which holds so many records of each shard."""
    commits = folder / manifests.COMMITS
    commits.mkdir(parents=True)
    for number, shards in enumerate(batches):
        ranges = [
            {"source": "kinesis", "shard": shard, "start": "10", "end": "900", "proof": f"records={records} sum=0"}
            for shard, records in shards.items()
        ]
        files = [{"path": "a.parquet", "rows": 3, "rejects": False}, {"path": "a.rejects", "rows": 1, "rejects": True}]
        plain = {"key": {"batch_id": number}, "ranges": ranges, "files": files}
        (commits / f"w{number}.1.json").write_text(json.dumps(plain))
    return LocalFolder(folder)


@pytest.mark.parametrize(("records", "missing"), [(4, 0), (5, 1), (0, 0)])
def test_records_of_a_range_that_are_in_no_file_are_missed(tmp_path, records, missing):
    table = table_of(tmp_path, {"left": records})
    assert manifests.read(table, "w0.1").missing() == missing


def test_a_child_behind_all_of_its_parents_is_right(tmp_path):
    assert (
        manifests.early_children(table_of(tmp_path, {"left": 1, "right": 1}, {"right": 1}, {"merged": 1}), PARENTS)
        == []
    )


@pytest.mark.parametrize("last", [{"right": 1}, {"right": 1, "merged": 1}])
def test_a_child_in_or_before_the_last_batch_of_a_parent_is_too_early(tmp_path, last):
    table = table_of(tmp_path, {"left": 1}, {"merged": 1}, last)
    assert manifests.early_children(table, PARENTS) == [
        "batch 1 holds records of merged, which was made of right, of which batch 2 does"
    ]


def test_a_parent_that_is_only_carried_along_without_records_makes_no_child_early(tmp_path):
    assert manifests.early_children(table_of(tmp_path, {"left": 1}, {"merged": 1}, {"left": 0}), PARENTS) == []
