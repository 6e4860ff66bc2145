from __future__ import annotations

import bz2
import gzip
import io
import json
import zlib
from datetime import UTC, date, datetime
from decimal import Decimal

import fastavro
import pyarrow as pa
import pytest
from pyarrow import orc, parquet
from structlog.testing import capture_logs

from gluepot.connectors.files.compression import decompressed
from gluepot.core.errors import ConfigError, PermanentError
from tests.unit.files.reading import chunks, errors, records

ROWS = [{"id": 1, "text": "a"}, {"id": 2, "text": "ü,"}]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
CODEC = pa.Codec("snappy")


def hadoop_snappy(data: bytes) -> bytes:
    blocks = [data[at : at + 20] for at in range(0, len(data), 20)]
    packed = [bytes(CODEC.compress(block)) for block in blocks]
    return len(data).to_bytes(4) + b"".join(len(one).to_bytes(4) + one for one in packed)


def framed_snappy(data: bytes) -> bytes:
    packed = bytes(CODEC.compress(data))
    body = b"\0\0\0\0" + packed
    return b"\xff\x06\x00\x00sNaPpY" + b"\x00" + len(body).to_bytes(3, "little") + body + b"\xfe\x02\x00\x00pp"


COMPRESSED = {
    "a.json": LINES,
    "a.gz": gzip.compress(LINES),
    "two-members.gz": gzip.compress(LINES[:10]) + gzip.compress(LINES[10:]),
    "a.bz2": bz2.compress(LINES),
    "two-streams.bz2": bz2.compress(LINES[:10]) + bz2.compress(LINES[10:]),
    "two-streams.deflate": zlib.compress(LINES[:10]) + zlib.compress(LINES[10:]),
    "a.json.zst": pa.compress(LINES, "zstd", asbytes=True),
    "a.json.deflate": zlib.compress(LINES),
    "a.snappy": hadoop_snappy(LINES),
    "b.snappy": framed_snappy(LINES),
}


@pytest.mark.parametrize("name", COMPRESSED)
def test_json_lines_are_read_however_they_are_compressed(tmp_path, name):
    (tmp_path / name).write_bytes(COMPRESSED[name])
    assert records(tmp_path, "json") == ROWS


def test_lz4_is_read(tmp_path):
    with pa.CompressedOutputStream(str(tmp_path / "a.lz4"), "lz4") as out:
        out.write(LINES)
    assert records(tmp_path, "json") == ROWS


def test_the_option_outweighs_the_name(tmp_path):
    (tmp_path / "a.json").write_bytes(gzip.compress(LINES))
    assert records(tmp_path, "json", {"compressionType": "gzip"}) == ROWS


@pytest.mark.parametrize("name", [name for name in COMPRESSED if name != "a.json"])
def test_a_file_cut_short_is_named(tmp_path, name):
    (tmp_path / name).write_bytes(COMPRESSED[name][:-9])
    with pytest.raises(PermanentError, match=rf"{name} is damaged or was not written to its end"):
        records(tmp_path, "json")


@pytest.mark.parametrize("name", ["a.gz", "a.bz2", "a.json.deflate", "a.json.zst", "a.snappy"])
def test_bytes_behind_the_end_that_are_no_stream_are_named(tmp_path, name):
    (tmp_path / name).write_bytes(COMPRESSED[name] + b'{"id": 9}\n')
    with pytest.raises(PermanentError, match=rf"{name} is damaged or was not written to its end"):
        records(tmp_path, "json")


def test_a_small_file_that_would_become_huge_is_named():
    bomb = bz2.compress(bytes(1 << 20))
    plain = decompressed(io.BytesIO(bomb), "bzip2", len(bomb), "bomb.bz2", free_bytes=1 << 10)
    with pytest.raises(PermanentError, match=r"bomb.bz2 grows to more than 500 times its size"):
        plain.read()


def test_a_small_file_may_grow_freely_up_to_a_limit():
    bomb = bz2.compress(bytes(1 << 20))
    plain = decompressed(io.BytesIO(bomb), "bzip2", len(bomb), "bomb.bz2", free_bytes=1 << 20)
    assert len(plain.read()) == 1 << 20


def test_a_broken_line_is_set_aside_with_file_and_byte(tmp_path):
    (tmp_path / "a").write_bytes(b'\xef\xbb\xbf{"id": 1}\r\n\n{"id": \n{"id": 3}')
    assert records(tmp_path, "json") == [{"id": 1}, {"id": 3}]
    (error,) = errors(tmp_path, "json")
    assert (error.raw, error.reason) == (b'{"id": ', "malformed_json")
    assert (error.at.stream, error.at.position) == (f"{tmp_path}/a", "15")


