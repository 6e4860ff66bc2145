"""Rows with a text that is not UTF-8 are found wherever the text is, and no others."""

import pyarrow as pa
import pytest

from gluepot.frames.chunk import Chunk
from gluepot.frames.unreadable_texts import readable

TEXTS = pa.array([b"x", b"\xff", None, "ö".encode()]).view(pa.string())
LARGE = pa.array([b"x", b"\xff", None, "ö".encode()], pa.large_binary()).view(pa.large_string())
KEYS = pa.array([b"a", b"\xff", b"c", b"d"]).view(pa.string())
ONE_EACH = [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("column", "raw"),
    [
        (TEXTS, b'{"c":"\xff"}'),
        (LARGE, b'{"c":"\xff"}'),
        (pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 3]), TEXTS), b'{"c":"\xff"}'),
        (pa.ListArray.from_arrays(ONE_EACH, TEXTS), b'{"c":["\xff"]}'),
        (pa.StructArray.from_arrays([TEXTS, pa.array(ONE_EACH[:4])], ["t", "n"]), b'{"c":{"t":"\xff","n":1}}'),
        (pa.MapArray.from_arrays(ONE_EACH, pa.array([*"abcd"]), TEXTS), b'{"c":{"b":"\xff"}}'),
        (pa.MapArray.from_arrays(ONE_EACH, KEYS, pa.array(ONE_EACH[:4])), b'{"c":{"\xff":1}}'),
    ],
)
def test_a_row_is_an_error_with_its_bytes(column, raw):
    chunk = readable(Chunk(pa.RecordBatch.from_arrays([column], ["c"])))
    assert [error.raw for error in chunk.errors] == [raw]
    assert chunk.batch.column(0).equals(column.take(pa.array([0, 2, 3])))


@pytest.mark.parametrize(
    "column",
    [
        pa.array([], pa.string()),
        pa.StringArray.from_buffers(0, pa.py_buffer(b""), pa.py_buffer(b"")),
        pa.nulls(2, pa.list_(pa.string())),
        TEXTS.slice(2, 2),
        pa.array([b"\xff"]),
    ],
)
def test_a_chunk_without_such_texts_stays_as_it_is(column):
    chunk = Chunk(pa.RecordBatch.from_arrays([column], ["c"]))
    assert readable(chunk) is chunk
