"""Statistics that leave NaN out would have Spark and DuckDB skip the rows that have it."""

from __future__ import annotations

import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gluepot.connectors.files.formats.parquet.sink import glueparquet_sink
from gluepot.connectors.files.formats.parquet.statistics import (
    columns_with_statistics,
    float_columns,
    nan_columns,
    statistics_miss_nan,
)
from tests.unit.files.sink.staged import KEY, path, write

NAN = math.nan
ROWS = pa.RecordBatch.from_pylist(
    [{"id": 1, "x": 0.5, "whole": 2.0, "s": {"x": NAN, "n": 1}, "l": [0.5, NAN], "none": None}, {"id": 2, "x": NAN}],
    pa.schema(
        [
            ("id", pa.int64()),
            ("x", pa.float64()),
            ("whole", pa.float32()),
            ("s", pa.struct([("x", pa.float64()), ("n", pa.int64())])),
            ("l", pa.list_(pa.float32())),
            ("m", pa.map_(pa.string(), pa.float64())),
            ("half", pa.float16()),
            ("none", pa.float64()),
        ]
    ),
)


def with_statistics(file) -> set[str]:
    group = pq.read_metadata(file).row_group(0)
    columns = [group.column(at) for at in range(group.num_columns)]
    return {one.path_in_schema for one in columns if one.statistics is not None}


def test_columns_with_nan_have_none_at_any_depth(tmp_path):
    assert nan_columns(ROWS) == {"x", "s.x", "l.list.element", "half"}
    assert float_columns(ROWS.schema) == nan_columns(ROWS) | {"whole", "m.key_value.value", "none"}
    statistics = columns_with_statistics(ROWS.schema, nan_columns(ROWS))
    pq.write_table(pa.table(ROWS), tmp_path / "x.parquet", write_statistics=statistics)
    assert with_statistics(tmp_path / "x.parquet") == set(statistics)
    assert {"id", "whole", "s.n", "m.key_value.key", "none"} <= set(statistics)
    assert columns_with_statistics(ROWS.schema, ()) is True


@pytest.mark.parametrize(
    ("batches", "files"),
    [
        ([[0.5, 1.5], [2.5, None]], [{"id", "x"}]),
        ([[0.5, NAN], [1.5], [NAN]], [{"id"}]),
        ([[0.5], [NAN], [NAN], [1.5]], [{"id", "x"}, {"id"}]),
    ],
)
def test_a_file_with_statistics_of_a_column_ends_before_a_nan_of_it(tmp_path, batches, files):
    sink = glueparquet_sink(str(tmp_path), KEY, {"blockSize": 1})
    parts = [pa.record_batch({"id": list(range(len(part))), "x": pa.array(part, pa.float64())}) for part in batches]
    written = write(sink, *parts).files
    assert [with_statistics(path(sink, file)) for file in written] == files
    assert sum(file.rows for file in written) == sum(map(len, batches))


@pytest.mark.parametrize(
    ("values", "options", "misses"),
    [
        ([0.5, None], {}, False),
        ([0.5, NAN], {}, True),
        ([0.5, 0.25, 1.5, NAN], {"row_group_size": 2}, True),
        ([NAN, None], {}, False),  # no statistics at all
        ([0.5, NAN], {"write_statistics": ["id"]}, False),
        ([0.5, None], {"write_statistics": False}, False),
    ],
)
def test_statistics_that_leave_nan_out_are_noticed(tmp_path, values, options, misses):
    table = pa.table({"id": list(range(len(values))), "x": pa.array(values, pa.float64())})
    pq.write_table(table, tmp_path / "x.parquet", **options)
    with pq.ParquetFile(tmp_path / "x.parquet") as file:
        assert statistics_miss_nan(file) is misses
