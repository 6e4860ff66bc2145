"""A purge takes files out of the tables that our jobs write, for whoever reads them, whatever dies when."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import gluepot.table
from gluepot.catalog.connect import open_catalog
from gluepot.catalog.values import Database, Partition, Table
from gluepot.commit.compaction import Compaction, emptied_files
from gluepot.connectors.files.sink.layout import INTENTS, commit_key
from gluepot.core import failpoints
from gluepot.core.clock import FakeClock
from gluepot.core.errors import TransientError
from gluepot.core.storage import LocalStorage, open_storage
from gluepot.tables import purging
from gluepot.tables.compact import CompactSettings, compact
from gluepot.tables.purge import PurgeOptions, purge_path, purge_table
from gluepot.tables.verify import verify
from tests.unit.tables.tables import Writer

CLOCK = FakeClock(2_000_000_000.0)  # long after the files' times
EVERYTHING = PurgeOptions(retention_hours=0)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "lake" / "clicks")


@pytest.fixture
def writer(folder):
    """What wrote a table of four batches of ten rows in two folders."""
    writer = Writer(folder, partition_keys=["day"])
    for batch_id in range(4):
        writer.publish(batch_id, [{"n": 10 * batch_id + n, "day": n % 2} for n in range(10)])
    return writer


def purge(path, owner="a"):
    return purge_path(str(path), EVERYTHING, CLOCK, owner)


def compacted(folder, owner):
    return list(compact(open_storage(folder), CompactSettings(), CLOCK, owner))


def numbers(folder):
    return sorted(gluepot.table.open(folder).to_arrow()["n"].to_pylist())


def files_in(folder):
    return sorted(str(one.relative_to(folder)) for one in Path(folder).glob("day=*/*"))


def is_clean(folder):
    found = verify(open_storage(folder), None)
    return found.findings == [] and not found.unfinished


@pytest.mark.parametrize("inside", ["", "..", "../.."])
def test_a_purged_table_is_empty_and_whole(folder, writer, inside):
    done = purge(Path(folder, inside).resolve())

    assert len(done.deleted) == 8
    assert files_in(folder) == []
    assert numbers(folder) == []
    assert is_clean(folder)
    assert verify(open_storage(folder), None).rows == 0


def test_what_is_purged_is_a_folder_of_the_table(folder, writer):
    done = purge(f"{folder}/day=0")

    assert len(done.deleted) == 4
    assert numbers(folder) == [n for n in range(40) if n % 2]
    assert is_clean(folder)


def test_what_is_purged_is_one_file_of_the_table(folder, writer):
    done = purge(f"{folder}/{files_in(folder)[0]}")

    assert len(done.deleted) == 1
    assert len(numbers(folder)) == 35
    assert is_clean(folder)


def test_files_of_several_tables_and_of_none_go_together(folder, writer, tmp_path):
    Writer(str(tmp_path / "lake" / "orders")).publish(0, [{"n": 1}])
    (tmp_path / "lake" / "notes.txt").write_text("x")

    done = purge(tmp_path / "lake")

    assert len(done.deleted) == 10
    assert is_clean(folder)
    assert is_clean(str(tmp_path / "lake" / "orders"))
    assert not (tmp_path / "lake" / "notes.txt").exists()


def test_batches_that_come_after_a_purge_are_read_and_compacted(folder, writer):
    purge(folder)
    for batch_id in range(4, 7):
        writer.publish(batch_id, [{"n": batch_id, "day": 0}])

    (done,) = compacted(folder, "b")

    assert (done.files, done.rows) == (2, 2)
    assert numbers(folder) == [4, 5, 6]
    assert is_clean(folder)


def test_files_that_a_compaction_made_are_purged(folder, writer):
    compacted(folder, "b")

    purge(folder)

    assert files_in(folder) == []
    assert numbers(folder) == []
    assert is_clean(folder)


def test_partitions_of_a_catalogs_table_are_purged_by_one_record(folder, writer, tmp_path):
    catalog = open_catalog(f"sqlite:///{tmp_path}/catalog.db", CLOCK)
    catalog.add_database(Database("web"))
    location = {"StorageDescriptor": {"Location": folder}}
    table = Table("web", "clicks", {"PartitionKeys": [{"Name": "day", "Type": "int"}], **location})
    catalog.add_table(table)
    catalog.add_partitions(table, [Partition((day,), {}) for day in "01"])

    purge_table(catalog, table, EVERYTHING, CLOCK, "a")

    assert catalog.partitions(table) == []
    assert [one.name for one in Path(folder, "_gluepot", "compactions").glob("*.json")] == ["1.json"]
    assert is_clean(folder)
    catalog.close()


@pytest.mark.parametrize("token", [0, 7])
def test_a_replay_of_the_newest_batch_brings_no_purged_row_back(folder, writer, token):
    purge(folder)
    storage = open_storage(folder)
    (record,) = [one for one in gluepot.table.open(folder).commits if one.key.batch_id == 3]
    if token:  # a later driver agrees to what was published
        agreed = replace(record, generation=2, token=token)
        storage.create(commit_key(agreed.key, 2), agreed.to_bytes())
    else:
        writer.publish(3, [{"n": 30 + n, "day": n % 2} for n in range(10)], start=30)

    assert numbers(folder) == []
    assert is_clean(folder)


def test_a_replay_of_the_newest_batch_with_other_records_is_there_once(folder, writer):
    purge(folder)

    writer.publish(3, [{"n": 30 + n, "day": n % 2} for n in range(12)], start=30)

    assert numbers(folder) == list(range(30, 42))
    assert is_clean(folder)


def test_a_table_that_was_opened_before_says_to_open_it_again(folder, writer):
    table = gluepot.table.open(folder)
    purge(folder)

    with pytest.raises(TransientError, match="was replaced or purged since the table was opened; open it again"):
        table.to_arrow()


def test_files_of_a_publication_in_progress_stay(folder, writer, monkeypatch):
    monkeypatch.setenv("GLUEPOT_FAILPOINT", "publish.manifest_temp")
    monkeypatch.setenv("GLUEPOT_FAILPOINT_ACTION", "raise")
    monkeypatch.setattr(failpoints, "_reached", Counter())
    with pytest.raises(OSError, match="failpoint"):
        writer.publish(4, [{"n": 40, "day": 0}])
    assert open_storage(folder).list(INTENTS)

    done = purge(folder)

    assert (len(done.deleted), done.kept) == (8, 1)
    assert emptied_files(open_storage(folder)) == set()
    writer.publish(4, [{"n": 40, "day": 0}], start=40)
    assert numbers(folder) == [40]
    assert is_clean(folder)


def test_files_that_cannot_be_deleted_are_told_and_go_with_the_next_purge(folder, writer, monkeypatch):
    def refuse(self, keys):
        raise TransientError(f"{self.url} is away: {next(iter(keys))}")

    with monkeypatch.context() as away:
        away.setattr(LocalStorage, "delete", refuse)
        done = purge(folder)

    assert (len(done.deleted), len(done.failed)) == (0, 8)
    assert numbers(folder) == []
    assert verify(open_storage(folder), None).findings == []
    purge(folder, "b")
    assert files_in(folder) == []
    assert is_clean(folder)


@pytest.mark.parametrize(("step", "left"), [("purge.intent", 40), ("purge.created", 0), ("purge.deleted", 0)])
@pytest.mark.parametrize("mend", [purge, compacted])
def test_a_purge_that_dies_leaves_a_table_to_read_and_the_next_one_or_a_compaction_completes_it(
    folder, writer, monkeypatch, step, left, mend
):
    monkeypatch.setenv("GLUEPOT_FAILPOINT", step)
    monkeypatch.setenv("GLUEPOT_FAILPOINT_ACTION", "raise")
    monkeypatch.setattr(failpoints, "_reached", Counter())

    with pytest.raises(OSError, match="failpoint"):
        purge(folder)

    assert len(numbers(folder)) == left
    assert verify(open_storage(folder), None).findings == []
    monkeypatch.delenv("GLUEPOT_FAILPOINT")
    mend(folder, "b")
    assert len(numbers(folder)) == (left if mend is compacted else 0)
    assert sorted(files_in(folder)) == sorted(one.path for one in gluepot.table.open(folder).files())
    assert is_clean(folder)


def test_a_purge_whose_number_another_one_took_tries_again(folder, writer, monkeypatch):
    storage = open_storage(folder)

    def meanwhile(name):
        if name == "purge.intent":
            storage.create("_gluepot/compactions/1.json", Compaction(1, "other").to_bytes())

    monkeypatch.setattr(purging, "reach", meanwhile)

    purge(folder)

    assert numbers(folder) == []
    assert is_clean(folder)


def test_a_purged_file_that_came_back_is_named(folder, writer):
    path = files_in(folder)[0]
    held = Path(folder, path).read_bytes()
    purge(folder)
    Path(folder, path).write_bytes(held)

    (finding,) = verify(open_storage(folder), None).findings

    assert (finding.kind, finding.where) == ("purged_file", path)
    assert numbers(folder) == []


def test_a_purge_notes_that_it_has_emptied_a_table_and_whoever_purges_an_empty_one_does_too(
    folder, writer, monkeypatch
):
    storage, before = open_storage(folder), files_in(folder)
    purge(f"{folder}/day=0")
    assert emptied_files(storage) == set()

    monkeypatch.setenv("GLUEPOT_FAILPOINT", "purge.created")  # dies before it notes that
    monkeypatch.setenv("GLUEPOT_FAILPOINT_ACTION", "raise")
    monkeypatch.setattr(failpoints, "_reached", Counter())
    with pytest.raises(OSError, match="failpoint"):
        purge(f"{folder}/day=1")
    monkeypatch.delenv("GLUEPOT_FAILPOINT")
    assert emptied_files(storage) == set()

    purge(folder, "b")
    assert emptied_files(storage) == set(before)

    writer.publish(4, [{"n": 40, "day": 0}])
    purge(f"{folder}/day=1", "c")
    assert emptied_files(storage) == set(before)
