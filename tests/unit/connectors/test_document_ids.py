"""Ids of documents: the same row gets the same id however the batch is divided, and no two rows share one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from gluepot.connectors.documents.ids import DocumentIds
from gluepot.connectors.values import CommitKey
from gluepot.frames.chunk import Chunk, Origin

KEY = CommitKey("q", 7, "write", "somewhere")


class NotRead:
    def again(self, first, last):
        raise AssertionError("ids need no payloads")


def chunk(positions, *, stream="clicks", shard="0"):
    batch = pa.record_batch({"n": pa.array(range(len(positions)))})
    return Chunk(batch, (), Origin(NotRead(), stream, shard, positions))


def without_origin(rows):
    return Chunk(pa.record_batch({"n": pa.array(range(rows))}))


def test_the_id_of_a_record_does_not_depend_on_how_the_batch_is_divided():
    whole = DocumentIds(KEY, 0).of(chunk(range(10, 16)))
    first, second = DocumentIds(KEY, 0), DocumentIds(KEY, 5)
    assert whole == [*first.of(chunk(range(10, 13))), *second.of(chunk(range(13, 16)))]
    assert len(set(whole)) == 6
    assert all(len(one) == 32 and int(one, 16) >= 0 for one in whole)


def test_filtered_records_keep_their_ids():
    whole = chunk(range(4))
    kept = whole.filtered(pa.array([False, True, False, True]))
    assert DocumentIds(KEY, 0).of(kept) == DocumentIds(KEY, 0).of(whole)[1::2]


def test_rows_made_from_one_record_have_ids_of_their_own():
    exploded = chunk(range(2)).taken(np.array([0, 0, 1, 1, 1]))
    found = DocumentIds(KEY, 0).of(exploded)
    assert len(set(found)) == 5
    assert DocumentIds(KEY, 3).of(exploded) == found


def test_sequence_numbers_beyond_64_bits_are_positions():
    found = DocumentIds(KEY, 0).of(chunk([2**70, 2**70 + 1]))
    assert len(set(found)) == 2


def test_streams_shards_batches_queries_and_writes_are_told_apart():
    ids = [
        DocumentIds(key, 0).of(chunk([5], stream=stream, shard=shard))[0]
        for key in (KEY, CommitKey("q", 8, "write"), CommitKey("r", 7, "write"), CommitKey("q", 7, "write.2"))
        for stream, shard in (("clicks", "0"), ("clicks", "1"), ("orders", "0"), ('clicks", "0', ""))
    ]
    assert len(set(ids)) == len(ids)


def test_the_place_of_the_manifests_is_no_part_of_an_id():
    assert DocumentIds(KEY, 0).of(chunk([5])) == DocumentIds(CommitKey("q", 7, "write", "moved"), 0).of(chunk([5]))


def test_rows_without_an_origin_are_counted_in_their_task():
    one, other = DocumentIds(KEY, 1), DocumentIds(KEY, 2)
    found = [*one.of(without_origin(3)), *one.of(without_origin(2)), *other.of(without_origin(5))]
    assert len(set(found)) == 10
    again = DocumentIds(KEY, 1)
    assert [*again.of(without_origin(1)), *again.of(without_origin(4))] == found[:5]
