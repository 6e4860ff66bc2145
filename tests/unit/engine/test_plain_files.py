"""Which files of Parquet Spark may scan in our stead."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from gluepot.connectors.files.formats.parquet.read import ParquetInputFormat
from gluepot.connectors.files.source.files_source import FilesSource
from gluepot.connectors.files.source.grouping import FileGroup
from gluepot.connectors.files.source.versions import FileVersion
from gluepot.engine.pipeline import Pipeline, SplitInput
from gluepot.engine.plain_files import plain_files
from gluepot.engine.row_files import RowFolders
from gluepot.frames.transforms.drop_nulls import DropNulls

ROWS = pa.table({"id": [1, 2], "name": ["a", None], "day": pa.array([1, 2], pa.date32())})


@pytest.fixture
def links(tmp_path):
    (tmp_path / "links").mkdir()
    return tmp_path / "links"


@pytest.fixture
def look(links):
    return lambda pipeline: plain_files(pipeline, RowFolders(str(links)))


@pytest.fixture
def written(tmp_path):
    """Write tables below the folder, and return the pipeline that reads them."""

    def write(tables, **options):
        versions = []
        for name, table in tables.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            parquet.write_table(table, path, **options)
            state = path.stat()
            versions.append(
                FileVersion(str(tmp_path), str(path.parent), path.name, state.st_size, state.st_mtime_ns // 1000)
            )
        groups = tuple(FileGroup((version,)) for version in versions)
        return Pipeline(SplitInput(FilesSource(ParquetInputFormat()), groups))

    return write


def test_plain_files_are_found_with_their_rows_and_columns(written, look, tmp_path, links):
    wider = ROWS.append_column("late", pa.array([1.5, 2.5]))

    found = look(written({"1.parquet": ROWS, "2.parquet": wider}))

    originals = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    assert all(Path(file.path).samefile(path) for file, path in zip(found.files, originals, strict=True))
    assert [file.rows for file in found.files] == [2, 2]
    assert {Path(file.path).parent for file in found.files} == {links}
    assert found.schema == wider.schema
    assert found.keys == ()


def test_a_file_in_pieces_is_one_file(written, look):
    pipeline = written({"1.parquet": ROWS})
    (group,) = pipeline.input.splits
    pieces = tuple(replace(group, piece=piece) for piece in ((0, 100), (100, 200)))

    assert len(look(Pipeline(replace(pipeline.input, splits=pieces))).files) == 1


def test_folders_give_columns(written, look):
    found = look(written({"country=DE/a=1/1.parquet": ROWS, "country=FR/a=2/1.parquet": ROWS}))

    assert found.keys == ("country", "a")
    assert list(found.partitions) == [(("country", "DE"), ("a", "1")), (("country", "FR"), ("a", "2"))]


def test_texts_of_other_encodings_in_arrow_are_texts(written, look):
    table = pa.table({"t": pa.array(["a"], pa.large_string()), "d": pa.array(["b"]).dictionary_encode()})

    assert look(written({"1.parquet": table})).schema.types == [pa.string(), pa.string()]


@pytest.mark.parametrize(
    "tables",
    [
        {"1.parquet": pa.table({"n": [[1]]})},
        {"1.parquet": pa.table({"n": [{"a": 1}]})},
        {"1.parquet": pa.table({"n": pa.array([1], pa.uint32())})},
        {"1.parquet": pa.table({"n": pa.array([1], pa.timestamp("ns"))})},
        {"1.parquet": pa.table({"n": pa.array([1], pa.time64("us"))})},
        {"1.parquet": pa.table({"n": [1], "N": [2]})},
        {"1.parquet": ROWS.replace_schema_metadata({"org.apache.spark.legacyDateTime": ""})},
        {"1.parquet": pa.table({"id": [1]}), "2.parquet": pa.table({"id": ["1"]})},
        {"id=1/1.parquet": ROWS},
        {"a=1/1.parquet": ROWS, "b=1/1.parquet": ROWS},
        {f"a={n}/1.parquet": ROWS for n in range(65)},
    ],
    ids=[
        "list",
        "struct",
        "unsigned",
        "ns",
        "time",
        "case",
        "calendar",
        "choice",
        "key",
        "keys",
        "many",
    ],
)
def test_others_are_read_by_us(written, look, links, tables):
    assert look(written(tables)) is None
    assert not list(links.iterdir())


def test_a_file_that_cannot_be_linked_is_read_by_us(written, tmp_path):
    assert plain_files(written({"1.parquet": ROWS}), RowFolders(str(tmp_path / "elsewhere"))) is None


def test_moments_in_the_format_of_old_sparks_are_read_by_us(written, look):
    table = pa.table({"at": pa.array([1], pa.timestamp("us"))})

    assert look(written({"1.parquet": table}, use_deprecated_int96_timestamps=True)) is None


def test_another_version_than_planned_is_left_to_our_reader(written, look, tmp_path):
    pipeline = written({"1.parquet": ROWS})
    parquet.write_table(ROWS.slice(1), tmp_path / "1.parquet")

    assert look(pipeline) is None


def test_damaged_and_missing_files_are_left_to_our_reader(written, look, tmp_path):
    pipeline = written({"1.parquet": ROWS})
    (tmp_path / "1.parquet").unlink()

    assert look(pipeline) is None


def test_reads_that_do_more_are_ours(written, look):
    pipeline = written({"1.parquet": ROWS})
    given = pipeline.input

    assert look(pipeline.then(DropNulls())) is None
    assert look(Pipeline(replace(given, bookmark="source"))) is None
    assert look(Pipeline(replace(given, source=replace(given.source, attach_filename="f")))) is None
    assert look(Pipeline(replace(given, splits=()))) is None
    on_s3 = FileGroup((replace_root(given.splits[0].files[0], "s3://bucket/x"),))
    assert look(Pipeline(replace(given, splits=(on_s3,)))) is None


def replace_root(version, root):
    return version._replace(root=root, folder=root)
