"""ORC files: which values are read, and what is said of a file with values that the reader cannot represent."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyarrow import orc

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.orc import OrcInputFormat
from gluepot.core.errors import PermanentError
from tests.unit.files.reading import chunks

YEAR_1, YEAR_2500 = -62_135_596_800_000_000, 16_725_225_600_000_005
TIME = pa.timestamp("us")


def column(folder, values: pa.Array) -> pa.Array:
    orc.write_table(pa.table({"id": range(len(values)), "v": values}), folder / "a.orc")
    (chunk,) = chunks(folder, "orc")
    return chunk.batch["v"]


OUT_OF_RANGE = {
    "year 1": (pa.array([0, YEAR_1], TIME), "0001-01-01 00:00:00"),
    "year 0": (pa.array([YEAR_1 - 86_400_000_000], TIME), "0000-12-31 00:00:00"),
    "before year 0": (pa.array([-(10**17)], TIME), "-1199-02-15 14:13:20"),
    "after 2262": (pa.array([YEAR_2500], TIME), "2500-01-01 00:00:00.000005"),
    "after 9999": (pa.array([253_402_300_800_000_000], TIME), r"\+10000-01-01 00:00:00"),
    "with a zone": (pa.array([YEAR_1], pa.timestamp("us", "UTC")), "0001-01-01 00:00:00"),
    "in a struct": (pa.array([{"t": YEAR_1}], pa.struct([("t", TIME)])), "0001-01-01 00:00:00"),
    "in a list": (pa.array([[YEAR_1]], pa.list_(TIME)), "0001-01-01 00:00:00"),
    "in a map": (pa.array([[("a", YEAR_1)]], pa.map_(pa.string(), TIME)), "0001-01-01 00:00:00"),
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_a_timestamp_out_of_range_is_refused_with_file_column_value_and_a_next_step(tmp_path, name):
    values, text = OUT_OF_RANGE[name]
    with pytest.raises(
        PermanentError, match=rf"{tmp_path}/a.orc .* column 'v' holds the timestamp {text}, .*spark.read.orc"
    ):
        column(tmp_path, values)


def test_other_columns_of_a_file_with_a_timestamp_out_of_range_are_read(tmp_path):
    orc.write_table(pa.table({"id": [7], "v": pa.array([YEAR_1], TIME)}), tmp_path / "a.orc")
    only_id = OrcInputFormat().only(frozenset({"id"}))
    with (tmp_path / "a.orc").open("rb") as plain:
        (chunk,) = only_id.read(OpenFile(plain, "a.orc", ""))
    assert chunk.batch.to_pylist() == [{"id": 7}]


def test_nanoseconds_are_rounded_down_to_microseconds(tmp_path):
    found = column(tmp_path, pa.array([-1, -1000, -1001, 1999, None], pa.timestamp("ns")))
    assert found.cast(pa.int64()).to_pylist() == [-1, -1, -2, 1, None]


def test_dates_of_all_years_are_read(tmp_path):
    days = [-(10**8), -719_529, -719_162, 0, 2_932_897, 10**8]
    assert column(tmp_path, pa.array(days, pa.int32()).cast(pa.date32())).cast(pa.int32()).to_pylist() == days


@pytest.mark.parametrize("depth", [0, 1])
def test_a_union_is_refused_with_file_and_column(tmp_path, depth):
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])
    values = pa.StructArray.from_arrays([union], ["u"]) if depth else union
    with pytest.raises(PermanentError, match=rf"{tmp_path}/a.orc .* column 'v' holds a union.*string"):
        column(tmp_path, values)
