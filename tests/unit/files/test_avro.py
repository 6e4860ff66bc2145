"""Avro files: which types become which columns, and what a file that cannot be read is told."""

from __future__ import annotations

import bz2
import lzma
import zlib
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from gluepot.core.errors import ConfigError, PermanentError
from tests.unit.files.avro_bytes import avro_file, avro_number
from tests.unit.files.reading import chunks, records

FIVE = avro_number(5)
MILLIS = datetime(1970, 1, 1, 0, 0, 0, 5000)
MICROS = datetime(1970, 1, 1, 0, 0, 0, 5)
TEXT = avro_number(1) + b"x"
UUID = "00000000-0000-0000-0000-000000000005"
BINARY = pa.binary()
INSTANT = pa.timestamp("us", "UTC")


def logical(stored: str, meaning: object, **more: object) -> dict[str, object]:
    return {"type": stored, "logicalType": meaning, **more}


def fixed(size: int, meaning: str, **more: object) -> dict[str, object]:
    return logical("fixed", meaning, name="F", size=size, **more)


def record(kind: object, name: str = "R") -> dict[str, object]:
    return {"type": "record", "name": name, "fields": [{"name": "v", "type": kind}]}


def write(folder, kind: object, datum: bytes, count: int = 1) -> None:
    (folder / "a.avro").write_bytes(avro_file(record(kind), count, datum * count))


def column(folder, **options: object) -> tuple[pa.DataType, list[object]]:
    (chunk,) = chunks(folder, "avro", **options)
    return chunk.batch.schema.field("v").type, chunk.batch["v"].to_pylist()


def block_of(data: bytes) -> int:
    """Return the byte at which the only block of a file begins: after the end of the metadata and the sync marker."""
    return data.index(bytes(17)) + 17


# As spark-avro 4.1 reads them; docs/glue 5.2 agrees where it names a type.
TYPES = {
    "date": (logical("int", "date"), FIVE, pa.date32(), date(1970, 1, 6)),
    "time-millis": (logical("int", "time-millis"), FIVE, pa.int32(), 5),
    "time-micros": (logical("long", "time-micros"), FIVE, pa.int64(), 5),
    "timestamp-millis": (logical("long", "timestamp-millis"), FIVE, INSTANT, MILLIS.replace(tzinfo=UTC)),
    "timestamp-micros": (logical("long", "timestamp-micros"), FIVE, INSTANT, MICROS.replace(tzinfo=UTC)),
    "timestamp-nanos": (logical("long", "timestamp-nanos"), FIVE, pa.int64(), 5),
    "local-timestamp-millis": (logical("long", "local-timestamp-millis"), FIVE, pa.timestamp("us"), MILLIS),
    "local-timestamp-micros": (logical("long", "local-timestamp-micros"), FIVE, pa.timestamp("us"), MICROS),
    "local-timestamp-nanos": (logical("long", "local-timestamp-nanos"), FIVE, pa.int64(), 5),
    "uuid": (logical("string", "uuid"), avro_number(36) + UUID.encode(), pa.string(), UUID),
    "uuid in other letters": (logical("string", "uuid"), TEXT, pa.string(), "x"),
    "uuid on fixed": (fixed(16, "uuid"), bytes(range(16)), BINARY, bytes(range(16))),
    "duration": (fixed(12, "duration"), bytes(12), BINARY, bytes(12)),
    "big-decimal": (logical("bytes", "big-decimal"), TEXT, BINARY, b"x"),
    "decimal on bytes": (
        logical("bytes", "decimal", precision=5, scale=2),
        avro_number(2) + b"\xff\x85",
        pa.decimal128(5, 2),
        Decimal("-1.23"),
    ),
    "decimal on fixed": (fixed(3, "decimal", precision=5), b"\0\x01\x02", pa.decimal128(5, 0), Decimal(258)),
    "decimal of 38 digits": (
        logical("bytes", "decimal", precision=38, scale=38),
        avro_number(1) + b"\x05",
        pa.decimal128(38, 38),
        Decimal(5).scaleb(-38),
    ),
    # What does not count is ignored, as Avro says.
    "unknown": (logical("string", "colour"), TEXT, pa.string(), "x"),
    "no name": (logical("string", ["uuid"]), TEXT, pa.string(), "x"),
    "date on long": (logical("long", "date"), FIVE, pa.int64(), 5),
    "timestamp on int": (logical("int", "timestamp-millis"), FIVE, pa.int32(), 5),
    "uuid on bytes": (logical("bytes", "uuid"), TEXT, BINARY, b"x"),
    "decimal on string": (logical("string", "decimal", precision=2), TEXT, pa.string(), "x"),
    "decimal without precision": (logical("bytes", "decimal"), TEXT, BINARY, b"x"),
    "decimal of no digits": (logical("bytes", "decimal", precision=0), TEXT, BINARY, b"x"),
    "decimal with a larger scale": (logical("bytes", "decimal", precision=2, scale=3), TEXT, BINARY, b"x"),
    "decimal beyond its fixed": (fixed(2, "decimal", precision=5), b"ab", BINARY, b"ab"),
    # Types within types.
    "nested type": ({"type": logical("int", "time-millis")}, FIVE, pa.int32(), 5),
    "array": (
        {"type": "array", "items": ["null", logical("long", "timestamp-millis")]},
        avro_number(2) + avro_number(1) + FIVE + avro_number(0) * 2,
        pa.list_(pa.field("element", INSTANT)),
        [MILLIS.replace(tzinfo=UTC), None],
    ),
    "map": (
        {"type": "map", "values": logical("long", "time-micros")},
        avro_number(1) + TEXT + FIVE + avro_number(0),
        pa.map_(pa.string(), pa.int64()),
        [("x", 5)],
    ),
    "union": (["null", logical("int", "time-millis")], avro_number(1) + FIVE, pa.int32(), 5),
    "union with a date": (
        ["null", "string", logical("int", "date")],
        avro_number(2) + FIVE,
        pa.struct([pa.field("date", pa.date32()), pa.field("string", pa.string())]),
        {"date": date(1970, 1, 6), "string": None},
    ),
    "empty record": ({"type": "record", "name": "E", "fields": []}, b"", pa.struct([]), {}),
    "enum": ({"type": "enum", "name": "E", "symbols": ["A", "B"], "default": "C"}, avro_number(1), pa.string(), "B"),
}


