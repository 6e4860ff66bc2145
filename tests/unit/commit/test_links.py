"""Each manifest names the batch before it, so that one that is gone is noticed."""

from __future__ import annotations

from gluepot.commit.links import Links, missing
from gluepot.commit.record import CommitRecord
from gluepot.connectors.values import CommitKey


def record(batch: int, previous: int | None, ctx: str = "sink") -> CommitRecord:
    return CommitRecord(CommitKey("q", batch, ctx), 1, previous=previous)


def test_a_write_is_linked_to_the_last_batch_before_it_also_when_it_is_written_again():
    assert Links.of([("sink", 3)], 7).previous("sink", 3) == -1
    links = Links.of([("sink", 3), ("sink", 1), ("other", 4), ("sink", 7)], 7)
    assert (links.previous("sink", 7), links.previous("other", 7), links.previous("new", 7)) == (3, 4, -1)
    assert links.previous("sink", 8) == 3  # as long as batch 7 is not written again
    links = links.after("sink", 7)
    assert links.previous("sink", 7) == 3
    links = links.after("sink", 7)
    assert (links.previous("sink", 7), links.previous("sink", 8)) == (3, 7)
    assert links.after("sink", 3).previous("sink", 7) == 3


def test_a_manifest_that_another_one_names_and_that_is_gone_is_missing():
    records = [record(1, 0), record(2, 1), record(3, None, "other"), record(4, -1, "third")]
    gone = [(before.batch_id, later.batch_id) for before, later in missing(records, lambda query, batch: False)]
    assert gone == [(0, 1)]
    assert list(missing(records, lambda query, batch: batch == 0)) == []