def test_fail_fast_ends_the_job_at_a_broken_line(tmp_path):
    (tmp_path / "a").write_bytes(b"{")
    with pytest.raises(PermanentError, match=r"/a, byte 0: .* The job fails because of isFailFast"):
        records(tmp_path, "json", {"isFailFast": True})


def test_a_line_longer_than_a_block_is_one_record(tmp_path):
    long = {"id": 1, "text": "x" * (9 << 20)}
    (tmp_path / "a").write_text(json.dumps({"id": 0}) + "\n" + json.dumps(long) + "\n" + json.dumps({"id": 2}))
    assert [row["id"] for row in records(tmp_path, "json")] == [0, 1, 2]


@pytest.mark.parametrize("text", ['[{"id": 1}, {"id": 2}]', '[{"id": 1}]\n{"id": 2}\n', '{"id": 1}\n[{"id": 2}]'])
def test_a_line_may_be_an_array_of_records(tmp_path, text):
    (tmp_path / "a").write_text(text)
    assert records(tmp_path, "json") == [{"id": 1}, {"id": 2}]


@pytest.mark.parametrize(
    "text",
    ['{\n"id": 1\n}\n{"id":\n2}', '[\n{"id": 1},\n{"id": 2}]', '{"id": 1}{"id": 2}', ' \n{"id": 1}\n \n{"id": 2}\n'],
)
@pytest.mark.parametrize("name", ["multiLine", "multiline"])
def test_documents_may_spread_over_lines(tmp_path, text, name):
    (tmp_path / "a").write_text(text)
    assert records(tmp_path, "json", **{name: "true"}) == [{"id": 1}, {"id": 2}]


def test_of_documents_over_several_lines_a_broken_one_is_set_aside(tmp_path):
    (tmp_path / "a").write_text('{"id":\n1}\n{"id" 2}\n{"t": "}{",\n"id": 3}\n{"id"')
    assert [row["id"] for row in records(tmp_path, "json", multiLine=True)] == [1, 3]
    assert [error.raw for error in errors(tmp_path, "json", multiLine=True)] == [b'{"id" 2}', b'{"id"']


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("$.records[*]", '{"records": [{"id": 1}, {"id": 2}]}'),
        ("$.records.[*]", '{"records": [{"id": 1}, {"id": 2}]}'),
        ("$[*]", '[{"id": 1}, {"id": 2}]'),
        ("$.all[1][*]", '{"all": [[], [{"id": 1}, {"id": 2}]]}'),
        ("$[*].a['b']", '[{"a": {"b": {"id": 1}}}, {"x": 0}, {"a": {"b": {"id": 2}}}]'),
        ("$.records[*]", '{"records": [{"id": 1}]}\n{"records": [{"id": 2}]}'),
    ],
)
def test_a_path_leads_to_the_records(tmp_path, path, text):
    (tmp_path / "a").write_text(text)
    assert records(tmp_path, "json", jsonPath=path) == [{"id": 1}, {"id": 2}]


@pytest.mark.parametrize("path", ["records", "$..x", "$.a[0", "$.a[-1]"])
def test_a_path_that_is_not_understood_is_said(tmp_path, path):
    with pytest.raises(ConfigError, match="jsonPath is"):
        records(tmp_path, "json", jsonPath=path)


def test_documents_that_a_path_leads_nowhere_in_are_counted(tmp_path):
    (tmp_path / "a").write_text('{"a": [{"id": 1}]}\n{"A": [{"id": 2}]}\n{"a": {"id": 3}}\n{"a": []}\n')
    (tmp_path / "b").write_text('{"a": []}\n')
    with capture_logs() as logs:
        assert records(tmp_path, "json", jsonPath="$.a[*]") == [{"id": 1}]
    (line,) = logs
    assert line.items() >= {"event": "documents_without_records", "documents": 2, "of": 4}.items()


TYPED = pa.table(
    {
        "small": pa.array([1], pa.uint8()),
        "word": pa.array(["a"]).dictionary_encode(),
        "at": pa.array([datetime(2024, 1, 2, tzinfo=UTC)], pa.timestamp("ns", "UTC")),
        "many": pa.array([[1, 2]], pa.large_list(pa.int64())),
        "price": pa.array([Decimal("1.50")], pa.decimal128(5, 2)),
    }
)
TYPED_ROW = {
    "small": 1,
    "word": "a",
    "at": datetime(2024, 1, 2, tzinfo=UTC),
    "many": [1, 2],
    "price": Decimal("1.50"),
}


