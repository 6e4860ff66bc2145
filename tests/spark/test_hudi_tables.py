"""Scripts that name Hudi reach its data source with their options; a stand-in of that name takes them here.

No build of Hudi for Spark 4.1 was in a public repository when this was written, so Hudi itself never ran.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark import cloudpickle
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter, WriterCommitMessage
from structlog.testing import capture_logs

from awsglue import DynamicFrame
from awsglue.data_catalog import current_catalog
from gluepot.catalog.values import Database, Table
from gluepot.connectors.lake.commits import LakeCommit
from gluepot.connectors.lake.hudi import HudiTable
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import ConfigError

OPTIONS = {
    "hoodie.table.name": "orders",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.operation": "upsert",
}


@dataclass
class Written(WriterCommitMessage):
    rows: list


class StandIn(DataSource):
    """Keeps the options and rows of each write in a JSON file, and reads the rows of all."""

    @classmethod
    def name(cls) -> str:
        return "hudi"

    def schema(self) -> str:
        return "id bigint, text string"

    def reader(self, schema):
        return Reader(Path(self.options["path"]))

    def writer(self, schema, overwrite):
        return Writer(Path(self.options["path"]), dict(self.options))


class Reader(DataSourceReader):
    def __init__(self, folder):
        self.folder = folder

    def read(self, partition):
        for file in sorted(self.folder.glob("*.json")):
            for row in json.loads(file.read_text())["rows"]:
                yield tuple(row)


class Writer(DataSourceWriter):
    def __init__(self, folder, options):
        self.folder, self.options = folder, options

    def write(self, iterator):
        return Written([[row["id"], row["text"]] for row in iterator])

    def commit(self, messages):
        self.folder.mkdir(exist_ok=True)
        rows = [row for one in messages if one for row in one.rows]
        (self.folder / f"{uuid4().hex}.json").write_text(json.dumps({"options": self.options, "rows": rows}))


@pytest.fixture
def hudi(glue_context):
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # Spark's processes cannot import a test
    glue_context.spark_session.dataSource.register(StandIn)


def frame_of(glue_context, rows):
    return DynamicFrame.fromDF(glue_context.spark_session.createDataFrame(rows), glue_context, "rows")


@pytest.mark.parametrize("kind", ["custom.spark", "marketplace.spark"])
def test_a_connector_of_hudi_gets_rows_and_options(glue_context, hudi, tmp_path, kind):
    options = {"className": "org.apache.hudi", "path": str(tmp_path / "orders"), "connectionName": "hudi", **OPTIONS}
    glue_context.write_dynamic_frame.from_options(
        frame=frame_of(glue_context, [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]),
        connection_type=kind,
        connection_options=options,
    )

    (file,) = (tmp_path / "orders").glob("*.json")
    written = json.loads(file.read_text())
    assert sorted(written["rows"]) == [[1, "a"], [2, "b"]]
    # Spark hands options of Python's sources over in lower case.
    assert {name: value for name, value in written["options"].items() if name.startswith("hoodie.")} == {
        name.lower(): value for name, value in OPTIONS.items()
    }
    read = glue_context.create_dynamic_frame.from_options(connection_type=kind, connection_options=options)
    assert sorted(row["text"] for row in read.toDF().collect()) == ["a", "b"]


def test_a_table_of_the_catalog_that_is_of_hudi_is_read_and_written_by_it(glue_context, hudi, tmp_path, monkeypatch):
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_CATALOG", raising=False)
    catalog = current_catalog()
    catalog.add_database(Database("web"))
    storage = {"Location": str(tmp_path / "orders"), "Columns": [{"Name": "id", "Type": "bigint"}]}
    assert catalog.add_table(
        Table("web", "orders", {"StorageDescriptor": storage, "Parameters": {"classification": "hudi"}})
    )

    frame = frame_of(glue_context, [{"id": 1, "text": "a"}])
    glue_context.write_dynamic_frame.from_catalog(
        frame=frame, database="web", table_name="orders", additional_options=OPTIONS
    )

    read = glue_context.create_dynamic_frame.from_catalog(database="web", table_name="orders")
    assert [row["text"] for row in read.toDF().collect()] == ["a"]


def test_a_session_without_hudi_says_what_to_bring(glue_context, tmp_path):
    spark = glue_context.spark_session.newSession()
    for act in (
        lambda: HudiTable(str(tmp_path)).read(spark, {}),
        lambda: HudiTable(str(tmp_path)).append(spark.range(1), None, {}),
    ):
        with pytest.raises(ConfigError, match=r"^This session has no Hudi, .* --extra-jars and set --datalake-formats"):
            act()


@pytest.mark.parametrize(("operation", "told"), [("upsert", 0), ("bulk_insert", 1), ("Insert", 1)])
def test_a_batch_written_by_an_operation_that_a_retry_repeats_is_told(glue_context, hudi, tmp_path, operation, told):
    commit = LakeCommit(CommitKey("q", 0, "write"), "digest")
    frame = glue_context.spark_session.createDataFrame([{"id": 1, "text": "a"}])
    with capture_logs() as logs:
        HudiTable(str(tmp_path / "t")).append(
            frame, commit, {**OPTIONS, "hoodie.datasource.write.operation": operation}
        )
    assert len([one for one in logs if one["event"] == "retry_may_double_rows"]) == told
