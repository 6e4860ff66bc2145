"""CSV files become the records that their lines say, with every option and in every block."""

from __future__ import annotations

import json
from itertools import pairwise

import pyarrow as pa
import pytest

from gluepot.connectors.files.formats.csv import read
from gluepot.connectors.files.formats.csv.write import CsvOutputFormat
from gluepot.connectors.files.source.grouping import FileGroup
from gluepot.core import logging
from tests.unit.files.reading import errors, records
from tests.unit.files.test_pieces import planned


def test_csv_without_header_has_numbered_columns(tmp_path):
    (tmp_path / "a").write_text('1,a\n2,"ü,"\n')
    assert records(tmp_path, "csv") == [{"col0": "1", "col1": "a"}, {"col0": "2", "col1": "ü,"}]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ('id,text\n1,a\n2,"ü,"', {"withHeader": True}),
        ('title\nid|text\n1|a\n2|"ü,"\n', {"withHeader": "true", "skipFirst": "true", "separator": "|"}),
        ("id\ttext\r\n1\ta\r\n2\tü,\r\n", {"withHeader": True, "separator": "\\t", "quoteChar": -1}),
        ("id,text\n1,a\n2,ü\\,\n", {"withHeader": True, "escaper": "\\", "quoteChar": "-1"}),
        ("id,text\n1,a\n2,'ü,'\n", {"withHeader": True, "quoteChar": "'", "optimizePerformance": True}),
    ],
)
def test_csv_is_read_as_the_options_say(tmp_path, text, options):
    (tmp_path / "a").write_text(text, newline="")
    assert records(tmp_path, "csv", **options) == [{"id": "1", "text": "a"}, {"id": "2", "text": "ü,"}]


def test_csv_values_are_never_null(tmp_path):
    (tmp_path / "a").write_text('1,,""\n,,\n')
    rows = [{"col0": "1", "col1": "", "col2": ""}, {"col0": "", "col1": "", "col2": ""}]
    assert records(tmp_path, "csv") == rows
    assert records(tmp_path, "csv", multiLine=True) == rows
    assert records(tmp_path, "csv", multiLine=True, escaper="\\") == rows


@pytest.mark.parametrize("multi_line", [False, True])
@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("before", ["\n", "\r\n", "  \n", "\n \t\n\n", "\ufeff\n"])
def test_csv_may_begin_with_blank_lines(tmp_path, before, header, multi_line):
    (tmp_path / "a").write_text(before + "col0,col1\n" * header + "1,a\n\n2,b\n", newline="")
    rows = [{"col0": "1", "col1": "a"}, {"col0": "2", "col1": "b"}]
    assert records(tmp_path, "csv", withHeader=header, multiLine=multi_line) == rows
    assert not errors(tmp_path, "csv", withHeader=header, multiLine=multi_line)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("escaper", [None, "\\"])
def test_lines_of_white_space_in_a_csv_file_of_one_column_are_no_records(tmp_path, ending, escaper):
    (tmp_path / "a").write_text(ending.join(["a", " ", "b", "\t ", "", "c"]), newline="")
    for options in ({}, {"multiLine": bool(escaper)}):
        rows = [tuple(row.values()) for row in records(tmp_path, "csv", escaper=escaper, **options)]
        assert rows == [("a",), ("b",), ("c",)]


def test_a_csv_line_of_separators_alone_is_a_record(tmp_path):
    (tmp_path / "a").write_text("\t\n1\ta\n\t\n")
    empty = {"col0": "", "col1": ""}
    assert records(tmp_path, "csv", separator="\t") == [empty, {"col0": "1", "col1": "a"}, empty]
    assert records(tmp_path, "csv", separator="\t", withHeader=True) == [{"1": "", "a": ""}]


