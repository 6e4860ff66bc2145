"""Parquet files: which types become which columns, and what is told of a type that neither Glue nor Spark has."""

from __future__ import annotations

import base64
import zlib
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pyarrow as pa
import pytest
from pyarrow import parquet

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.parquet.read import ParquetInputFormat
from gluepot.core.errors import PermanentError
from tests.duck import duck
from tests.unit.files.reading import chunks

TEXT = "00010203-0405-0607-0809-0a0b0c0d0e0f"
PLAIN = pa.array([UUID(TEXT).bytes, None, UUID(int=0).bytes], pa.uuid())
TEXTS = [TEXT, None, str(UUID(int=0))]
INSTANT = pa.timestamp("us", "UTC")


def column(folder, values: pa.Array, **options: object) -> tuple[pa.DataType, list[object]]:
    parquet.write_table(pa.table({"v": values}), folder / "a.parquet", **options)
    (chunk,) = chunks(folder, "parquet")
    return chunk.batch.schema.field("v").type, chunk.batch["v"].to_pylist()


COLUMNS = {
    "uuid": (PLAIN, pa.string(), TEXTS),
    "sliced uuid": (PLAIN.slice(1), pa.string(), TEXTS[1:]),
    "uuids of nulls": (pa.nulls(2, pa.uuid()), pa.string(), [None, None]),
    "json": (pa.array(['{"a":1}', None], pa.json_()), pa.string(), ['{"a":1}', None]),
    "bool8": (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1], pa.int8())), pa.int8(), [1]),
    "wide decimal of few digits": (pa.array([Decimal("1.5")], pa.decimal256(20, 2)), pa.decimal128(20, 2), [Decimal("1.50")]),
    "list of nulls": (pa.array([[None, None, None]]), pa.list_(pa.field("element", pa.null())), [[None, None, None]]),
    "list view": (pa.array([[1, 2], None, [3]], pa.list_view(pa.int64())), pa.list_(pa.field("element", pa.int64())), [[1, 2], None, [3]]),
    "list of uuids": (
        pa.ListArray.from_arrays([0, 1, 1, 3], PLAIN, mask=pa.array([False, True, False])),
        pa.list_(pa.field("element", pa.string())),
        [TEXTS[:1], None, TEXTS[1:]],
    ),
    "struct of uuids": (
        pa.StructArray.from_arrays([PLAIN], ["u"], mask=pa.array([False, False, True])),
        pa.struct([pa.field("u", pa.string())]),
        [{"u": TEXT}, {"u": None}, None],
    ),
    "map of uuids": (
        pa.MapArray.from_arrays([0, 2, 3], pa.array(["a", "b", "c"]), PLAIN),
        pa.map_(pa.string(), pa.string()),
        [[("a", TEXT), ("b", None)], [("c", str(UUID(int=0)))]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_an_extension_type_is_what_glue_has_for_it(tmp_path, name):
    values, kind, wanted = COLUMNS[name]
    assert column(tmp_path, values) == (kind, wanted)


def test_a_null_list_of_records_with_a_uuid_is_null(tmp_path):
    records = pa.StructArray.from_arrays([PLAIN.slice(0, 0)], ["u"])
    lists = pa.ListArray.from_arrays([0, 0], records, mask=pa.array([True]))
    assert column(tmp_path, lists)[1] == [None]


def test_a_uuid_of_a_writer_that_is_not_arrow_is_a_string(tmp_path):
    duck().execute(f"copy (select '{TEXT}'::uuid as v) to '{tmp_path}/a.parquet'")
    (chunk,) = chunks(tmp_path, "parquet")
    assert chunk.batch.to_pylist() == [{"v": TEXT}]


@pytest.mark.parametrize("kind", [pa.list_(pa.timestamp("ns")), pa.struct({"a": pa.timestamp("ns")})])
def test_int96_within_another_type_is_a_point_in_time(tmp_path, kind):
    at = datetime(2024, 1, 2)
    inner = [at] if pa.types.is_list(kind) else {"a": at}
    found, values = column(tmp_path, pa.array([inner], kind), use_deprecated_int96_timestamps=True)
    assert found.field(0).type == INSTANT
    assert values == [[at.replace(tzinfo=UTC)] if pa.types.is_list(kind) else {"a": at.replace(tzinfo=UTC)}]


def test_a_time_beyond_the_range_of_microseconds_is_not_wrapped_around(tmp_path):
    with pytest.raises(PermanentError, match=r"a\.parquet is a Parquet file that cannot be read \(Casting from"):
        column(tmp_path, pa.array([2**62], pa.timestamp("ms")))


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("1::decimal(38, 2) as w, interval 1 month", "column 'v' is an interval; write the column as a string"),
        ("1 as w, {'a': [interval 1 month]}", r"column 'v\.a\.list\.element' is an interval"),
    ],
)
def test_an_interval_is_told_with_its_column(tmp_path, sql, said):
    duck().execute(f"copy (select {sql} as v) to '{tmp_path}/a.parquet'")
    with pytest.raises(PermanentError, match=rf"The Parquet file {tmp_path}/a\.parquet cannot .*{said}"):
        chunks(tmp_path, "parquet")


