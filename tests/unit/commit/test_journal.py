"""The journal of a query's writes: what it keeps, and that only the newest driver can add to it."""

from __future__ import annotations

import pytest

from gluepot.commit import Journal, Write, newest_state
from gluepot.commit.journal import FOLDER
from gluepot.core.errors import CheckpointError, LeaseHeld, TransientError
from gluepot.core.storage import open_storage
from tests.unit.commit.worlds import MemoryStorage

CLICKS, ORDERS = Write("files", "/lake/clicks", "sink"), Write("files", "/lake/orders", "sink")


class LostReplies(MemoryStorage):
    """Creates the file and answers that there was one: what a client that asks twice gets to hear."""

    def create(self, key: str, data: bytes) -> bool:
        super().create(key, data)
        return False


def test_a_driver_finds_what_the_one_before_has_announced():
    storage = MemoryStorage()
    Journal(storage, 1).announce(CLICKS, 0, {CLICKS: 0})
    assert Journal(storage, 2).found == {CLICKS}


def test_a_write_that_is_known_changes_no_file():
    storage = MemoryStorage()
    journal = Journal(storage, 1)
    journal.announce(CLICKS, 0, {CLICKS: 0})
    before = dict(storage.files)
    journal.announce(CLICKS, 1, {CLICKS: 1})
    assert storage.files == before


def test_a_driver_that_was_taken_over_announces_nothing_new():
    storage = MemoryStorage()
    early = Journal(storage, 1)
    Journal(storage, 2)
    with pytest.raises(LeaseHeld):
        early.announce(CLICKS, 0, {CLICKS: 0})


def test_it_does_not_either_where_its_number_is_free_again():
    storage = MemoryStorage()
    early = Journal(storage, 1)
    late = Journal(storage, 2)
    for write in (CLICKS, ORDERS):
        late.announce(write, 0, {write: 0})
    with pytest.raises(LeaseHeld):
        early.announce(Write("files", "/lake/late", "sink"), 0, {})


def test_an_earlier_driver_cannot_open_it_again():
    storage = MemoryStorage()
    Journal(storage, 2)
    with pytest.raises(LeaseHeld):
        Journal(storage, 1)


def test_a_driver_can_open_its_own_journal_again():
    storage = MemoryStorage()
    Journal(storage, 1).announce(CLICKS, 0, {CLICKS: 0})
    assert Journal(storage, 1).found == {CLICKS}


def test_a_lost_reply_is_no_other_driver():
    storage = LostReplies()
    Journal(storage, 1).announce(CLICKS, 0, {CLICKS: 0})
    assert Journal(storage, 2).found == {CLICKS}


def test_paths_that_are_used_no_more_are_left_out_so_that_the_file_stays_small():
    storage, used = MemoryStorage(), {}
    journal = Journal(storage, 1)
    for n in range(200):
        write = Write("files", f"/lake/hour={n}", "sink")
        used[write] = n
        journal.announce(write, n, used)
    assert len(Journal(storage, 2).found) <= 12
    assert len(storage.list(FOLDER)) == 1


@pytest.mark.parametrize(("batch_id", "found"), [(10, {CLICKS, ORDERS}), (11, {ORDERS})])
def test_a_path_is_left_out_when_ten_batches_have_not_used_it(batch_id, found):
    storage = MemoryStorage()
    journal = Journal(storage, 1)
    journal.announce(CLICKS, 0, {CLICKS: 0})
    journal.announce(ORDERS, batch_id, {CLICKS: 0, ORDERS: batch_id})
    assert Journal(storage, 2).found == found


def test_what_an_earlier_driver_announced_is_left_out_when_ten_batches_of_the_next_one_have_not_used_it():
    storage = MemoryStorage()
    Journal(storage, 1).announce(CLICKS, 6, {CLICKS: 6})
    journal = Journal(storage, 2)
    journal.announce(CLICKS, 7, {CLICKS: 7})
    journal.announce(ORDERS, 17, {ORDERS: 17})
    assert Journal(storage, 3).found == {CLICKS, ORDERS}
    journal = Journal(storage, 4)
    journal.announce(ORDERS, 18, {ORDERS: 18})
    late = Write("files", "/lake/late", "sink")
    journal.announce(late, 29, {ORDERS: 28, late: 29})
    assert Journal(storage, 5).found == {ORDERS, late}