@pytest.mark.parametrize("escaper", [None, "\\"])
def test_the_first_csv_record_and_the_header_may_hold_line_breaks(tmp_path, escaper):
    (tmp_path / "a").write_text('"i\nd",n\n"1\n","a\r\nb"\n2,c\n', newline="")
    options = {"multiLine": True, "escaper": escaper}
    rows = [("i\nd", "n"), ("1\n", "a\r\nb"), ("2", "c")]
    assert [tuple(row.values()) for row in records(tmp_path, "csv", **options)] == rows
    named = [{"i\nd": first, "n": second} for first, second in rows[1:]]
    assert records(tmp_path, "csv", withHeader=True, **options) == named


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_an_open_quote_in_csv_ends_with_its_line(tmp_path, ending):
    (tmp_path / "a").write_text(ending.join(['1,"a', "2,b", '3,"c', '4,"d,""e"', '"5,f', '6,"g"h"i"', ""]), newline="")
    rows = [("1", "a"), ("2", "b"), ("3", "c"), ("4", 'd,"e'), ("6", 'gh"i"')]
    assert [tuple(row.values()) for row in records(tmp_path, "csv")] == rows
    assert [error.raw for error in errors(tmp_path, "csv")] == [b'"5,f']


def test_letters_behind_an_escaper_are_control_characters(tmp_path):
    (tmp_path / "a").write_text('a\\nb,"c\\r\\t\\0"\n\\,,\\x\\\\\n')
    rows = [{"col0": "a\nb", "col1": "c\r\t\0"}, {"col0": ",", "col1": "x\\"}]
    assert records(tmp_path, "csv", escaper="\\") == rows
    assert records(tmp_path, "csv", escaper="\\", multiLine=True) == rows


def test_what_our_writer_writes_without_quotes_is_read_with_an_escaper(tmp_path):
    texts = pa.record_batch({"a": ["x,\n\r\\y", None, ""], "b": ["1", "2", "3"]})
    with (tmp_path / "a").open("wb", buffering=0) as file:
        lines = CsvOutputFormat(quote=None).open(file, texts.schema)
        lines.write(texts)
        lines.close()
    rows = records(tmp_path, "csv", withHeader=True, quoteChar=-1, escaper="\\")
    assert rows == [{"a": "x,\n\r\\y", "b": "1"}, {"a": "", "b": "2"}, {"a": "", "b": "3"}]


def test_a_csv_line_that_is_neither_text_nor_of_the_right_length_is_set_aside(tmp_path):
    (tmp_path / "a").write_bytes(b"1,a\n2,\xff,x\n3,c\n")
    assert [row["col0"] for row in records(tmp_path, "csv")] == ["1", "3"]
    assert [(error.reason, error.raw) for error in errors(tmp_path, "csv")] == [("malformed_csv", b"2,\xff,x")]


def test_csv_lines_with_too_many_or_too_few_values_are_set_aside(tmp_path):
    (tmp_path / "a").write_text("a,b\n1,2\n1\n3,4\n1,2,3\n")
    assert records(tmp_path, "csv", withHeader=True) == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert [error.raw for error in errors(tmp_path, "csv", withHeader=True)] == [b"1", b"1,2,3"]


def test_csv_lines_that_are_no_text_are_set_aside(tmp_path):
    (tmp_path / "a").write_bytes(b"1,a\n2,\xff\n3,c\n")
    assert [row["col0"] for row in records(tmp_path, "csv")] == ["1", "3"]
    assert [error.reason for error in errors(tmp_path, "csv")] == ["invalid_utf8"]


def test_csv_values_may_hold_line_breaks(tmp_path):
    (tmp_path / "a").write_text('1,"a\nb"\n2,c\n')
    assert records(tmp_path, "csv", multiLine=True) == [{"col0": "1", "col1": "a\nb"}, {"col0": "2", "col1": "c"}]


@pytest.mark.parametrize("block_bytes", range(12, 30))
def test_csv_values_keep_their_line_breaks_wherever_a_block_ends(tmp_path, monkeypatch, block_bytes):
    monkeypatch.setattr(read, "_BLOCK_BYTES", block_bytes)
    (tmp_path / "a").write_bytes(b'1,b\r\n2,"\r\n\r\nb\r"\r\n' * 3)
    rows = [{"col0": "1", "col1": "b"}, {"col0": "2", "col1": "\r\n\r\nb\r"}]
    assert records(tmp_path, "csv", multiLine=True) == rows * 3