def test_a_decimal_beyond_38_digits_is_told_with_its_column(tmp_path):
    with pytest.raises(PermanentError, match="its column 'v' is a decimal of 39 digits; Glue and Spark hold 38"):
        column(tmp_path, pa.array([Decimal(1)], pa.decimal256(39, 0)))


def test_the_other_columns_of_such_a_file_are_read(tmp_path):
    parquet.write_table(pa.table({"v": pa.array([Decimal(1)], pa.decimal256(39, 0)), "w": [7]}), tmp_path / "a.parquet")
    with (tmp_path / "a.parquet").open("rb") as plain:
        (chunk,) = ParquetInputFormat(frozenset({"w"})).read(OpenFile(plain, "a", ""))
    assert chunk.batch.to_pylist() == [{"w": 7}]


# Files with one column and the rows of a value and a null, from parquet-java, compressed and in base 85. pyarrow and
# DuckDB do not write such types.
JAVA = {
    "enum": (
        "c-kFM%}T>S5T0E_-9s-0cge~gg3wSwLpHHVg<b+Vh~!XwgZxY(kfb%X)mQQ8WB4fI%Q%(!|CsrPnN9X$B}hf`{rUUFjC81+NCChB"
        ";DRyonVxa&vg~Y<YsEnuC1kDu&ILhtPpp@eP3PQYr@1H!8dHuo+W27PR4*qWX#6AzRk_N2u_iK7#TWmPC}}Zq!I~&R4f0wQ@&>5c"
        "@rBB-XqRzk?_+zwG3a*<cEM2g=w9MS+3!09_jzBAuSY!G_oH{h@vYqro(*gggx;b$wq4^rgi#%@Y*@!>)I^U-7^7X;G__@o)fVeI"
        "wH0m?d#jD11AfRh^q@Z*_cYx"
    ),
    "interval": (
        "c-nnX!AiqG5S_%(<{$;3v+Tkia?nskLpIT*LNDG#Jd_;0C7US(lD5XS_GkPP{R98OU+H+O7iTW><_&KiZ~jmi1U%>d`S|)CYV;Tm"
        "&<Ah<;KYHWQd;;}2%gYY*N;wzF5n0yy3*NQTs?m>BRr**4ngBc-3`E3Od)SYA&StS$<t%Ozeu=~e^~y`&iFIT`1A$Gz>;3*i(>rC"
        "$+P#q*-#&KtD4$qS#~6cv@g4LOCX=tW&gUR%}v(_JL=z>)iN-V$)Y%zRNJPlgWEW<>D0tF&67I0&*GHK)a1D-EmaG$Ha8V5GIOc4"
        "W-|^4Gw19MJl-+r"
    ),
}


def write_of_java(folder, name: str) -> None:
    (folder / "a.parquet").write_bytes(zlib.decompress(base64.b85decode(JAVA[name])))


def test_an_enum_is_a_string(tmp_path):
    write_of_java(tmp_path, "enum")
    (chunk,) = chunks(tmp_path, "parquet")
    assert chunk.batch.schema.types == [pa.string()]
    assert chunk.batch.to_pylist() == [{"v": "A"}, {"v": None}]


def test_an_interval_of_java_is_told_although_arrow_reads_nulls(tmp_path):
    write_of_java(tmp_path, "interval")
    with pytest.raises(PermanentError, match="its column 'v' is an interval"):
        chunks(tmp_path, "parquet")
