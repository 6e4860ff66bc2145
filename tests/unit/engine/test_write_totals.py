"""What the writes of a batch add up to, whoever published them."""

from __future__ import annotations

import pyarrow as pa

from gluepot.commit import Target
from gluepot.commit.record import CommitRecord, FileEntry
from gluepot.connectors.values import AlreadyCommitted, CommitKey, Committed, ManifestPart, StagedFile
from gluepot.core.storage import open_storage
from gluepot.engine.write_totals import RecordSchema, WriteTotals, WrittenFile

FILE = StagedFile("staging/a.parquet", "day=1/a.parquet", size_bytes=1_000, rows=10, crc32=1)
REJECTS = StagedFile("staging/r.parquet", "_rejects/r.parquet", size_bytes=50, rows=2, crc32=2, rejects=True)
RECORD = CommitRecord(
    CommitKey("query", 1, "write"),
    generation=1,
    files=[
        FileEntry("day=1/a.parquet", 1_000, 10, 1, rejects=False),
        FileEntry("_rejects/r.parquet", 50, 2, 2, rejects=True),
    ],
    rows_in=12,
    rows_out=10,
    rejected={"malformed_json": 2},
)


def sums(totals: WriteTotals) -> tuple[object, ...]:
    return (
        totals.rows_in,
        totals.rows_out,
        totals.files,
        totals.bytes_out,
        totals.file_sizes_bytes,
        dict(totals.rejected),
    )


def test_a_write_that_an_earlier_attempt_published_counts_like_one_of_this_attempt():
    own, adopted = WriteTotals(), WriteTotals()
    part = ManifestPart([FILE, REJECTS], rows_in=12, rows_out=10, rejected={"malformed_json": 2})
    own.add(Committed(["day=1/a.parquet"], 10), [part])
    adopted.add(AlreadyCommitted(RECORD.data_paths, RECORD.rows_out), [RECORD.as_part()])
    assert sums(own) == sums(adopted) == (12, 10, 1, 1_050, [1_000], {"malformed_json": 2})


def test_rejects_are_bytes_and_no_files_with_records():
    totals = WriteTotals()
    totals.add(Committed(["day=1/a.parquet"], 10), [ManifestPart([FILE, REJECTS])])
    assert (totals.files, totals.bytes_out, totals.file_sizes_bytes) == (1, 1_050, [1_000])


def seen(**columns: pa.DataType) -> ManifestPart:
    return ManifestPart(source_schema=pa.schema(columns).serialize().to_pybytes())


def test_columns_of_the_first_batch_are_no_change_and_later_ones_are():
    schema = RecordSchema()
    assert not schema.learn([seen(id=pa.int64())])
    learned = schema.learn([seen(id=pa.int64(), day=pa.string()), seen(hour=pa.int64())])
    assert [(one.column, one.kind) for one in learned] == [("day", "added"), ("hour", "added")]
    assert not schema.learn([seen(id=pa.int64())])


def test_files_are_known_by_the_names_they_were_published_under(tmp_path):
    table, rejects = open_storage(f"{tmp_path}/table"), open_storage(f"{tmp_path}/rejects")
    totals = WriteTotals()
    outcome = Committed(["day=1/a-2.parquet"], 10, ["_rejects/r-2.parquet"])
    totals.add(outcome, [ManifestPart([REJECTS, FILE])], Target(table, rejects))
    assert totals.written == [
        WrittenFile(table.url, "day=1/a-2.parquet", 1_000, 10),
        WrittenFile(rejects.url, "_rejects/r-2.parquet", 50, 2, rejects=True),
    ]


def test_a_write_that_names_no_folder_has_no_files():
    totals = WriteTotals()
    totals.add(Committed((), 10), [ManifestPart(rows_out=10)])
    assert not totals.written
