from __future__ import annotations

import io
from random import Random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gluepot.connectors.files.formats.parquet.codecs import LEAST_ROWS, is_worth_it
from gluepot.connectors.files.formats.parquet.write import ParquetOutputFormat


def rows(records: int = LEAST_ROWS, seed: int = 1) -> pa.RecordBatch:
    chance = Random(seed)
    return pa.RecordBatch.from_pylist(
        [
            {
                "id": number,
                "page": f"/item/{chance.randrange(100_000)}",
                "token": f"{chance.getrandbits(200):050x}",
                "device": {"os": chance.choice("ab"), "serial": f"{chance.getrandbits(128):032x}"},
                "codes": [chance.getrandbits(62) for _ in range(chance.randrange(3))],
                "flag": chance.random() < 0.5,
            }
            for number in range(records)
        ]
    )


def written(batch: pa.RecordBatch, parquet: ParquetOutputFormat) -> io.BytesIO:
    output = io.BytesIO()
    file = parquet.open(output, batch.schema)
    file.write(batch)
    file.close()
    return output


def plain(batch: pa.RecordBatch, parquet: ParquetOutputFormat) -> list[str]:
    group = pq.ParquetFile(written(batch, parquet)).metadata.row_group(0)
    columns = [group.column(index) for index in range(group.num_columns)]
    assert {column.compression for column in columns} <= {parquet.compression.upper(), "UNCOMPRESSED"}
    return [column.path_in_schema for column in columns if column.compression == "UNCOMPRESSED"]


@pytest.mark.parametrize(
    ("plain_bytes", "compressed_bytes", "worth_it"),
    [(80_000, 70_000, True), (80_000, 70_001, False), (80_000, 90_000, False), (4_095, 4_095, True), (0, 0, True)],
)
def test_an_eighth_must_be_gained_where_a_trial_tells_anything(plain_bytes, compressed_bytes, worth_it):
    assert is_worth_it(plain_bytes, compressed_bytes) == worth_it


def test_columns_that_look_random_are_not_compressed_at_any_depth():
    assert plain(rows(), ParquetOutputFormat()) == ["token", "device.serial", "codes.list.element"]


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_a_codec_that_finds_something_in_them_is_left_to_it(codec):
    assert plain(rows(), ParquetOutputFormat(codec)) == ["codes.list.element"]


def test_few_rows_are_compressed_as_asked():
    assert plain(rows(LEAST_ROWS - 1), ParquetOutputFormat()) == []


def test_without_a_codec_there_is_nothing_to_try():
    parquet = ParquetOutputFormat("none")
    assert len(plain(rows(), parquet)) == 7
    assert [columns.compression for columns in parquet.known.values()] == ["none"]


def test_what_the_first_file_of_some_size_needs_goes_for_those_after_it():
    parquet = ParquetOutputFormat()
    assert plain(rows(300), parquet) == []
    assert "token" in plain(rows(), parquet)
    assert "token" in plain(rows(300), parquet)


def test_other_readers_find_every_value(tmp_path):
    batch = rows()
    (tmp_path / "a.parquet").write_bytes(written(batch, ParquetOutputFormat()).getvalue())
    with duckdb.connect() as connection:
        found = connection.sql(f"SELECT * FROM '{tmp_path}/a.parquet' ORDER BY id").to_arrow_table()
    assert found.to_pylist() == batch.to_pylist()
