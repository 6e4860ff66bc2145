"""Payloads of streams that are compressed one by one."""

import bz2
import gzip
import lzma
import zlib

import pyarrow as pa
import pytest

from gluepot.connectors.streams import compressed
from gluepot.connectors.streams.compressed import as_they_came, decompressed, plain_batches
from gluepot.connectors.values import RawBatch
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.payloads import Payloads

TEXT = b'{"id": 1, "name": "K\xc3\xb6ln"}'


def snappy_framed(data):
    block = pa.Codec("snappy").compress(data, asbytes=True)
    compressed_chunk = b"\x00" + (len(block) + 4).to_bytes(3, "little") + b"\0\0\0\0" + block
    plain_chunk = b"\x01" + (len(data) + 4).to_bytes(3, "little") + b"\0\0\0\0" + data
    return b"\xff\x06\x00\x00sNaPpY" + compressed_chunk + plain_chunk


CODECS = {
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "zlib_fast": lambda data: zlib.compress(data, 1),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("data", [TEXT, b"", TEXT * 1000])
def test_each_codec_gives_the_bytes(codec, data):
    assert decompressed(CODECS[codec](data)) == data


def test_frames_of_snappy():
    assert decompressed(snappy_framed(TEXT)) == TEXT * 2


@pytest.mark.parametrize("codec", ["gzip", "bzip2", "xz"])
def test_several_streams_in_one_payload_are_joined(codec):
    compress = CODECS[codec]
    assert decompressed(compress(TEXT) + compress(b" ") + compress(TEXT)) == TEXT + b" " + TEXT


@pytest.mark.parametrize("codec", CODECS)
def test_a_damaged_payload_is_left_as_it_is(codec):
    payload = CODECS[codec](TEXT * 50)
    assert decompressed(payload[:-3]) is None
    assert decompressed(payload[:10] + b"\0\0\0" + payload[13:]) is None
    assert decompressed(payload[:2]) is None


@pytest.mark.parametrize("codec", [*CODECS, "snappy"])
def test_a_payload_that_becomes_too_large_is_left_as_it_is(codec, monkeypatch):
    compress = {**CODECS, "snappy": snappy_framed}[codec]
    monkeypatch.setattr(compressed, "MOST_PAYLOAD_BYTES", 4000)
    assert decompressed(compress(bytes(1500))) is not None
    assert decompressed(compress(bytes(5000))) is None


@pytest.mark.parametrize(
    "text", [b"xylophone,1", b"x^2", b"x\x01", b"BZh9,1", b"BZ", b"\x1f", b"\xfd7", b"\xff\xfe", b"{}", b"", b"x"]
)
def test_text_that_begins_as_compressed_bytes_do_stays(text):
    assert decompressed(text) is None
    ((raw, originals),) = plain_batches(RawBatch([text], [7], "clicks", "0"))
    assert (list(raw.values), originals) == ([text], {})


PAYLOADS = [TEXT, gzip.compress(TEXT), b"", bz2.compress(b"{"), b"x", zlib.compress(b'{"id": 2}'), b""]


@pytest.mark.parametrize("as_buffer", [True, False])
def test_compressed_records_among_others_become_rows_and_rejects_keep_their_bytes(as_buffer):
    values = Payloads(pa.array(PAYLOADS, pa.large_binary())) if as_buffer else PAYLOADS
    ((raw, originals),) = plain_batches(RawBatch(values, range(10, 17), "clicks", "0"))
    chunk = as_they_came(JsonDecoder().decode(raw.values, raw.positions, "clicks", "0"), originals)

    assert [row["id"] for row in chunk.batch.to_pylist()] == [1, 1, 2]
    assert {error.at.position: error.raw for error in chunk.errors} == {
        "12": b"",
        "13": PAYLOADS[3],
        "14": b"x",
        "16": b"",
    }


def test_a_slice_of_a_buffer_looks_at_its_own_payloads():
    values = Payloads(pa.array([gzip.compress(b"0"), *PAYLOADS], pa.large_binary()))[1:4]
    ((raw, originals),) = plain_batches(RawBatch(values, range(3), "clicks", "0"))

    assert (list(raw.values), list(originals)) == ([TEXT, TEXT, b""], [1])


def test_a_batch_of_many_large_payloads_comes_in_parts(monkeypatch):
    monkeypatch.setattr(compressed, "_BATCH_BYTES", 2500)
    given = RawBatch(
        [gzip.compress(bytes([n]) * 1000) for n in range(5)], range(5), "c", "0", 9, {"at": pa.array(range(5))}
    )
    parts = list(plain_batches(given))

    assert [list(raw.positions) for raw, _ in parts] == [[0, 1], [2, 3], [4]]
    assert [raw.columns["at"].to_pylist() for raw, _ in parts] == [[0, 1], [2, 3], [4]]
    assert [list(originals) for _, originals in parts] == [[0, 1], [2, 3], [4]]
    assert b"".join(value for raw, _ in parts for value in raw.values) == b"".join(bytes([n]) * 1000 for n in range(5))


def test_records_without_a_value_stay():
    ((raw, _),) = plain_batches(RawBatch([None, gzip.compress(TEXT)], [0, 1], "c", "0"))
    assert list(raw.values) == [None, TEXT]
