from __future__ import annotations

from dataclasses import replace

import pytest

from gluepot.commit import FILES, Journal, Write, place_digest
from gluepot.commit.record import CommitRecord, FileEntry
from gluepot.connectors.files.sink.layout import commit_key
from gluepot.connectors.kafka.positions import split
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import ConfigError, LeaseHeld
from gluepot.core.storage import open_storage
from gluepot.streaming.checkpoints.snapshot import read
from gluepot.streaming.checkpoints.unfinished import (
    Unfinished,
    begun,
    is_held,
    require_choice,
    take_back,
    unfinished,
    without,
)
from tests.unit.checkpoints.made import QUERY, checkpoint, positions

BATCH = Unfinished(QUERY, 4)


def written(query_id: str, batch_id: int) -> CommitRecord:
    file = FileEntry("a.parquet", 1, 1, 0, rejects=False, encoding={"format": "parquet"})
    ranges = split(positions(batch_id + 1)[batch_id])
    return CommitRecord(CommitKey(query_id, batch_id, "sink"), 1, files=[file], ranges=ranges)


@pytest.fixture
def made(tmp_path):
    def make(done: int):
        storage = open_storage(str(tmp_path / "ck"))
        for key, data in checkpoint(5, done=done).items():
            storage.put(key, data)
        return storage

    return make


def test_a_batch_that_is_planned_and_not_committed_is_unfinished(made):
    storage = made(done=4)
    assert unfinished(storage, read(storage), [written(QUERY, 4)]) == BATCH


def test_a_batch_of_which_the_tables_hold_nothing_does_not_matter(made):
    found = read(made(done=4))
    assert not is_held(found, BATCH, [written(QUERY, 3)])
    assert not is_held(found, BATCH, [CommitRecord.nothing(written(QUERY, 4).key)])
    assert not is_held(found, BATCH, [replace(written(QUERY, 4), ranges=written(QUERY, 3).ranges)])


def test_a_table_to_which_it_gave_no_row_holds_it_as_well(made):
    assert is_held(read(made(done=4)), BATCH, [replace(written(QUERY, 4), files=())])


def test_a_batch_behind_which_a_table_holds_another_one_has_ended(made):
    old = read(made(done=4))
    assert not is_held(old, BATCH, [written(QUERY, 4), written(QUERY, 5)])
    assert is_held(old, BATCH, [written(QUERY, 4), written("other", 5)])


def test_of_a_whole_checkpoint_no_batch_is_unfinished(made):
    assert begun(read(made(done=5)), None) is None


def test_a_batch_that_runs_again_is_unfinished_although_its_commit_is_there(made):
    whole = read(made(done=5))
    assert begun(whole, (QUERY, 4)) == BATCH
    assert begun(whole, (QUERY, 3)) is None
    assert begun(whole, ("other", 4)) is None


def test_a_table_that_only_the_journal_names_may_hold_it(made, tmp_path):
    storage, table = made(done=4), str(tmp_path / "hours")
    Journal(storage, 1).announce(Write(FILES, table, "sink"), 4, {})
    assert unfinished(storage, read(storage), []) is None
    record = written(QUERY, 4)
    record = replace(record, key=replace(record.key, target=place_digest(table)))
    assert open_storage(table).create(commit_key(record.key, 1), record.to_bytes())
    assert unfinished(storage, read(storage), []) == BATCH


def test_without_an_id_nothing_is_known_of_the_tables(made):
    storage = made(done=4)
    storage.delete(["metadata"])
    assert begun(read(storage), None) is None


def test_the_manifests_of_that_batch_alone_are_left_out():
    records = [CommitRecord(CommitKey(query, n, "sink"), 1) for query, n in ((QUERY, 3), (QUERY, 4), ("other", 4))]
    assert without(records, BATCH) == [records[0], records[2]]
    assert without(records, None) == records


def test_a_person_has_to_decide():
    require_choice(None, drop=False)
    require_choice(BATCH, drop=True)
    with pytest.raises(ConfigError, match=r"Batch 4 has begun and not ended.*add --drop-unfinished"):
        require_choice(BATCH, drop=False)


def test_nothing_is_taken_back_if_a_part_could_not_be(tmp_path):
    storage = open_storage(str(tmp_path / "ck"))
    journal = Journal(storage, 1)
    journal.announce(Write("postgresql", "postgresql://db public.clicks", "sink"), 4, {})
    with pytest.raises(ConfigError, match=r"may have written to postgresql://db public\.clicks"):
        take_back(storage, BATCH, 2, {})


def test_of_a_table_that_the_journal_does_not_name_only_writes_of_the_batch_are_taken_back(tmp_path):
    storage, place = open_storage(str(tmp_path / "ck")), str(tmp_path / "table")
    held = [
        replace(written(*one), key=CommitKey(*one, ctx, place_digest(place)))
        for one, ctx in (((QUERY, 4), "mine"), ((QUERY, 3), "earlier"), (("other", 4), "another query's"))
    ]
    before = CommitRecord(CommitKey(QUERY, 4, "taken back before", place_digest(place)), 1)
    take_back(storage, BATCH, 2, {place: [*held, before]})
    taken = [
        CommitRecord.from_bytes(open_storage(place).get(key)) for key in open_storage(place).list("_gluepot/commits")
    ]
    assert [(one.key.query_id, one.key.batch_id, one.key.ctx) for one in taken] == [(QUERY, 4, "mine")]


def test_a_driver_that_runs_on_finds_its_batch_taken_back(tmp_path):
    storage, table = open_storage(str(tmp_path / "ck")), str(tmp_path / "table")
    journal = Journal(storage, 1)
    journal.announce(Write(FILES, table, "sink"), 4, {})
    take_back(storage, BATCH, 2, {})
    key = CommitKey(QUERY, 4, "sink", place_digest(table))
    (manifest,) = open_storage(table).list("_gluepot/commits")
    record = CommitRecord.from_bytes(open_storage(table).get(manifest))
    assert (record.key.batch_id, record.token, record.files) == (key.batch_id, 2, [])
    with pytest.raises(LeaseHeld):
        journal.announce(Write(FILES, table, "another"), 4, {})
