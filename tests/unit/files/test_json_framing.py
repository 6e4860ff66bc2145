"""Records of JSON files are found however they are separated, spread over lines and cut into pieces."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluepot.connectors.files.formats.json import cutter
from gluepot.connectors.files.formats.json.cutter import Cutter, cut
from gluepot.connectors.files.formats.json.framing import HEAD_BYTES, spreads_over_lines
from gluepot.core import logging
from tests.unit.files.reading import errors, records
from tests.unit.files.test_pieces import in_pieces, planned

RECORDS = [
    {"id": 1, "tags": [{"k": "a]b", "v": "x}{y"}, {"k": "é\\", "v": None}]},
    {"id": 2, "tags": [], "text": '"},{"'},
    {"id": 3, "tags": [{"k": "\n", "v": "["}]},
]
LINE = [json.dumps(record) for record in RECORDS]
SPREAD = [json.dumps(record, indent=2) for record in RECORDS]
FRAMINGS = {
    "an array on a line": json.dumps(RECORDS),
    "an array with a record a line": "[" + ",\n".join(LINE) + "]",
    "an array with brackets on lines of their own": "[\n" + ",\n".join(LINE) + "\n]\n",
    "an indented array": json.dumps(RECORDS, indent=2),
    "an array without indentation": json.dumps(RECORDS, indent=0),
    "a byte order mark and an indented array": "\ufeff" + json.dumps(RECORDS, indent=1),
    "several objects a line": "".join(LINE),
    "several objects a line, and one": f"{LINE[0]} {LINE[1]}\n{LINE[2]}\n",
    "indented objects": "\n".join(SPREAD),
    "indented objects without anything between": "".join(SPREAD),
    "an object a line, then an indented one": "\n".join([LINE[0], *SPREAD[1:]]),
    "an indented object, then one a line": "\n".join([SPREAD[0], *LINE[1:]]),
    "arrays one after the other": f"[{LINE[0]}]\n[{LINE[1]},\n{LINE[2]}]",
    "an array and objects": f"[\n{LINE[0]}\n]{LINE[1]}\r\n\r\n{LINE[2]}",
    "lines that end with carriage returns": "\r\n".join(SPREAD),
}


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("name", ["a.json", "a.gz"])
def test_records_are_found_in_any_framing(tmp_path, framing, name):
    text = FRAMINGS[framing].encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name == "a.gz" else text)
    for options in ({}, {"multiLine": True}):
        found = records(tmp_path, "json", **options)
        assert [record["id"] for record in found] == [1, 2, 3]
        assert [record["tags"][:1] for record in found] == [record["tags"][:1] for record in RECORDS]
        assert not errors(tmp_path, "json", **options)


@pytest.mark.parametrize("framing", FRAMINGS)
def test_a_file_cut_anywhere_has_every_record_once(tmp_path, framing):
    (tmp_path / "a.json").write_text(FRAMINGS[framing], newline="")
    source, file = planned(tmp_path, "json")
    for cuts in ([5], [40], [100], [30, 60, 90, 120], [file.size_bytes - 3]):
        assert [row["id"] for row in in_pieces(source, file, *cuts)] == [1, 2, 3]


BROKEN = '{"id": 2, "x": {"y": 1}'  # a bracket is missing


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ('{"id": 1}{"id" 2}{"id": 3}', '{"id" 2}'),
        ('{"id": 1}\n{"id": 2\n{"id": 3}', '{"id": 2'),
        ('{"id": 1}\n{"id": "\n{"id": 3}', '{"id": "'),
        ('[{"id": 1}, {"id" 2}, {"id": 3}]', '{"id" 2}'),
        ('[{"id": 1},\n{"id": "2},\n{"id": 3}]', '{"id": "2},'),
        (f'[\n{{"id": 1}},\n{BROKEN},\n{{"id": 3}}\n]', BROKEN + ","),
        ('[\n  {\n    "id": 1\n  },\n  {\n    "id": {\n  },\n  {\n    "id": 3\n  }\n]', '{\n    "id": {\n  },'),
        ('{\n "id": 1\n}\n{\n "id": {\n}\n{\n "id": 3\n}', '{\n "id": {\n}'),
        ('{\n "id": 1\n}\nwords\n{\n "id": 3\n}', "words"),
        ('{"id": 1}\n[INFO: {"x": 1\n{"id": 3}', '[INFO: {"x": 1'),
    ],
)
def test_a_broken_record_costs_no_other(tmp_path, text, raw):
    (tmp_path / "a").write_text(text)
    assert [record["id"] for record in records(tmp_path, "json")] == [1, 3]
    assert [error.raw for error in errors(tmp_path, "json")] == [raw.encode()]


def test_a_record_is_refused_with_its_byte(tmp_path):
    (tmp_path / "a").write_text('\ufeff[\n {"id": 1},\n {"id" 2}\n]\n')
    (error,) = errors(tmp_path, "json")
    assert (error.reason, error.at.position) == ("malformed_json", "18")


def test_what_is_no_record_is_one_refusal_a_line(tmp_path):
    (tmp_path / "a").write_text('{"id": 1},\n{"id": 2}}\n[{"id": 3}]\n[4]\nx{"id": 5}{"id": 6}\n')
    assert records(tmp_path, "json") == [{"id": 3}]
    assert [error.raw for error in errors(tmp_path, "json")] == [
        b'{"id": 1},', b'{"id": 2}}', b"[4]", b'x{"id": 5}{"id": 6}'
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("head", "is_whole", "spreads"),
    [
        (b'{"a": 1}\n{"b": 2}\n', True, False),
        (b'{"a": 1}\r\n\r\n{"b": {"c": 2}}', True, False),
        (b'{"a": 1}\n{"b": \n{"c": 3}\n', True, False),
        (b'{"a": 1}\n{"b":\n2}\n', True, True),
        (b'{"a":\nNaN}\n{"b": 2}', True, True),
        (b"[\n", True, True),
        (b'[{"a": 1}]\n[{"b": 2}]\n', True, False),
        (b'[{"a": 1}]\n[{"b": 2},\n', True, True),
        (b"[1,\n2]", True, False),
        (b'{\n "a": {\n', False, True),
        (b'{\n{"a": 1}\n{"a": 2}\n', False, False),
        (b'{"a": "xxx', False, False),
        (b'{"a": 1}{"b": 2', False, True),
        (b'[{"a": 1}, {"b": 2', False, True),
        (b"", True, False),
    ],
)
def test_the_first_bytes_tell_whether_records_spread_over_lines(head, is_whole, spreads):
    assert spreads_over_lines(head, is_whole=is_whole) is spreads


def test_a_record_that_is_longer_than_the_head_is_a_line(tmp_path):
    long = "x" * (2 * HEAD_BYTES)
    (tmp_path / "a").write_text(json.dumps({"id": 1, "t": long}) + "\n" + json.dumps({"id": 2}) + json.dumps({"id": 3}))
    assert [record["id"] for record in records(tmp_path, "json")] == [1, 2, 3]


def test_a_long_line_may_hold_many_records(tmp_path):
    (tmp_path / "a").write_text("".join(json.dumps({"id": number, "t": "}{" * 20}) for number in range(3_000)))
    assert [record["id"] for record in records(tmp_path, "json")] == list(range(3_000))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('a"\\{}[],:\né', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('a"{', max_size=3), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=20)
@given(st.lists(st.dictionaries(st.text(max_size=3), JSON, max_size=3), max_size=5), st.data())
def test_records_are_cut_alike_wherever_blocks_end(documents, data):
    indents = st.sampled_from([None, 0, 1])
    texts = [json.dumps(one, indent=data.draw(indents), ensure_ascii=False) for one in documents]
    text = (f"[{', '.join(texts)}]" if data.draw(st.booleans()) else "\n".join(texts)).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    before, cutter._PIECE_BYTES = cutter._PIECE_BYTES, data.draw(st.integers(5, 40))
    try:
        pieces = Cutter()
        found = [one for piece in pairwise([0, *cuts, len(text)]) for one in pieces.feed(text[slice(*piece)])]
        found += pieces.end()
    finally:
        cutter._PIECE_BYTES = before
    assert found == cut(text)
    assert [json.loads(record) for _, record in found] == documents
    assert all(text[at:].startswith(record) for at, record in found)


@pytest.mark.parametrize(("text", "is_cut_off"), [("[\n1,\n{}\n]\n", False), ('[\n{"id": 1},\n{"id": 2}\n', True)])
def test_an_array_without_an_end_is_told(tmp_path, capsys, text, is_cut_off):
    logging.configure(json=True)
    (tmp_path / "a").write_text(text)
    records(tmp_path, "json")
    assert ("array_not_closed" in capsys.readouterr().err) == is_cut_off
