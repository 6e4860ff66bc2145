"""Lines of JSON that are read from one buffer are those that are read one by one."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.json import read
from gluepot.frames.json_record import LONG_BYTES
from gluepot.frames.rows import rows

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
        patch.setattr(read, "_plain_lines", lambda *_: None)
        assert at_once == found(text)


@given(st.lists(LINE, min_size=1), st.sampled_from([b"", b"\n"]), st.integers(0, 9))
def test_plain_lines_are_taken_at_once(lines, end, at):
    text = b"\n".join(lines) + end

    values, positions = read._plain_lines(text, at)

    assert list(values) == lines == [values[n] for n in range(len(lines))]
    assert list(values[1:]) == lines[1:]
    assert (list(values), positions) == read.lines(text, at)


@pytest.mark.parametrize("odd", [b"\n", b" \n", b"[{}]\n", b'{"a": "' + b"x" * LONG_BYTES + b'"}\n'])
def test_other_lines_are_looked_at_one_by_one(odd):
    assert read._plain_lines(b"{}\n" + odd, 0) is None
    assert read._plain_lines(b"", 0) is None
