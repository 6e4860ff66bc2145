"""Every format a script can name, written through Glue's own calls and read back by DuckDB."""

import duckdb
import pytest

from awsglue import DynamicFrame
from gluepot.core.errors import ConfigError

ROWS = [(1, "a"), (2, "b,c")]


@pytest.fixture
def frame(glue_context):
    plain = glue_context.spark_session.createDataFrame(ROWS, "id INT, text STRING")
    return DynamicFrame.fromDF(plain, glue_context, "frame")


def read(table, reader):
    files = [str(path) for path in table.rglob("run-*") if path.is_file()]
    assert files
    return sorted(duckdb.sql(f"SELECT id, text FROM {reader}({files!r})").fetchall())


@pytest.mark.parametrize(
    ("name", "options", "reader"),
    [
        ("glueparquet", {"compression": "snappy"}, "read_parquet"),
        ("parquet", {"useGlueParquetWriter": True, "compression": "zstd"}, "read_parquet"),
        ("json", {}, "read_json"),
        ("csv", {"separator": ";"}, "read_csv"),
    ],
)
def test_from_options_writes_every_format(glue_context, frame, tmp_path, name, options, reader):
    glue_context.write_dynamic_frame.from_options(
        frame=frame,
        connection_type="s3",
        connection_options={"path": str(tmp_path)},
        format=name,
        format_options=options,
    )

    assert read(tmp_path, reader) == ROWS


def test_get_sink_with_set_format_writes_too(glue_context, frame, tmp_path):
    sink = glue_context.getSink(connection_type="s3", path=str(tmp_path), compression="gzip", transformation_ctx="sink")
    sink.setFormat("json")
    sink.writeFrame(frame)

    assert {path.suffix for path in tmp_path.rglob("run-sink-*")} == {".gz"}
    assert read(tmp_path, "read_json") == ROWS


def test_an_unknown_format_names_those_there_are(glue_context, frame, tmp_path):
    with pytest.raises(ConfigError, match=r"'jsn'; use one of csv, glueparquet, json, parquet.*'json'"):
        glue_context.write_dynamic_frame.from_options(
            frame=frame, connection_type="s3", connection_options={"path": str(tmp_path)}, format="jsn"
        )
