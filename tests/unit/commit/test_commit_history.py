from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from gluepot.commit.history import every, live, newest_generations, settled
from gluepot.commit.record import CommitRecord, FileEntry
from gluepot.connectors.files.sink.layout import COMMITS, commit_key, write_and_generation
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import CheckpointError
from tests.unit.commit.worlds import MemoryStorage


def record(batch_id: int, generation: int = 1, query_id: str = "q1", ctx: str = "sink0") -> CommitRecord:
    return CommitRecord(CommitKey(query_id, batch_id, ctx), generation)


def storage_with(*records: CommitRecord) -> MemoryStorage:
    return MemoryStorage({commit_key(one.key, one.generation): one.to_bytes() for one in records})


def named(records: list[CommitRecord]) -> list[tuple[str, int, str, int]]:
    return [(one.key.query_id, one.key.batch_id, one.key.ctx, one.generation) for one in records]


def test_every_manifest_is_there_in_order():
    storage = storage_with(record(10), record(9, 2), record(9), record(0, query_id="q0"), record(9, ctx="a"))
    assert named(every(storage)) == [
        ("q0", 0, "sink0", 1),
        ("q1", 9, "a", 1),
        ("q1", 9, "sink0", 1),
        ("q1", 9, "sink0", 2),
        ("q1", 10, "sink0", 1),
    ]


def test_of_each_write_the_highest_generation_is_live():
    storage = storage_with(record(1), *(record(2, generation) for generation in range(1, 11)))
    assert named(live(storage)) == [("q1", 1, "sink0", 1), ("q1", 2, "sink0", 10)]


def test_a_folder_without_manifests_has_no_history():
    assert every(MemoryStorage()) == list(live(MemoryStorage())) == []
    assert not live(MemoryStorage())


def test_a_manifest_that_goes_after_the_listing_is_left_out():
    storage = storage_with(record(1), record(2))

    class Forgetful(MemoryStorage):
        def get(self, key: str) -> bytes:
            if key == commit_key(CommitKey("q1", 2, "sink0"), 1):
                raise FileNotFoundError(key)
            return super().get(key)

    assert named(every(Forgetful(storage.files))) == [("q1", 1, "sink0", 1)]


def test_a_broken_manifest_is_named():
    storage = storage_with(record(1))
    (key,) = storage.files
    storage.files[key] = b"{"
    with pytest.raises(CheckpointError, match=rf"memory:/{key}: a manifest beginning with b'{{'"):
        live(storage)


def test_files_of_other_names_are_no_manifests():
    key = commit_key(CommitKey("q1", 1, "a"), 12)
    write = key.rsplit("/", 1)[1].partition(".")[0]
    assert write_and_generation(key) == write_and_generation(f"{COMMITS}/{write}.12.json") == (write, 12)
    for other in (f"{COMMITS}/notes.txt", f"{COMMITS}/x.1.json", key.replace(".12.", ".0."), f"x/{key}"):
        assert write_and_generation(other) is None
    assert newest_generations([f"{COMMITS}/notes.txt", key]) == [key]


def test_a_batch_is_not_shown_before_the_one_that_was_published_first():
    """The first listing met batch 3 and, busy elsewhere in the folder, none of the newer ones."""
    records = {str(one.key.batch_id): one for one in map(record, (1, 2, 3, 4, 5))}
    assert [one.key.batch_id for one in settled(records, {"1", "3"})] == [1, 2, 3]


def test_a_batch_is_shown_with_all_its_writes():
    """The first listing met one write of the batch, and had passed the place of the other before that was made."""
    records = {one.key.ctx: one for one in (record(3, ctx="first"), record(3, ctx="second"))}
    assert settled(records, {"second"}) == list(records.values())


def test_columns_count_as_recorded_before_a_write_if_an_earlier_batch_or_another_query_recorded_them():
    def recorded(name: str, batch_id: int, query_id: str = "q1") -> CommitRecord:
        columns = (bytes(pa.schema([(name, pa.int64())]).serialize()),)
        file = FileEntry(f"{name}.parquet", 1, 1, 0, rejects=False)
        return replace(record(batch_id, query_id=query_id), files=[file], columns=columns)

    of_another, earlier = recorded("a", 9, "q0"), recorded("b", 5)
    published = live(storage_with(of_another, earlier, recorded("c", 6), recorded("d", 7)))
    for emptied in (frozenset(), frozenset({"old.parquet"})):
        found = published.recorded_columns(CommitKey("q1", 6, "sink0"), emptied)
        assert found == [*of_another.columns, *earlier.columns]


def test_a_query_that_the_first_listing_did_not_meet_is_not_shown_in_part():
    records = {"a": record(1), "b": record(0, query_id="q2")}
    assert settled(records, {"a"}) == [record(1)]


def test_a_generation_created_between_the_listings_takes_the_place_of_the_old_one():
    storage = storage_with(record(1), record(2))
    newer = record(2, 2)

    class Growing(MemoryStorage):
        def list(self, folder: str, skip=()):
            found = super().list(folder, skip)
            self.files[commit_key(newer.key, 2)] = newer.to_bytes()
            return found

    assert named(live(Growing(storage.files))) == [("q1", 1, "sink0", 1), ("q1", 2, "sink0", 2)]