def test_parquet_has_its_own_types(tmp_path):
    parquet.write_table(TYPED, tmp_path / "a.parquet", compression="zstd")
    (chunk,) = chunks(tmp_path, "parquet")
    assert records(tmp_path, "parquet") == [TYPED_ROW]
    assert [str(one.type) for one in chunk.batch.schema] == [
        "int16", "string", "timestamp[us, tz=UTC]", "list<element: int64>", "decimal128(5, 2)"
    ]  # fmt: skip


def test_a_time_stamp_as_spark_wrote_it_is_a_point_in_time(tmp_path):
    table = pa.table({"at": pa.array([datetime(2024, 1, 2)], pa.timestamp("ns"))})
    parquet.write_table(table, tmp_path / "a.parquet", use_deprecated_int96_timestamps=True)
    assert records(tmp_path, "parquet") == [{"at": datetime(2024, 1, 2, tzinfo=UTC)}]


def test_orc_has_its_own_types(tmp_path):
    orc.write_table(pa.table({"id": [1, 2], "text": ["a", "ü,"]}), tmp_path / "a.orc")
    assert records(tmp_path, "orc") == ROWS


def test_avro_has_its_own_types(tmp_path):
    schema = {
        "type": "record",
        "name": "row",
        "fields": [
            {"name": "id", "type": "int"},
            {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}]},
            {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}},
            {"name": "tags", "type": {"type": "map", "values": "string"}},
        ],
    }
    row = {"id": 1, "day": date(2024, 1, 2), "price": Decimal("1.50"), "tags": {"a": "b"}}
    with (tmp_path / "a.avro").open("wb") as file:
        fastavro.writer(file, schema, [row], codec="deflate")
    assert records(tmp_path, "avro") == [row]
    assert chunks(tmp_path, "avro")[0].batch.schema.field("id").type == pa.int32()


def test_an_avro_block_of_large_records_comes_in_several_chunks(tmp_path):
    schema = {"type": "record", "name": "R", "fields": [{"name": "v", "type": {"type": "array", "items": "string"}}]}
    with (tmp_path / "a.avro").open("wb") as file:
        fastavro.writer(file, schema, [{"v": [""] * 250_000}] * 10, sync_interval=1 << 30)
    assert [chunk.batch.num_rows for chunk in chunks(tmp_path, "avro")] == [4, 4, 2]


def test_an_avro_field_of_two_types_is_a_choice(tmp_path):
    schema = {"type": "record", "name": "row", "fields": [{"name": "v", "type": ["int", "string"]}]}
    with (tmp_path / "a.avro").open("wb") as file:
        fastavro.writer(file, schema, [{"v": 1}, {"v": "x"}])
    assert records(tmp_path, "avro") == [{"v": 1}, {"v": "x"}]


def test_a_union_in_an_avro_file_leaves_the_types_of_other_fields_as_they_are(tmp_path):
    click = {"type": "record", "name": "Click", "fields": [{"name": "id", "type": "int"}]}
    union = ["null", "int", "string", {"type": "map", "values": "long"}, click]
    fields = {"i": "int", "m": {"type": "map", "values": "float"}, "u": union, "c": ["null", "Click"], "n": "null"}
    schema = {"type": "record", "name": "row", "fields": [{"name": name, "type": one} for name, one in fields.items()]}
    rest = {"i": 7, "m": {"a": 0.5}, "c": {"id": 2}, "n": None}
    held = [None, 1, "x", {"id": 9}, ("Click", {"id": 3})]
    with (tmp_path / "a.avro").open("wb") as file:
        fastavro.writer(file, schema, [{**rest, "u": one} for one in held])
    (chunk,) = chunks(tmp_path, "avro")
    assert chunk.batch.schema.field("i").type == pa.int32()
    assert chunk.batch.schema.field("m").type == pa.map_(pa.string(), pa.float32())
    assert chunk.batch.drop_columns(["u"]).to_pylist() == [{**rest, "m": [("a", 0.5)]}] * len(held)
    nothing = dict.fromkeys(("int", "string", "map", "struct"))
    assert chunk.batch["u"].to_pylist() == [
        None,
        {**nothing, "int": 1},
        {**nothing, "string": "x"},
        {**nothing, "map": [("id", 9)]},
        {**nothing, "struct": {"id": 3}},
    ]


@pytest.mark.parametrize("name", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("content", [b"", b"no such file", b"PARQ"])
def test_a_file_of_another_format_is_named(tmp_path, name, content):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(PermanentError, match=rf"{tmp_path}/a is not "):
        records(tmp_path, name)


def test_an_unknown_format_names_those_there_are(tmp_path):
    with pytest.raises(ConfigError, match=r"'jsonn'; use one of avro, csv, .*'json'"):
        records(tmp_path, "jsonn")
