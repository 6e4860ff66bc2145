"""Large files are read in pieces: every record once, whichever way they are cut."""

from __future__ import annotations

import io
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from gluepot.connectors.files.formats.text_lines import BOM, line_blocks, lines_of
from gluepot.connectors.files.source.grouping import NONE, FileGroup, GroupOptions, grouped
from gluepot.connectors.files.source.listing import ListingStats, list_files
from gluepot.connectors.files.source.settings import FileReadSettings
from gluepot.connectors.files.source.versions import FileVersion
from gluepot.frames.rows import rows

MIB = 1 << 20
LINES = st.lists(st.binary(max_size=6).map(lambda text: text.replace(b"\n", b"") + b"\n"), max_size=8)


@given(LINES, st.booleans(), st.data())
def test_every_line_is_in_exactly_one_piece_with_its_place(lines, ends, data):
    text = b"".join(lines) if ends else b"".join(lines).removesuffix(b"\n")
    inner = data.draw(st.lists(st.integers(0, len(text)), max_size=4))
    found = []
    for piece in pairwise([0, *sorted(inner), len(text)]):
        plain, at = lines_of(io.BytesIO(text), piece)
        found += [one for block in line_blocks(plain, "f", at) for one in zip(*block, strict=True)]
    whole = [one for block in line_blocks(io.BytesIO(text), "f") for one in zip(*block, strict=True)]
    assert found == whole


def planned(root, form, **format_options):
    settings = FileReadSettings.from_glue({"paths": [str(root)]}, form, format_options)
    (file,) = list_files(settings.listing, ListingStats())
    return settings.source, file


def in_pieces(source, file, *cuts):
    groups = [FileGroup((file,), piece) for piece in pairwise([0, *cuts, file.size_bytes])]
    return [row for group in groups for chunk in source.read(group) for row in rows(chunk)]


@pytest.mark.parametrize("cut", range(1, 24))
@pytest.mark.parametrize(
    ("text", "options"),
    [
        (b"a;b\n1;x\n22;y\n333;z\n", {"withHeader": True}),
        (BOM + b"a;b\n1;x\n22;y\n333;z", {"withHeader": True}),
        (b"a;b\n1;x\n22;y\n333;z\n", {"skipFirst": True, "columnNames": ["a", "b"]}),
        (BOM + b"1;x\n22;y\n333;z\n", {"columnNames": ["a", "b"]}),
        (b"\na;b\n\n1;x\n22;y\n333;z\n", {"withHeader": True}),
        (b'a;b\r1;"x\r22;y\r"333";z\r', {"withHeader": True}),
        (b'a;b\n1;"x\n22;"y\n333;z\n', {"withHeader": True}),
    ],
)
def test_csv_cut_anywhere_has_its_header_once_and_every_row(tmp_path, text, options, cut):
    (tmp_path / "a.csv").write_bytes(text)
    source, file = planned(tmp_path, "csv", separator=";", **options)
    found = in_pieces(source, file, min(cut, len(text)))
    assert found == [{"a": "1", "b": "x"}, {"a": "22", "b": "y"}, {"a": "333", "b": "z"}]


@pytest.mark.parametrize("cuts", [(), (10,), (100, 300, 500), (4,)])
def test_a_row_group_of_parquet_is_read_by_one_piece(tmp_path, cuts):
    parquet.write_table(pa.table({"n": list(range(100))}), tmp_path / "a.parquet", row_group_size=10)
    source, file = planned(tmp_path, "parquet")
    assert sorted(row["n"] for row in in_pieces(source, file, *cuts)) == list(range(100))


def sized(name, mib):
    return FileVersion("/r", "/r", name, mib * MIB, 0)


def cut(files, splits=lambda _: True, parallelism=2, **options):
    groups = grouped(files, GroupOptions(**options), parallelism, splits)
    return [([file.name for file in one.files], one.piece and one.size_bytes / MIB) for one in groups]


def test_a_large_file_is_shared_out_among_the_tasks_that_run_at_once():
    pieces = [size for names, size in cut([sized("large", 40)], parallelism=8) if names == ["large"]]
    assert sum(pieces) == pytest.approx(40)
    assert max(pieces) <= 44 / 8


def test_pieces_have_the_size_of_a_group():
    assert cut([sized("large", 100)], size_bytes=50 * MIB, within=NONE) == [(["large"], None)]
    assert cut([sized("large", 200)], size_bytes=50 * MIB) == [(["large"], 50)] * 4


def test_a_file_that_cannot_be_cut_stays_whole():
    assert cut([sized("large.gz", 500)], splits=lambda _: False) == [(["large.gz"], None)]


@pytest.mark.parametrize(
    ("name", "form", "options", "splits"),
    [
        ("a.json", "json", {}, True),
        ("a.json", "json", {"multiLine": True}, False),
        ("a.json", "json", {"jsonPath": "$.a[*]"}, False),
        ("a.json.gz", "json", {}, False),
        ("a.csv", "csv", {}, True),
        ("a.csv", "csv", {"multiLine": True}, False),
        ("a.snappy", "parquet", {}, True),
        ("a.avro", "avro", {}, False),
    ],
)
def test_what_can_be_cut(name, form, options, splits):
    source = FileReadSettings.from_glue({"paths": ["/r"]}, form, options).source
    assert source.splits(sized(name, 1)) is splits
