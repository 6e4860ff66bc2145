"""Lines of JSON that are read from one buffer are those that are read one by one."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.json import read
from gluepot.frames.json_kernel import IS_COMPILED, object_lines
from gluepot.frames.rows import rows

needs_kernel = pytest.mark.skipif(not IS_COMPILED, reason="the kernel is not built here")
LINE = st.sampled_from(
    [
        b'{"a": 1}', b'{"a": 1} ', b'{"a": "\xc3\xbc"}\r', b'{"b": [1, {"c": null}]}', b"{}", b"{", b'{"a": 1}}',
        b'{"a": 1} {"a": 2}', b'{"a": "\xff"}', b'{"a": "\0"}',
    ]
)  # fmt: skip
ODD = st.sampled_from([b"", b" ", b"\r", b' {"a": 3}', b'[{"a": 4}, {"b": 5}]', b"7", b"\xef\xbb\xbf{}", b"\t\0"])
TEXTS = st.builds(
    lambda lines, end: b"\n".join(lines) + end, st.lists(LINE | LINE | ODD, max_size=9), st.sampled_from([b"", b"\n"])
)


def found(text):
    reader = read.JsonInputFormat().reader()
    chunks = list(reader.read(OpenFile(io.BytesIO(text), "f", "")))
    places = [(one.reason, one.raw, one.at) for chunk in chunks for one in chunk.errors]
    return [row for chunk in chunks for row in rows(chunk)], places


@given(TEXTS)
def test_rows_and_errors_are_the_same(text):
    at_once = found(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read, "object_lines", lambda *_: None)
        assert at_once == found(text)


@needs_kernel
@given(st.lists(LINE, min_size=1), st.sampled_from([b"", b"\n"]))
def test_lines_that_begin_as_objects_are_taken_at_once(lines, end):
    text = memoryview(b"\n".join(lines) + end)

    values = object_lines(text, 99)

    assert list(values) == lines == [values[n] for n in range(len(lines))]
    assert list(values[1:]) == lines[1:]
    assert list(values.ends[:-1]) == read.lines(text, 0)[1]
    assert values.ends[len(lines)] == len(text)


@needs_kernel
@pytest.mark.parametrize("odd", [b"\n", b" \n", b"[{}]\n", b'{"a": "' + b"x" * 92 + b'"}\n'])
def test_other_lines_are_looked_at_one_by_one(odd):
    assert object_lines(memoryview(b"{}\n" + odd), 99) is None
    assert not object_lines(memoryview(b""), 99)
