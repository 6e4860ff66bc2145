from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pyarrow as pa
import pytest

from gluepot.connectors.files.formats.parquet.sink import glueparquet_sink
from gluepot.connectors.files.formats.parquet.write import ParquetOutputFormat
from gluepot.core.errors import ConfigError
from tests.unit.files.sink.staged import KEY, parquet_rows, path, write


def facts(sink, file, columns: str) -> list[tuple]:
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT {columns} FROM parquet_metadata(?)", [str(path(sink, file))]).fetchall()


def test_the_defaults_are_glues():
    assert ParquetOutputFormat.from_glue({}) == ParquetOutputFormat("snappy", 134_217_728, 1_048_576)


def test_numbers_may_be_text():
    options = {"compression": "ZSTD", "blockSize": "1024", "pageSize": 64, "useGlueParquetWriter": True}
    assert ParquetOutputFormat.from_glue(options) == ParquetOutputFormat("zstd", 1024, 64)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compression": "lzo"}, "'lzo' cannot be written: pyarrow has no LZO encoder; use snappy"),
        ({"compression": "snapy"}, "'snapy' is not known; use one of snappy, gzip, .*Did you mean 'snappy'"),
        ({"blockSize": "128MB"}, "blockSize is '128MB'; give a number of bytes"),
        ({"pageSize": 0}, "pageSize is 0; give a number of bytes"),
        ({"pageSize": -1}, "pageSize is -1; give a number of bytes"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(options, message):
    with pytest.raises(ConfigError, match=message):
        ParquetOutputFormat.from_glue(options)


@pytest.mark.parametrize(
    ("name", "ending", "codec"),
    [
        ("snappy", "-part-block-0-0-r-00000-snappy.parquet", "SNAPPY"),
        ("gzip", "-part-block-0-0-r-00000-gzip.parquet", "GZIP"),
        ("zstd", "-part-block-0-0-r-00000-zstd.parquet", "ZSTD"),
        ("brotli", "-part-block-0-0-r-00000-brotli.parquet", "BROTLI"),
        ("lz4", "-part-block-0-0-r-00000-lz4.parquet", "LZ4_RAW"),
        ("none", "-part-block-0-0-r-00000.parquet", "UNCOMPRESSED"),
        ("uncompressed", "-part-block-0-0-r-00000.parquet", "UNCOMPRESSED"),
    ],
)
def test_each_codec_is_written_and_named(tmp_path, name, ending, codec):
    sink = glueparquet_sink(str(tmp_path), KEY, {"compression": name})
    (file,) = write(sink, [{"a": "x"}]).files
    assert file.final.endswith(ending)
    assert facts(sink, file, "compression") == [(codec,)]
    assert parquet_rows(sink, file) == [{"a": "x"}]


def test_a_row_group_has_about_the_block_size(tmp_path):
    sink = glueparquet_sink(str(tmp_path), KEY, {"blockSize": 8000})
    (file,) = write(sink, pa.record_batch({"a": list(range(5000))})).files
    assert [rows for (rows,) in facts(sink, file, "row_group_num_rows")] == [1000] * 5


def test_times_are_stored_as_microseconds_in_int64(tmp_path):
    sink = glueparquet_sink(str(tmp_path), KEY, {})
    stamp = datetime(2026, 1, 5, 12, 0, 0, 123456, tzinfo=UTC)
    nanos = pa.array([stamp], pa.timestamp("us", "UTC")).cast(pa.timestamp("ns", "UTC"))
    (file,) = write(sink, pa.record_batch({"seen": nanos})).files
    assert facts(sink, file, "type") == [("INT64",)]
    with duckdb.connect() as connection:
        logical = connection.execute(
            "SELECT logical_type FROM parquet_schema(?) WHERE name = 'seen'", [str(path(sink, file))]
        )
        assert "MICROS" in logical.fetchone()[0]
        found = connection.execute("SELECT epoch_us(seen) FROM read_parquet(?)", [str(path(sink, file))]).fetchone()
    assert found == (int(stamp.timestamp()) * 1_000_000 + 123456,)


def test_nested_values_come_back(tmp_path):
    sink = glueparquet_sink(str(tmp_path), KEY, {})
    rows = [{"s": {"a": 1, "n": None}, "l": [{"b": "x"}, None], "e": []}, {"s": None, "l": None, "e": []}]
    (file,) = write(sink, rows).files
    assert parquet_rows(sink, file) == [{"s": {"a": 1}, "l": [{"b": "x"}, None]}, {"s": None, "l": None}]


def test_further_files_of_a_task_count_in_the_name():
    assert ParquetOutputFormat().ending(3, 1) == "part-block-0-1-r-00003-snappy.parquet"
    assert ParquetOutputFormat().ending(123456, 0) == "part-block-0-0-r-123456-snappy.parquet"
