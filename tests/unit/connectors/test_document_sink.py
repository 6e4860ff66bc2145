"""The sink of documents: every row is put or refused, and what is refused is kept or ends the write."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gluepot import commit
from gluepot.connectors.documents.sink import DocumentSink, UnrecordedSink
from gluepot.connectors.streams.rejects import RejectsOfFrame
from gluepot.connectors.values import CommitKey, Manifest, Refusal
from gluepot.core.datasets import Dataset
from gluepot.core.errors import PermanentError, TransientError
from gluepot.frames.chunk import Chunk, ErrorRecord, Origin

KEY = CommitKey("q", 0, "write")


@dataclass
class Shelf:
    """A store in memory that takes no negative numbers."""

    held: dict = field(default_factory=dict)
    is_away: bool = False
    place: str = "shelf"
    guarantee: str = "each row once"
    dataset: Dataset = field(default_factory=lambda: Dataset("shelf", "numbers"))

    def check(self):
        pass

    def put(self, documents):
        if self.is_away:
            raise TransientError("the shelf is away")
        refused = [at for at, one in enumerate(documents) if one.fields.get("n", 0) < 0]
        self.held |= {one.id: one.fields for at, one in enumerate(documents) if at not in refused}
        return [Refusal(at, "negative", "It takes no negative numbers.") for at in refused]


class Records:
    def again(self, first, last):
        found = range(first, last + 1)
        yield found, [f"record {one}".encode() for one in found]


def chunk(numbers, errors=(), origin=None):
    return Chunk(pa.record_batch({"n": pa.array(numbers, pa.int64()), "none": pa.nulls(len(numbers))}), errors, origin)


def sink(shelf, folder, rejects=None):
    return DocumentSink(shelf, KEY, str(folder), str(rejects or folder), "ctx")


def published(made, part):
    rows = part.rows_out + sum(part.rejected.values())
    return commit.publish(commit.open_target(made), Manifest(KEY, [replace(part, rows_in=rows)], offsets_digest="x"))


def rejected(folder):
    (file,) = folder.rglob("*.rejects")
    return pq.read_table(file).to_pylist()


def test_rows_are_put_without_their_nulls(tmp_path):
    shelf = Shelf()
    part = sink(shelf, tmp_path).write(iter([chunk([1, 2]), chunk([3])]), 0, "a")
    assert sorted(one["n"] for one in shelf.held.values()) == [1, 2, 3]
    assert all(one.keys() == {"n"} for one in shelf.held.values())
    assert (part.rows_out, part.files, dict(part.rejected)) == (3, (), {})


def test_refused_rows_and_error_records_are_published_together(tmp_path):
    shelf, error = Shelf(), ErrorRecord(b"{", "malformed_json", "It is no JSON.")
    made = sink(shelf, tmp_path)
    part = made.write(iter([chunk([1, -2, -3], [error])]), 0, "a")
    assert (part.rows_out, dict(part.rejected)) == (1, {"malformed_json": 1, "negative": 2})
    assert [one.rows for one in part.files] == [3]
    assert not (tmp_path / "_rejects").exists()
    assert published(made, part).rejects
    kept = {one["raw"]: (one["reason"], one["message"]) for one in rejected(tmp_path / "_rejects")}
    assert kept == {
        b"{": ("malformed_json", "It is no JSON."),
        b'{"n":-2}': ("negative", "It takes no negative numbers."),
        b'{"n":-3}': ("negative", "It takes no negative numbers."),
    }


def test_a_refused_record_of_a_stream_is_kept_as_the_stream_has_it(tmp_path):
    made = sink(Shelf(), tmp_path, tmp_path / "aside")
    part = made.write(iter([chunk([4, -5], origin=Origin(Records(), "clicks", "3", range(70, 72)))]), 0, "a")
    published(made, part)
    (kept,) = rejected(tmp_path / "aside")
    assert (kept["raw"], kept["stream"], kept["shard"], kept["position"]) == (b"record 71", "clicks", "3", "71")


def test_a_store_that_is_away_leaves_nothing_staged(tmp_path):
    def chunks():
        yield chunk([-1])
        shelf.is_away = True
        yield chunk([2])

    shelf = Shelf()
    with pytest.raises(TransientError):
        sink(shelf, tmp_path).write(chunks(), 0, "a")
    assert not [one for one in tmp_path.rglob("*") if one.is_file()]


def test_a_repetition_overwrites_each_row_with_itself(tmp_path):
    shelf = Shelf()
    for attempt in "ab":
        sink(shelf, tmp_path).write(iter([chunk([1, 2])]), 0, attempt)
    assert len(shelf.held) == 2


def test_without_a_folder_a_refused_row_ends_the_write():
    shelf = Shelf()
    with pytest.raises(PermanentError, match=r"^shelf refuses a row: .*negative.* rejectsPath"):
        UnrecordedSink(shelf, KEY).write(iter([chunk([1, -2])]), 0, "a")


def test_without_a_folder_error_records_are_kept_with_those_of_the_run(tmp_path):
    shelf, error = Shelf(), ErrorRecord(b"{", "malformed_json", "It is no JSON.")
    sink = UnrecordedSink(shelf, KEY, RejectsOfFrame(str(tmp_path), "run-"))
    part = sink.write(iter([chunk([], [error]), chunk([2])]), 0, "a")

    assert (part.rows_out, dict(part.rejected), len(shelf.held)) == (1, {}, 1)
    assert [file.name for file in tmp_path.iterdir()] == ["run-00000-000.rejects"]
