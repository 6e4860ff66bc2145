"""Which files of Parquet Spark may scan in our stead."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from pyarrow import parquet

from gluepot.connectors.files.formats.parquet.read import ParquetInputFormat
from gluepot.connectors.files.source.files_source import FilesSource
from gluepot.connectors.files.source.grouping import FileGroup
from gluepot.connectors.files.source.versions import FileVersion
from gluepot.engine.pipeline import Pipeline, SplitInput
from gluepot.engine.plain_files import plain_files
from gluepot.frames.transforms.drop_nulls import DropNulls

ROWS = pa.table({"id": [1, 2], "name": ["a", None], "day": pa.array([1, 2], pa.date32())})


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


def test_plain_files_are_found_with_their_rows_and_columns(written, tmp_path):
    wider = ROWS.append_column("late", pa.array([1.5, 2.5]))

    found = plain_files(written({"1.parquet": ROWS, "2.parquet": wider}))

    assert [(file.path, file.rows) for file in found.files] == [(f"{tmp_path}/{n}.parquet", 2) for n in (1, 2)]
    assert found.schema == wider.schema
    assert found.keys == ()


def test_a_file_in_pieces_is_one_file(written):
    pipeline = written({"1.parquet": ROWS})
    (group,) = pipeline.input.splits
    pieces = tuple(replace(group, piece=piece) for piece in ((0, 100), (100, 200)))

    assert len(plain_files(Pipeline(replace(pipeline.input, splits=pieces))).files) == 1


def test_folders_give_columns(written):
    found = plain_files(written({"country=DE/a=1/1.parquet": ROWS, "country=FR/a=2/1.parquet": ROWS}))

    assert found.keys == ("country", "a")
    assert list(found.partitions) == [(("country", "DE"), ("a", "1")), (("country", "FR"), ("a", "2"))]


def test_texts_of_other_encodings_in_arrow_are_texts(written):
    table = pa.table({"t": pa.array(["a"], pa.large_string()), "d": pa.array(["b"]).dictionary_encode()})

    assert plain_files(written({"1.parquet": table})).schema.types == [pa.string(), pa.string()]


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
        {"a[1].parquet": ROWS},
        {"_a.parquet": ROWS},
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
        "glob",
        "hidden",
        "many",
    ],
)
def test_others_are_read_by_us(written, tables):
    assert plain_files(written(tables)) is None


def test_moments_in_the_format_of_old_sparks_are_read_by_us(written):
    table = pa.table({"at": pa.array([1], pa.timestamp("us"))})

    assert plain_files(written({"1.parquet": table}, use_deprecated_int96_timestamps=True)) is None


def test_another_version_than_planned_is_left_to_our_reader(written, tmp_path):
    pipeline = written({"1.parquet": ROWS})
    parquet.write_table(ROWS.slice(1), tmp_path / "1.parquet")

    assert plain_files(pipeline) is None


def test_damaged_and_missing_files_are_left_to_our_reader(written, tmp_path):
    pipeline = written({"1.parquet": ROWS})
    (tmp_path / "1.parquet").unlink()

    assert plain_files(pipeline) is None


def test_reads_that_do_more_are_ours(written):
    pipeline = written({"1.parquet": ROWS})
    given = pipeline.input

    assert plain_files(pipeline.then(DropNulls())) is None
    assert plain_files(Pipeline(replace(given, is_remembered=True))) is None
    assert plain_files(Pipeline(replace(given, source=replace(given.source, attach_filename="f")))) is None
    assert plain_files(Pipeline(replace(given, splits=()))) is None
    on_s3 = FileGroup((replace_root(given.splits[0].files[0], "s3://bucket/x"),))
    assert plain_files(Pipeline(replace(given, splits=(on_s3,)))) is None


def replace_root(version, root):
    return version._replace(root=root, folder=root)
