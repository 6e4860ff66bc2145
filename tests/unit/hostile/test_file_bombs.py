"""Small files that describe records too large for the memory: each ends in one sentence, in little memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys
import zlib
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import orc, parquet

from tests.unit.files.avro_bytes import avro_file, avro_number

MOST_BYTES = 500 << 20
# A process of its own, whose largest memory is that of reading this file alone.
READ = """
import os, sys
from pathlib import Path
from gluepot.core.errors import EtlError
from tests.unit.files.reading import each_chunk
for folder in sorted(Path(sys.argv[1]).iterdir()):
    said = set()
    try:
        for chunk in each_chunk(folder, sys.argv[2], **eval(sys.argv[3])):
            said.update(error.reason for error in chunk.errors)
    except EtlError as error:
        said.add(str(error))
    print("; ".join(sorted(said)))
[peak] = [line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
print(int(peak) << 10, flush=True)
os._exit(0)  # Arrow still reads ahead in a thread of its own, which the end of the interpreter does not wait for
"""


def read(root: Path, bombs: dict[str, bytes], format_name: str, **options: object) -> dict[str, str]:
    """Return what reading each of some files says, by its name; fails if that takes too much memory."""
    for name, data in bombs.items():
        (root / name).mkdir()
        (root / name / name).write_bytes(data)
    command = [sys.executable, "-c", READ, str(root), format_name, repr(options)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert not [line for line in done.stderr.splitlines() if "header_names_changed" not in line]
    *said, peak_bytes = done.stdout.splitlines()
    assert int(peak_bytes) < MOST_BYTES
    return dict(zip(sorted(bombs), said, strict=True))


def gzipped(head: bytes, filling: bytes, times: int, tail: bytes) -> bytes:
    """Return gzip of a megabyte of a filling, so many times, between a head and a tail."""
    block = gzip.compress(filling * ((1 << 20) // len(filling)))
    return gzip.compress(head) + block * times + gzip.compress(tail)


def record(name: str, **fields: object) -> dict:
    return {"type": "record", "name": name, "fields": [{"name": at, "type": kind} for at, kind in fields.items()]}


def nested(levels: int) -> dict:
    """Return a record that holds each level twice in the next, so that one datum of no bytes has 2^levels values."""
    schema: object = "null"
    for level in range(levels):
        schema = record(f"R{level}", a=schema, b=f"R{level - 1}" if level else "null")
    return schema


NULLS = record("R", a={"type": "array", "items": "null"})
TEXT = record("R", a="string")
BITS = record("R", a={"type": "array", "items": record("B", b="boolean")})
LINKED = record("R", next=["null", "R"])
ENDLESS = record("R", next="R")


def avro_bombs() -> dict[str, bytes]:
    return {
        "array_of_nulls": avro_file(NULLS, 1, avro_number(600_000_000) + b"\0"),
        "many_arrays_of_nulls": avro_file(NULLS, 100_000, (avro_number(90_000) + b"\0") * 100_000),
        "records_without_bytes": avro_file(record("R", a="null"), 10**15, b""),
        "array_of_small_records": avro_file(BITS, 1, avro_number(20_000_000) + bytes(20_000_001)),
        "deep": avro_file(LINKED, 1, b"\2" * 3_000_000 + b"\0"),
        "endless": avro_file(ENDLESS, 1, b""),
        "names_within_names": avro_file(nested(40), 1, b""),
        "deep_schema": avro_file('{"type":"array","items":' * 50_000, 1, b"\0"),
        "long_text": avro_file(TEXT, 1, avro_number(2**50)),
        "deflate": avro_file(TEXT, 1, zlib.compress(bytes(80 << 20), 9)[2:-4], "deflate"),
        "bzip2": avro_file(TEXT, 1, bz2.compress(bytes(80 << 20)), "bzip2"),
        "xz": avro_file(TEXT, 1, lzma.compress(bytes(80 << 20), preset=0), "xz"),
        "zstandard": avro_file(TEXT, 1, pa.compress(bytes(80 << 20), "zstd", asbytes=True), "zstandard"),
        "snappy": avro_file(TEXT, 1, b"\xff\xff\xff\xff\x0f" + bytes(100), "snappy"),
    }


def test_avro(tmp_path):
    bombs = avro_bombs()
    assert {name for name, said in read(tmp_path, bombs, "avro").items() if name in said} == set(bombs)


def xml_bombs() -> dict[str, bytes]:
    return {
        "deep.gz": gzip.compress(b"<a><row>" + b"<b>" * 900 + b"</b>" * 900 + b"</row></a>"),
        "deep_outside_of_records.gz": gzipped(b"<a>", b"<b>", 10, b""),
        "wide.gz": gzipped(b"<a><row>", b"<b/>", 100, b"</row></a>"),
        "long_text.gz": gzipped(b"<a><row>", b"x", 400, b"</row></a>"),
        "long_name.gz": gzipped(b"<a><row><x", b"x", 400, b"/></row></a>"),
        "entities.gz": gzipped(
            b'<!DOCTYPE a [<!ENTITY e "' + b"x" * 80_000 + b'">]><a><row>', b"&e;", 2, b"</row></a>"
        ),
    }


def test_xml(tmp_path):
    bombs = xml_bombs()
    assert {name for name, said in read(tmp_path, bombs, "xml", rowTag="row").items() if name in said} == set(bombs)


def json_bombs() -> dict[str, bytes]:
    keys = b",".join(b'"k%d":1' % at for at in range(100_000))
    return {
        "long_line.gz": gzipped(b'{"a":"', b"x", 400, b'"}'),
        "long_text.gz": gzipped(b'{"a":"', b"x", 50, b'"}'),
        "numbers.gz": gzipped(b'{"a":[0', b",0", 50, b"]}"),
        "objects.gz": gzipped(b'{"a":[{}', b",{}", 50, b"]}"),
        "lines_of_objects.gz": gzip.compress((b'{"a":[{}' + b",{}" * 80_000 + b"]}\n") * 50),
        "deep.gz": gzipped(b'{"a":', b"[", 20, b"}"),
        "deep_objects.gz": gzipped(b'{"a":', b'{"a":', 20, b"}"),
        "long_number.gz": gzipped(b'{"a":1', b"0", 20, b"}"),
        "many_columns": b"{" + keys + b"}",
        "array_line.gz": gzipped(b'[{"a":0}', b',{"a":0}', 10, b"]"),
        "quotes.gz": gzipped(b'{"a":[', b'\\"', 20, b"]}"),
    }


# Records of these are many but small, or just large enough to be read.
READ_WHOLE = {"array_line.gz", "long_text.gz", "lines_of_objects.gz"}


def test_json(tmp_path):
    said = read(tmp_path, json_bombs(), "json")
    assert said.pop("long_line.gz").count("has a line of more than 64 MiB") == 1
    assert {name: said.pop(name) for name in READ_WHOLE} == dict.fromkeys(READ_WHOLE, "")
    assert said == {
        "numbers.gz": "too_large",
        "objects.gz": "too_large",
        "deep.gz": "too_deep",
        "deep_objects.gz": "too_deep",
        "long_number.gz": "malformed_json",
        "many_columns": "too_large",
        "quotes.gz": "malformed_json",
    }


def test_json_over_several_lines(tmp_path):
    wanted = {"long_line.gz", "array_line.gz", "quotes.gz"}
    said = read(tmp_path, {name: data for name, data in json_bombs().items() if name in wanted}, "json", multiLine=True)
    assert said.pop("long_line.gz").count("more than 64 MiB of JSON") == 1
    assert said == {"array_line.gz": "", "quotes.gz": "malformed_json"}


def test_json_with_a_path(tmp_path):
    bombs = {"objects.gz": json_bombs()["objects.gz"]}
    said = read(tmp_path, bombs, "json", jsonPath="$.a[*]")
    assert "documents that take more than 256 MiB" in said["objects.gz"]


def csv_bombs() -> dict[str, bytes]:
    return {
        "long_field.gz": gzipped(b"a,b\n", b"x", 1000, b",1\n"),
        "long_quoted.gz": gzipped(b'a,b\n"', b"x\n", 400, b'",1\n'),
        "long_first_line.gz": gzipped(b"", b"x", 400, b"\n"),
        "first_value.gz": gzipped(b"", b"x", 1, b"\n"),
        "many_columns.gz": gzipped(b"", b",", 2, b"\n"),
    }


def test_csv(tmp_path):
    bombs = csv_bombs()
    said = read(tmp_path, bombs, "csv", withHeader=True, multiLine=True)
    assert said.pop("first_value.gz") == ""  # a name of a megabyte, and no rows
    assert {name for name, one in said.items() if name in one} == set(bombs) - {"first_value.gz"}


def test_csv_of_many_columns(tmp_path):
    rows = gzipped(b"a," * 15_000 + b"\n", b"," * 15_000 + b"\n", 30, b"")
    assert read(tmp_path, {"a.gz": rows}, "csv", withHeader=True) == {"a.gz": ""}


def ion_bombs() -> dict[str, bytes]:
    binary = b"\xe0\x01\x00\xea"
    return {
        "long_text.gz": gzipped(b'{a:"', b"x", 400, b'"}'),
        "numbers.gz": gzipped(b"{a:[0", b",0", 50, b"]}"),
        "structs.gz": gzipped(b"{a:[{}", b",{}", 50, b"]}"),
        "deep.gz": gzipped(b"{a:", b"[", 20, b"}"),
        "length": binary + b"\x8e" + b"\x7f" * 8 + b"\xff" + b"x" * 100,
        "nulls.gz": gzipped(binary + b"\xbe\x06\x00\x00\x80", b"\x0f", 12, b""),
    }


def test_ion(tmp_path):
    bombs = ion_bombs()
    said = read(tmp_path, bombs, "ion")
    assert {name for name, one in said.items() if name in one} == set(bombs)
    assert "holds a record of more than 4 MiB" in said["structs.gz"]


def columnar(write, table: pa.Table, **options: object) -> bytes:
    out = BytesIO()
    write(table, out, **options)
    return out.getvalue()


def dictionary_of(text: str, rows: int) -> pa.Table:
    """Return a column that holds one text in each of its rows."""
    indices = pa.array(np.zeros(rows, np.int32))
    return pa.table({"a": pa.DictionaryArray.from_arrays(indices, [text])})


def test_parquet(tmp_path):
    nulls = pa.table({"a": pa.ListArray.from_arrays([0, 12_000_000], pa.nulls(12_000_000, pa.int8()))})
    texts = pa.table({"a": ["x" * 3_000_000] * 100})
    lists = pa.ListArray.from_arrays([0, 100_000], dictionary_of("x" * 100_000, 100_000)["a"].chunk(0))
    bombs = {
        "nulls": columnar(parquet.write_table, nulls),
        "long_texts": columnar(parquet.write_table, texts, compression="zstd", use_dictionary=False),
        "one_text_in_lists": columnar(parquet.write_table, pa.table({"a": lists}), store_schema=False),
        "one_text_often": columnar(parquet.write_table, dictionary_of("x" * 1_000_000, 1_000), store_schema=False),
    }
    said = read(tmp_path, bombs, "parquet")
    assert "holds lists of 12000000 values" in said["nulls"]
    assert "holds a column of 3000" in said["long_texts"]
    assert "holds a row of 10000000000 bytes" in said["one_text_in_lists"]
    assert said["one_text_often"] == ""


def test_orc(tmp_path):
    bomb = columnar(orc.write_table, pa.table({"a": ["x" * 250_000] * 3_000}), compression="zstd")
    assert read(tmp_path, {"one_text_often": bomb}, "orc") == {"one_text_often": ""}