@pytest.mark.parametrize("name", TYPES)
def test_a_type_becomes_the_column_that_spark_reads(tmp_path, name):
    kind, datum, wanted, value = TYPES[name]
    write(tmp_path, kind, datum)
    assert column(tmp_path) == (wanted, [value])


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        ("1.7", [pa.int32(), BINARY, pa.int64(), pa.int64(), pa.int64()]),
        ("1.8", [pa.date32(), pa.decimal128(2, 0), INSTANT, pa.int64(), pa.int64()]),
    ],
)
def test_a_version_of_the_reader_decides_which_logical_types_it_knows(tmp_path, version, wanted):
    kinds = [
        logical("int", "date"),
        logical("bytes", "decimal", precision=2),
        *(logical("long", name) for name in ("timestamp-millis", "timestamp-micros", "local-timestamp-millis")),
    ]
    fields = [{"name": f"v{number}", "type": kind} for number, kind in enumerate(kinds)]
    block = FIVE + avro_number(1) + b"\x05" + FIVE * 3
    (tmp_path / "a.avro").write_bytes(avro_file({"type": "record", "name": "R", "fields": fields}, 1, block))
    (chunk,) = chunks(tmp_path, "avro", version=version)
    assert chunk.batch.schema.types == wanted


def test_a_version_that_glue_does_not_have_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"version is '1\.9'; give '1\.8'"):
        chunks(tmp_path, "avro", version="1.9")


def test_a_time_stamp_may_lie_beyond_the_year_9999(tmp_path):
    write(tmp_path, logical("long", "timestamp-micros"), avro_number(2**62))
    (chunk,) = chunks(tmp_path, "avro")
    assert chunk.batch["v"].cast(pa.int64()).to_pylist() == [2**62]


def test_named_types_are_found_by_their_namespaces(tmp_path):
    inner = {"type": "fixed", "name": "F", "namespace": "b", "size": 1, "aliases": ["G"]}
    fields = [{"name": "v", "type": inner}, {"name": "w", "type": "b.F"}, {"name": "x", "type": ["null", "b.F"]}]
    schema = {"type": "record", "name": "R", "namespace": "a", "fields": fields}
    (tmp_path / "a.avro").write_bytes(avro_file(schema, 1, b"12" + avro_number(1) + b"3"))
    assert records(tmp_path, "avro") == [{"v": b"1", "w": b"2", "x": b"3"}]


def test_a_default_value_that_its_field_cannot_have_is_ignored(tmp_path):
    schema = {"type": "record", "name": "R", "fields": [{"name": "v", "type": ["string", "null"], "default": None}]}
    (tmp_path / "a.avro").write_bytes(avro_file(schema, 1, avro_number(1)))
    assert column(tmp_path) == (pa.string(), [None])


def test_a_file_without_records_has_none(tmp_path):
    data = avro_file(record("int"), 0, b"")
    (tmp_path / "a.avro").write_bytes(data)
    (tmp_path / "b.avro").write_bytes(data[:-18])
    assert records(tmp_path, "avro") == []


def test_records_without_columns_are_counted(tmp_path):
    (tmp_path / "a.avro").write_bytes(avro_file({"type": "record", "name": "R", "fields": []}, 3, b""))
    (chunk,) = chunks(tmp_path, "avro")
    assert chunk.batch.num_rows == 3


def test_files_of_different_schemas_are_read_one_by_one(tmp_path):
    (tmp_path / "a.avro").write_bytes(avro_file(record(logical("int", "time-millis")), 1, FIVE))
    (tmp_path / "b.avro").write_bytes(avro_file(record("string"), 1, TEXT))
    assert [chunk.batch.schema.field("v").type for chunk in chunks(tmp_path, "avro")] == [pa.int32(), pa.string()]