@pytest.mark.parametrize("block_bytes", range(6, 14))
def test_csv_lines_may_end_with_a_carriage_return_wherever_a_block_ends(tmp_path, monkeypatch, block_bytes):
    monkeypatch.setattr(read, "_BLOCK_BYTES", block_bytes)
    (tmp_path / "a").write_bytes(b"1,bb\r2,cc\r3,dd\r")
    assert [row["col1"] for row in records(tmp_path, "csv", multiLine=True)] == ["bb", "cc", "dd"]


def test_csv_names_that_come_twice_are_numbered(tmp_path):
    (tmp_path / "a").write_text("a,a,\n1,2,3\n")
    assert records(tmp_path, "csv", withHeader=True) == [{"a": "1", "a_1": "2", "col2": "3"}]


@pytest.mark.parametrize("text", ["", "\n", "a,b\n"])
def test_csv_without_a_row_gives_none(tmp_path, text):
    (tmp_path / "a").write_text(text)
    assert records(tmp_path, "csv", withHeader=True) == []


BAD_LINES = [
    b"a,b\n1,x\n2\n3,y\n2\n4,z\n",
    b"\xef\xbb\xbfa,b\r\n1,x\r\n2\r\n3,y\r\n1,2\r\n2\r\n",
    b'a,b\n1,"x\n12\n2\n',
    b"a,b\n1,\xff\n12,\xff\n2,\xff\n",
    b"\n\na,b\n\n1,x,3\n\n3",
]


@pytest.mark.parametrize("text", BAD_LINES)
@pytest.mark.parametrize("header", [True, False])
def test_each_rejected_line_has_the_byte_that_it_begins_at(tmp_path, text, header):
    (tmp_path / "a.csv").write_bytes(text)
    source, file = planned(tmp_path, "csv", withHeader=header)
    wholes = errors(tmp_path, "csv", withHeader=header)
    in_pieces = [
        error
        for piece in pairwise([0, 7, 12, len(text)])
        for chunk in source.read(FileGroup((file,), piece))
        for error in chunk.errors
    ]

    assert wholes
    for error in (*wholes, *in_pieces):
        at = int(error.at.position)
        assert text[at:].startswith(error.raw)
        assert text[at + len(error.raw) :][:1] in (b"\n", b"\r", b"")
    assert len({error.at.position for error in wholes}) == len(wholes)
    assert {(one.at.position, one.raw) for one in in_pieces} == {(one.at.position, one.raw) for one in wholes}


@pytest.mark.parametrize("escaper", [None, "\\"])
@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ('1,a\n2,"b\n3,c\n', True),
        ('1,a\n2,"b\n3,c', True),
        ('1,"a\n2,b\n3,c\n', True),
        ('1,a\n2,"b\n\nc"\n', False),
        ('1,a\n2,"b\nc"', False),
        ('1,a\r\n2,"b\r\nc"\r\n', False),
        ('1,"a\nb"\n2,c\n', False),
        ('1,"a\nb"\n2,c,d\n', False),
        ("1,a\n2,b\n", False),
    ],
)
def test_a_quote_that_takes_the_rest_of_a_csv_file_is_named(tmp_path, capsys, text, is_open, escaper):
    (tmp_path / "a").write_text(text, newline="")
    records(tmp_path, "csv", multiLine=True, escaper=escaper)
    assert ("quote_not_closed" in capsys.readouterr().err) == is_open


def test_names_that_the_header_does_not_have_are_named_once(tmp_path, capsys):
    logging.configure(json=True)
    for name in ("a", "b"):
        (tmp_path / name).write_text("id, id,,total \n1,2,3,4\n")
    assert records(tmp_path, "csv", withHeader=True)[0] == {"id": "1", "id_1": "2", "col2": "3", "total": "4"}
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line).items() >= {"msg": "header_names_changed", "names": {"id_1": " id", "col2": ""}}.items()