@pytest.mark.parametrize(
    ("text", "what"), [(b"{", "is not as it was written"), (b'{"version": 2}', "has version 2; use a newer Gluepot")]
)
def test_a_file_that_cannot_be_read_is_named_with_the_remedy(text, what):
    storage = MemoryStorage()
    Journal(storage, 1)
    (key,) = storage.list(FOLDER)
    storage.files[key] = text
    with pytest.raises(CheckpointError, match=rf"{key} .*{what}; restore it, or remove it"):
        Journal(storage, 2)


def test_files_of_other_names_are_left_alone():
    storage = MemoryStorage({f"{FOLDER}/notes.txt": b"do not touch"})
    Journal(storage, 1).announce(CLICKS, 0, {CLICKS: 0})
    assert Journal(storage, 2).found == {CLICKS}
    assert f"{FOLDER}/notes.txt" in storage.files


def test_a_copy_of_a_checkpoint_does_not_take_over_what_the_original_has_written():
    original = MemoryStorage(url="/checkpoints/clicks")
    Journal(original, 1).announce(CLICKS, 0, {CLICKS: 0})
    copy = MemoryStorage(dict(original.files), url="/checkpoints/trial")
    assert not Journal(copy, 2).found


class AnswersLost(MemoryStorage):
    """Creates one file and does not answer, as a server whose connection breaks."""

    lost = False

    def create(self, key: str, data: bytes) -> bool:
        created = super().create(key, data)
        if self.lost:
            self.lost = False
            raise TransientError("no answer")
        return created


def test_a_state_whose_creation_was_not_answered_does_not_end_its_own_driver():
    storage = AnswersLost()
    journal = Journal(storage, 1)
    storage.lost = True
    with pytest.raises(TransientError):
        journal.announce(CLICKS, 0, {CLICKS: 0})
    journal.announce(ORDERS, 0, {ORDERS: 0})
    assert Journal(storage, 2).found == {CLICKS, ORDERS}


def test_a_batch_that_runs_again_is_named_until_it_has_ended():
    storage = MemoryStorage()
    early = Journal(storage, 1)
    early.repeat("query", 7)
    early.announce(CLICKS, 7, {CLICKS: 7})
    late = Journal(storage, 2)
    assert late.repeats == newest_state(storage).repeats == ("query", 7)
    late.ended()
    assert late.repeats is newest_state(storage).repeats is None
    assert Journal(storage, 3).found == {CLICKS}


def test_a_batch_that_runs_for_the_first_time_changes_no_file():
    storage = MemoryStorage()
    journal = Journal(storage, 1)
    before = dict(storage.files)
    journal.ended()
    assert storage.files == before


def test_a_driver_that_was_taken_over_says_nothing_of_a_batch():
    storage = MemoryStorage()
    early = Journal(storage, 1)
    early.repeat("query", 7)
    late = Journal(storage, 2)
    with pytest.raises(LeaseHeld):
        early.ended()
    assert late.repeats == ("query", 7)


def test_what_an_earlier_driver_names_at_this_very_moment_is_taken_over():
    class Overtaken(MemoryStorage):
        def create(self, key: str, data: bytes) -> bool:
            if key.endswith("/2.json") and (meanwhile := self.meanwhile):
                self.meanwhile = None
                meanwhile()
            return super().create(key, data)

        meanwhile = None

    storage = Overtaken()
    early = Journal(storage, 1)

    def meanwhile():
        early.repeat("query", 7)
        early.announce(CLICKS, 7, {CLICKS: 7})

    storage.meanwhile = meanwhile
    late = Journal(storage, 2)
    assert (late.repeats, late.found) == (("query", 7), {CLICKS})


def test_a_copied_checkpoint_has_no_batch_that_runs_again(tmp_path):
    original = open_storage(str(tmp_path / "original"))
    Journal(original, 1).repeat("query", 7)
    copy = open_storage(str(tmp_path / "copy"))
    for key in original.list(""):
        copy.put(key, original.get(key))
    assert newest_state(copy).repeats is None