MAP = {"type": "map", "values": "int"}
PLAIN = avro_number(100) + b"x" * 100
PACKED = {
    "null": PLAIN,
    "deflate": zlib.compress(PLAIN)[2:-4],
    "bzip2": bz2.compress(PLAIN),
    "xz": lzma.compress(PLAIN),
    "zstandard": pa.compress(PLAIN, "zstd", asbytes=True),
    "snappy": pa.compress(PLAIN, "snappy", asbytes=True) + zlib.crc32(PLAIN).to_bytes(4),
}


@pytest.mark.parametrize("codec", PACKED)
def test_a_block_of_each_codec_is_read(tmp_path, codec):
    (tmp_path / "a.avro").write_bytes(avro_file(record("string"), 1, PACKED[codec], codec))
    assert records(tmp_path, "avro") == [{"v": "x" * 100}]


@pytest.mark.parametrize("codec", PACKED)
def test_a_block_whose_packed_bytes_end_early_is_told_with_its_position(tmp_path, codec):
    data = avro_file(record("string"), 1, PACKED[codec][:-1], codec)
    (tmp_path / "a.avro").write_bytes(data)
    block_at = block_of(data)
    with pytest.raises(PermanentError, match=f"a.avro is an Avro file that cannot .* begins at byte {block_at} "):
        records(tmp_path, "avro")


def test_a_file_is_told_where_it_ends_wherever_it_is_cut(tmp_path):
    data = avro_file(record("string"), 1, TEXT)
    whole = {len(data), block_of(data)}
    for length in set(range(4, len(data))) - whole:
        (tmp_path / "a.avro").write_bytes(data[:length])
        with pytest.raises(PermanentError, match=f"is an Avro file that ends early: in .* at byte {length}; write"):
            records(tmp_path, "avro")


@pytest.mark.parametrize(
    ("kind", "count", "block", "said"),
    [
        ("string", 2, TEXT, "cannot be read in the block that begins at byte 128"),
        ("string", 1, TEXT * 2, "cannot be read in the block that begins at byte 128"),
        ("string", 1, avro_number(1) + b"\xff", "cannot be read in the block that begins at byte 128"),
        ("string", -1, TEXT, "its number of records is -1"),
        (["null", "int"], 1, avro_number(7), "cannot be read in the block"),
        (logical("bytes", "decimal", precision=1), 1, TEXT, r"record 1 that the column 'v' of type decimal128\(1, 0\)"),
        (logical("long", "timestamp-millis"), 1, avro_number(2**62), "record 1 that the column 'v' of type timestamp"),
    ],
)
def test_a_damaged_block_is_told_with_its_position(tmp_path, kind, count, block, said):
    (tmp_path / "a.avro").write_bytes(avro_file(record(kind), count, block))
    with pytest.raises(PermanentError, match=f"a.avro is an Avro file that .*{said}"):
        records(tmp_path, "avro")


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (record(logical("bytes", "decimal", precision=39)), r"column 'v' is a decimal of 39 digits.*'version': '1.7'"),
        (record({"type": "array", "items": ["null", "R"]}), "column 'v' has the record R, which holds itself"),
        ('"int"', "its values are not records"),
        (["null", record("int")], "its values are not records"),
        ('{"type": "record"', "its schema cannot be read"),
        ('{"type": "record", "name": "R"}', "its schema is not valid"),
        (record("nothing"), "its schema is not valid"),
        (
            record([record(MAP, "A"), record(record("int", "I"), "B")]),
            "field 'v' is a map in one and a record in another",
        ),
    ],
)
def test_a_schema_without_columns_is_told(tmp_path, schema, said):
    (tmp_path / "a.avro").write_bytes(avro_file(schema, 1, TEXT))
    with pytest.raises(PermanentError, match=f"The Avro file .*a.avro cannot be read: .*{said}.*, or leave the file"):
        records(tmp_path, "avro")


def test_an_unknown_codec_is_told_with_those_there_are(tmp_path):
    (tmp_path / "a.avro").write_bytes(avro_file(record("string"), 1, TEXT, "lzo"))
    with pytest.raises(
        PermanentError, match=r"a.avro is an Avro file that is compressed with 'lzo'; .* null, deflate,"
    ):
        records(tmp_path, "avro")


FIXED = {"type": "fixed", "name": "F", "size": 1}
INNER = {"type": "record", "name": "I", "fields": [{"name": "x", "type": "int"}]}


@pytest.mark.parametrize(
    ("kind", "datum", "value"),
    [
        (["int", "long", "double"], avro_number(1) + avro_number(2**53 + 1), 2**53 + 1),
        ({"type": "map", "values": ["int", "string"]}, avro_number(1) + TEXT + avro_number(0) + FIVE + b"\0", {"x": 5}),
        ([record(INNER, "A"), record("string", "B")], avro_number(0) + FIVE, {"v": {"x": 5}}),
        ([record(FIXED, "A"), "F", "string"], avro_number(1) + b"y", b"y"),
    ],
    ids=["numbers of two kinds", "choice in a map", "fields of two records", "reference to a fixed type"],
)
def test_a_union_of_several_types_is_read(tmp_path, kind, datum, value):
    write(tmp_path, kind, datum)
    assert records(tmp_path, "avro") == [{"v": value}]
