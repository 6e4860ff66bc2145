"""Tables of the catalog, written through Glue's own calls."""

from __future__ import annotations

import json

import duckdb
import pytest

from awsglue import DynamicFrame
from awsglue.data_catalog import current_catalog
from awsglue.job import Job
from gluepot.bookmarks import jobrun
from gluepot.catalog.values import Database
from gluepot.core.errors import ConfigError


@pytest.fixture
def catalog(tmp_path, monkeypatch):
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_CATALOG", raising=False)
    opened = current_catalog()
    opened.add_database(Database("web"))
    yield opened
    jobrun.end("the test ended")


class Written:
    """Writes rows to the table `web.clicks` in a folder of the test."""

    def __init__(self, glue_context, folder):
        self.glue_context = glue_context
        self.path = str(folder / "clicks")

    def frame(self, rows, schema):
        return DynamicFrame.fromDF(
            self.glue_context.spark_session.createDataFrame(rows, schema), self.glue_context, "f"
        )

    def sink(self, rows, schema="id long, day string", form="glueparquet", table="clicks", **options):
        given = {"path": self.path, "enableUpdateCatalog": True, "partitionKeys": ["day"], **options}
        sink = self.glue_context.getSink(connection_type="s3", transformation_ctx="sink0", **given)
        sink.setFormat(form)
        sink.setCatalogInfo(catalogDatabase="web", catalogTableName=table)
        return sink.writeFrame(self.frame(rows, schema))

    def read(self):
        frame = self.glue_context.create_dynamic_frame.from_catalog("web", "clicks").toDF()
        return sorted(tuple(row) for row in frame.select(*sorted(frame.columns)).collect())


@pytest.fixture
def written(glue_context, catalog, tmp_path):
    return Written(glue_context, tmp_path)


def columns(table):
    return [(one.name, one.type) for one in table.storage.columns]


@pytest.mark.parametrize("form", ["glueparquet", "json", "csv"])
def test_a_first_write_makes_the_table_and_what_it_wrote_is_read_back(written, catalog, form):
    written.sink([(1, "a"), (2, "b")], form=form)
    table = catalog.table("web", "clicks")
    assert columns(table) == [("id", "bigint")]
    assert [key.name for key in table.partition_keys] == ["day"]
    assert [one.values for one in catalog.partitions(table)] == [("a",), ("b",)]
    assert written.read() == [("a", 1), ("b", 2)]


def test_a_later_write_adds_its_columns_and_partitions(written, catalog):
    written.sink([(1, "a")])
    written.sink([(2, "x", "b")], "id long, page string, day string")
    table = catalog.table("web", "clicks")
    assert columns(table) == [("id", "bigint"), ("page", "string")]
    assert [one.values for one in catalog.partitions(table)] == [("a",), ("b",)]
    assert table.version == 1


def test_with_log_a_write_of_known_columns_adds_its_partitions(written, catalog):
    written.sink([(1, "a")])
    written.sink([(2, "b")], updateBehavior="LOG")
    assert len(catalog.partitions(catalog.table("web", "clicks"))) == 2


def test_with_log_a_write_of_other_columns_leaves_the_catalog_as_it_is(written, catalog, capsys):
    written.sink([(1, "a")])
    capsys.readouterr()
    written.sink([(2, "x", "b")], "id long, page string, day string", updateBehavior="LOG")
    table = catalog.table("web", "clicks")
    assert (columns(table), len(catalog.partitions(table))) == ([("id", "bigint")], 1)
    messages = [json.loads(line)["msg"] for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    assert [line for line in messages if line.startswith(("Attempting", "Schema"))] == [
        "Attempting to fast-forward updates to the Catalog - nameSpace: web, table: clicks, catalogId: None",
        "Schema change policy behavior: LOG",
        "Schemas qualify (schema compare): false",
        "Schemas qualify (case-insensitive compare): false",
    ]


def test_other_partition_keys_are_refused_before_anything_is_written(written, catalog, tmp_path):
    written.sink([(1, "a")])
    before = sorted((tmp_path / "clicks").rglob("*.parquet"))
    with pytest.raises(ConfigError, match=r"has the partitionKeys \['id'\], the table web.clicks has \['day'\]"):
        written.sink([(2, "b")], partitionKeys=["id"])
    assert sorted((tmp_path / "clicks").rglob("*.parquet")) == before


def test_a_missing_database_is_refused(written, catalog):
    sink = written.glue_context.getSink("s3", path=written.path, enableUpdateCatalog=True)
    sink.setFormat("json")
    sink.setCatalogInfo("shop", "clicks")
    with pytest.raises(ConfigError, match="no database 'shop'"):
        sink.writeFrame(written.frame([(1,)], "id long"))


def test_a_write_from_the_catalog_goes_where_the_table_lies(written, catalog):
    written.sink([(1, "a")])
    frame = written.frame([(2, "b")], "id long, day string")
    for _ in range(2):
        written.glue_context.write_dynamic_frame.from_catalog(
            frame, "web", "clicks", additional_options={"enableUpdateCatalog": True}
        )
    assert written.read() == [("a", 1), ("b", 2), ("b", 2)]
    assert len(catalog.partitions(catalog.table("web", "clicks"))) == 2


def test_sparks_writer_appends_to_the_table(written, catalog):
    written.sink([(1, "a")])
    frame = written.glue_context.spark_session.createDataFrame([(2, "a")], "id long, day string")
    written.glue_context.write_data_frame.from_catalog(
        frame, "web", "clicks", additional_options={"useSparkDataSink": True}
    )
    assert written.read() == [("a", 1), ("a", 2)]


def test_a_run_that_is_done_again_makes_known_what_the_first_attempt_published(written, catalog, tmp_path):
    def run(run_id, **options):
        job = Job(written.glue_context)
        job.init("copy", {"JOB_RUN_ID": run_id, "job_bookmark_option": "job-bookmark-enable"})
        frame = written.glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [str(tmp_path / "in")]}, "json", transformation_ctx="source0"
        )
        given = {"path": written.path, "partitionKeys": ["day"], "transformation_ctx": "sink0", **options}
        sink = written.glue_context.getSink("s3", **given)
        sink.setFormat("glueparquet")
        sink.setCatalogInfo("web", "clicks")
        sink.writeFrame(frame)
        return job

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text('{"id": 1, "day": "a"}\n')
    run("jr_1")
    jobrun.end("the driver died before it reached the catalog")
    before = sorted((tmp_path / "clicks").rglob("*.parquet"))
    run("jr_2", enableUpdateCatalog=True).commit()
    assert sorted((tmp_path / "clicks").rglob("*.parquet")) == before
    assert written.read() == [("a", 1)]
    found = duckdb.sql(f"SELECT count(*) FROM read_parquet({[str(one) for one in before]!r})").fetchall()
    assert found == [(1,)]


def test_options_of_a_write_can_name_the_table(written, catalog, glue_context):
    options = {"path": written.path, "enableUpdateCatalog": True, "partitionKeys": ["day"]}
    for more in ({}, {"databaseName": "web"}):
        with pytest.raises(ConfigError, match="give the options databaseName and tableName"):
            glue_context.write_dynamic_frame.from_options(
                written.frame([(1, "a")], "id long, day string"), "s3", {**options, **more}, "glueparquet"
            )
    glue_context.write_dynamic_frame.from_options(
        written.frame([(1, "a")], "id long, day string"),
        "s3",
        {**options, "databaseName": "web", "tableName": "clicks"},
        "glueparquet",
    )

    assert written.read() == [("a", 1)]
    assert columns(catalog.table("web", "clicks")) == [("id", "bigint")]
