"""`toDF` of records of files gives the same DataFrame through files of rows as it gave through a socket."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlparse

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from awsglue.dynamicframe import ResolveOption
from gluepot.connectors.streams.rejects import NOWHERE
from gluepot.core.clock import SystemClock
from gluepot.core.owned_folders import new_owned_folder
from gluepot.engine import on_driver, row_files, row_folders, row_frames
from gluepot.engine.pipeline import Pipeline
from gluepot.engine.readings import Readings
from gluepot.engine.row_files import RowFolders
from gluepot.frames.chunk import Chunk

DEEP = {"a": {"b": {"c": [{"d": 1}, {"d": "one", "e": None}], "f": {}}}}
SHAPES = {
    "choices": [{"n": 1}, {"n": "two"}, {"n": 3.5}, {"n": True}, {"n": [1]}, {"n": {"x": 1}}, {"n": None}],
    "choices_inside": [{"s": {"n": 1}}, {"s": {"n": "two"}}, {"l": [1]}, {"l": ["a"]}, {"l": [None, 2.5]}],
    "nulls": [{"a": None}, {"a": None, "b": None}, {"b": {}}, {"c": []}, {"d": 1}],
    "only_nulls": [{"a": None}, {"b": None}],
    "no_fields": [{}, {}],
    "late_fields": [{}, {"a": 1}, {"b": 2, "a": 1}, {"a": 2, "c": {"x": None}}, {"c": {"x": "y", "z": [{}]}}],
    "unicode": [{"größe": "ß", "名前": "花子 🌸", "a\u0000b": "nul\u0000", "e": ""}, {"größe": "\U0010ffff"}],
    "names": [{"a.b": 1, "`c`": 2, "d e": 3, "f,g;h{}()\t=": 4, "": 5}],
    "names_by_case": [{"id": 1, "ID": "x"}, {"Id": 2.5}],
    "names_by_case_inside": [{"s": {"id": 1, "ID": 2}}],
    "numbers": [{"n": 9223372036854775807, "d": 1e308}, {"n": -9223372036854775808, "d": -0.0}, {"n": 0, "d": 5e-324}],
    "widening": [{"n": 2147483648}, {"n": 1}, {"n": 0.5}],
    "deep": [DEEP, {"a": {"b": None}}, {"a": None}, {"a": {"b": {"c": [None]}}}],
    "order_of_fields": [{"b": 1, "a": {"y": 1, "x": 2}}, {"a": {"x": 1, "y": 2}, "b": 3, "c": 4}],
    "long_texts": [{"t": "x" * 100_000}, {"t": ""}],
}


def new_frame(glue_context, folder, form="json", **options):
    return glue_context.create_dynamic_frame.from_options(
        "s3", {"paths": [str(folder)]}, format=form, format_options=options
    )


def through_socket(spark, make):
    spark.conf.set(row_frames.SETTING, "false")
    try:
        frame = make()
        return frame.schema, frame.collect()
    finally:
        spark.conf.unset(row_frames.SETTING)


def assert_same(glue_context, make, *, reads_files=True):
    wanted_schema, wanted = through_socket(glue_context.spark_session, lambda: make().toDF())
    source = make()
    frame = source.toDF()
    assert (frame.schema, list(map(repr, frame.collect()))) == (wanted_schema, list(map(repr, wanted)))
    assert bool(list(frame.inputFiles())) is reads_files
    return source, frame


def lines(path: Path, records) -> None:
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records))


# Spark's Parquet reader ignores case, and a frame without columns has nothing for a file to hold.
WITHOUT_FILES = {"names_by_case", "names_by_case_inside", "only_nulls", "no_fields"}


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_and_schema_are_the_same(glue_context, tmp_path, shape, monkeypatch):
    lines(tmp_path / "1.json", SHAPES[shape])
    lines(tmp_path / "2.json", SHAPES[shape][::-1])
    # Each record is a row group of its own, so that columns change between the files of a task.
    monkeypatch.setattr("gluepot.connectors.files.formats.json.read._RECORDS", 1)
    monkeypatch.setattr(row_files, "GROUP_BYTES", 1)

    assert_same(glue_context, lambda: new_frame(glue_context, tmp_path), reads_files=shape not in WITHOUT_FILES)


def test_rows_are_the_same_from_tasks(glue_context, tmp_path, monkeypatch):
    monkeypatch.setattr(on_driver, "SMALL_INPUT_BYTES", 0)
    for number in range(3):
        lines(tmp_path / f"{number}.json", [{"n": number, f"only{number}": [number]}, *SHAPES["choices"]])

    assert_same(glue_context, lambda: new_frame(glue_context, tmp_path))


def test_empty_lists_stay_beside_files_that_know_their_type(glue_context, tmp_path):
    lines(tmp_path / "1.json", [{"id": 1, "l": [], "s": {"l": [None], "n": 1}}])
    lines(tmp_path / "2.json", [{"id": 2, "l": ["x"], "s": {"l": [{"a": 1}]}}])

    _, frame = assert_same(glue_context, lambda: new_frame(glue_context, tmp_path))
    first = frame.where("id = 1").collect()[0].asDict(recursive=True)
    assert first == {"id": 1, "l": [], "s": {"l": [None], "n": 1}}


def test_empty_frames_are_the_same(glue_context, tmp_path):
    (tmp_path / "1.json").touch()

    assert_same(glue_context, lambda: new_frame(glue_context, tmp_path), reads_files=False)


def test_csv_with_duplicate_names_and_other_columns_in_each_file(glue_context, tmp_path):
    (tmp_path / "1.csv").write_text('id,name,name\n1,"a,b",\n2,ü,x\n')
    (tmp_path / "2.csv").write_text("id,other\n3,y\n")

    assert_same(glue_context, lambda: new_frame(glue_context, tmp_path, "csv", withHeader=True))


def test_types_of_other_files(glue_context, tmp_path):
    from datetime import UTC, date, datetime

    rows = pa.table(
        {
            "decimal": pa.array([Decimal("1.50"), None], pa.decimal128(38, 10)),
            "day": pa.array([date(1, 1, 1), date(9999, 12, 31)]),
            "at": pa.array(
                [datetime(1500, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")
            ),
            "local": pa.array([datetime(1582, 10, 4), None], pa.timestamp("us")),
            "nanos": pa.array([1, None], pa.timestamp("ns")),
            "map": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int32())),
            "bytes": pa.array([b"\xff\x00", None]),
            "small": pa.array([1, None], pa.int8()),
            "real": pa.array([0.1, float("nan")], pa.float32()),
        }
    )
    for name, columns in (("held", rows.drop_columns("nanos")), ("nanos", rows.select(["small", "nanos"]))):
        (tmp_path / name).mkdir()
        pq.write_table(columns, tmp_path / name / "1.parquet", version="2.6")

    assert_same(glue_context, lambda: new_frame(glue_context, tmp_path / "held", "parquet"))


def test_transforms_and_options_before_it(glue_context, tmp_path):
    lines(tmp_path / "1.json", SHAPES["choices"])

    def renamed():
        return new_frame(glue_context, tmp_path).rename_field("n", "m").filter(lambda row: row["m"] is not None)

    assert_same(glue_context, renamed)
    option = [ResolveOption("n", "Project", "string")]
    spark, frame = glue_context.spark_session, new_frame(glue_context, tmp_path)
    wanted = through_socket(spark, lambda: new_frame(glue_context, tmp_path).toDF(option))
    assert (frame.toDF(option).schema, frame.toDF(option).collect()) == wanted


def test_records_are_decoded_once_for_all_frames_and_actions(glue_context, tmp_path):
    lines(tmp_path / "1.json", SHAPES["deep"])
    source = new_frame(glue_context, tmp_path)

    first = source.toDF()
    (tmp_path / "1.json").unlink()

    assert first.count() == source.toDF().count() == len(SHAPES["deep"])
    assert source.schema() is not None
    assert first.join(source.toDF(), how="cross").count() == len(SHAPES["deep"]) ** 2


def test_a_schema_alone_writes_no_files(glue_context, tmp_path):
    lines(tmp_path / "1.json", SHAPES["deep"])
    before = dict(row_folders.known_files())

    new_frame(glue_context, tmp_path).printSchema()

    assert row_folders.known_files() == before


def test_broken_records_are_left_out_and_still_counted_as_errors(glue_context, tmp_path):
    (tmp_path / "1.json").write_text('{"a": 1}\n{"a": \n{"a": 2}\n')

    source, frame = assert_same(glue_context, lambda: new_frame(glue_context, tmp_path))

    assert (frame.count(), source.errorsCount()) == (2, 1)


def test_a_failure_is_raised_and_leaves_no_files(glue_context, tmp_path):
    lines(tmp_path / "1.json", SHAPES["deep"])
    with (tmp_path / "1.json").open("a") as file:
        file.write("{")
    source = glue_context.create_dynamic_frame.from_options(
        "s3", {"paths": [str(tmp_path)], "isFailFast": True}, format="json"
    )
    roots = [Path(row_folders.new_folders().disk).parent, Path(row_folders.new_folders().memory or tmp_path).parent]
    before = [sorted(root.iterdir()) for root in roots]

    with pytest.raises(Exception, match="isFailFast"):
        source.toDF()

    assert [sorted(root.iterdir()) for root in roots] == before


@pytest.mark.parametrize("in_driver", [True, False])
@pytest.mark.parametrize("records", [SHAPES["deep"], [{"l": []}, {"l": [1]}]], ids=["one_pass", "two_passes"])
def test_the_read_is_counted_once(glue_context, tmp_path, monkeypatch, records, in_driver):
    totals = Readings()
    monkeypatch.setattr("gluepot.engine.execute.READINGS", totals)
    monkeypatch.setattr(on_driver, "is_small_input", lambda sizes: in_driver)
    for number, record in enumerate(records):
        lines(tmp_path / f"{number}.json", [record])

    frame = new_frame(glue_context, tmp_path)
    assert len(frame.toDF().collect()) == len(records)
    assert totals.records_and_bytes()[0] == len(records)

    glue_context.write_dynamic_frame.from_options(frame, "s3", {"path": str(tmp_path / "out")}, "parquet")
    assert totals.records_and_bytes()[0] == 2 * len(records)


def test_files_go_to_disk_where_memory_is_used_up(tmp_path, monkeypatch):
    monkeypatch.setattr(row_files, "GROUP_BYTES", 1)
    folders = [tmp_path / "disk", tmp_path / "memory" / "frame"]
    for one in folders:
        one.mkdir(parents=True)
    chunks = [Chunk(pa.RecordBatch.from_pydict({"n": [number]})) for number in range(4)]

    written = row_files.write_rows(
        chunks, RowFolders(str(folders[0]), str(folders[1]), most_bytes=1), NOWHERE.of_task(0)
    )

    assert [(Path(file.path).parent.name, file.rows) for file in written.files] == [("frame", 1), ("disk", 3)]
    assert written.records == 4


def test_a_folder_of_a_dead_process_is_removed(tmp_path):
    left = tmp_path / "gluepot-rows-left"
    left.mkdir()
    (left / "owner").touch()
    os.utime(left, (0, 0))

    mine = new_owned_folder("gluepot-rows-", SystemClock(), str(tmp_path))
    other = new_owned_folder("gluepot-rows-", SystemClock(), str(tmp_path))

    assert sorted(tmp_path.iterdir()) == sorted([mine, other])


def test_files_of_parquet_are_scanned_where_they_are(glue_context, tmp_path):
    table = pa.table(
        {
            "id": pa.array([1, 2, None], pa.int64()),
            "small": pa.array([1, -1, None], pa.int8()),
            "name": ["a", "größe", None],
            "data": pa.array([b"a", b"\0", None]),
            "price": pa.array([Decimal("1.25"), Decimal("-0.01"), None], pa.decimal128(12, 2)),
            "day": pa.array([0, -400_000, None], pa.date32()),
            "at": pa.array([0, -1, None], pa.timestamp("us", "UTC")),
            "local": pa.array([0, 1_700_000_000_123_456, None], pa.timestamp("us")),
            "ratio": pa.array([0.5, float("inf"), None]),
        }
    )
    for folder, part in (
        ("land=DE", table),
        ("land=FR %2F#", table.slice(1)),
        ("land=__HIVE_DEFAULT_PARTITION__", table),
    ):
        (tmp_path / folder).mkdir()
        pq.write_table(
            part.select(table.column_names[:4]) if part is not table else part, tmp_path / folder / "1.parquet"
        )

    wanted_schema, wanted = through_socket(
        glue_context.spark_session, lambda: new_frame(glue_context, tmp_path, "parquet").toDF()
    )
    frame = new_frame(glue_context, tmp_path, "parquet").toDF()

    assert frame.schema == wanted_schema
    assert sorted(map(repr, frame.collect())) == sorted(map(repr, wanted))
    assert len(wanted) == 8
    scanned = [Path(urlparse(path).path) for path in frame.inputFiles()]
    assert sorted(one.stat().st_ino for one in scanned) == sorted(one.stat().st_ino for one in tmp_path.glob("*/*"))


def test_files_that_a_bookmark_remembers_are_read_by_us(glue_context, tmp_path):
    pq.write_table(pa.table({"id": [1]}), tmp_path / "1.parquet")
    source = new_frame(glue_context, tmp_path, "parquet")
    source._made = Pipeline(replace(source._unchecked().input, bookmark="source"))

    (scanned,) = (Path(urlparse(path).path) for path in source.toDF().inputFiles())
    assert not scanned.samefile(tmp_path / "1.parquet")


def test_values_without_a_type_are_counted_and_a_table_gives_them_its_type(glue_context, tmp_path, capsys):
    lines(tmp_path / "a.json", [{"id": 1, "l": []}, {"id": 2, "l": [None]}])
    frame = new_frame(glue_context, tmp_path)

    assert frame.toDF().columns == ["id"]
    (warned,) = [line for line in capsys.readouterr().err.splitlines() if "values_without_type" in line]
    assert json.loads(warned)["nulls_by_field"] == {"l": 2}

    rows = frame.rows_for(lambda: {"l": pa.list_(pa.int32())})
    assert [row.asDict() for row in rows.collect()] == [{"id": 1, "l": []}, {"id": 2, "l": [None]}]
    assert "values_without_type" not in capsys.readouterr().err
