"""`docs/support.md` both ways: it is what the code says, what it says to work is called here, what it refuses refuses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import awsgluedq.transforms
import awsglueml.transforms
from awsglue import transforms
from awsglue.context import GlueContext
from awsglue.data_catalog import current_catalog
from awsglue.dynamicframe import DynamicFrame, DynamicFrameCollection
from awsglue.job import Job
from awsglueml.entity_detector import EntityDetector
from gluepot.catalog.values import Database, Table
from gluepot.check.calls import TRANSFORM
from gluepot.check.finding import Level
from gluepot.check.support import entries, support_table
from gluepot.core.errors import ConfigError, NotSupported

ENTRIES = list(entries())
NOT_THERE = [f"{one.owner}.{one.name}" for one in ENTRIES if one.level is Level.NOT_SUPPORTED]


@dataclass(frozen=True)
class Scene:
    """What calls are made on."""

    context: GlueContext
    frame: DynamicFrame
    folder: Path
    numbers: Any

    @property
    def frames(self) -> DynamicFrameCollection:
        return DynamicFrameCollection({"a": self.frame, "b": self.frame}, self.context)

    def path(self, name: str = "out") -> dict[str, str]:
        return {"path": str(self.folder / name)}

    def given(self) -> dict[str, list[str]]:
        """Options that read two files."""
        (self.folder / "in").mkdir(exist_ok=True)
        for name in ("1.json", "2.json"):
            (self.folder / "in" / name).write_text('{"n": 1}\n')
        return {"paths": [str(self.folder / "in")]}

    def sink(self) -> Any:
        sink = self.context.getSink("s3", path=str(self.folder / "out"))
        sink.setFormat("json")
        return sink

    def source(self) -> Any:
        return self.context.getSource("s3", format="json", **self.given())

    def table(self) -> tuple[str, str]:
        """Add a table of JSON files to the catalog and return its name."""
        (path,) = self.given()["paths"]
        body = {"StorageDescriptor": {"Columns": [{"Name": "n", "Type": "int"}], "Location": path}}
        catalog = current_catalog()
        catalog.add_database(Database("d"))
        catalog.add_table(Table("d", "t", {**body, "Parameters": {"classification": "json"}}))
        return "d", "t"

    def connection(self) -> str:
        """Write a connections file and return the name of its one connection."""
        Path("gluepot.connections.yaml").write_text(
            "connections: {w: {type: jdbc, properties: {JDBC_CONNECTION_URL: 'jdbc:postgresql://db/d'}}}"
        )
        return "w"

    def job(self) -> Job:
        job = Job(self.context)
        job.init("support", {})
        return job


@pytest.fixture
def scene(glue_context, numbers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    for name in ("GLUEPOT_CATALOG", "GLUEPOT_CONNECTIONS"):
        monkeypatch.delenv(name, raising=False)
    rows = [(1, "x y", ["p", "q"], '{"k": 1}', "2023-03-27"), (2, None, [], "{}", None)]
    schema = "n int, s string, l array<string>, j string, t string"
    frame = DynamicFrame.fromDF(glue_context.spark_session.createDataFrame(rows, schema), glue_context, "scene")
    return Scene(glue_context, frame, tmp_path, numbers)


def kafka(scene: Scene) -> dict[str, str]:
    return {"bootstrap.servers": "127.0.0.1:1", "topicName": "t", "inferSchema": "true", "classification": "json"}


def without_connection(call: Any) -> None:
    """A call that gets as far as to look for the connection it names; tests/integration has a database."""
    with pytest.raises(ConfigError, match="connection 'shop' is not known"):
        call("shop")


CALLS = {
    "EntityDetector.classify_columns": lambda s: EntityDetector().classify_columns(s.frame, ["EMAIL"]),
    "EntityDetector.detect": lambda s: EntityDetector().detect(s.frame, ["EMAIL"]).count(),
    "GlueContext.add_ingestion_time_columns": lambda s: s.context.add_ingestion_time_columns(s.frame.toDF(), "day"),
    "GlueContext.convert_resolve_option": lambda s: s.context.convert_resolve_option("a", "Project", "int"),
    "GlueContext.create_data_frame_from_catalog": lambda s: s.context.create_data_frame_from_catalog(*s.table()).count(),
    "GlueContext.create_dynamic_frame_from_catalog": lambda s: s.context.create_dynamic_frame_from_catalog(*s.table()).count(),
    "GlueContext.create_sample_dynamic_frame_from_catalog": lambda s: s.context.create_sample_dynamic_frame_from_catalog(*s.table(), 1).count(),
    "GlueContext.create_sample_dynamic_frame_from_options": lambda s: s.context.create_sample_dynamic_frame_from_options("s3", s.given(), 1, format="json").count(),
    "GlueContext.extract_jdbc_conf": lambda s: s.context.extract_jdbc_conf(s.connection()),
    "GlueContext.get_catalog_schema_as_spark_schema": lambda s: s.context.get_catalog_schema_as_spark_schema(*s.table()),
    "GlueContext.purge_s3_path": lambda s: s.context.purge_s3_path(s.given()["paths"][0], {"retentionPeriod": 0}),
    "GlueContext.purge_table": lambda s: s.context.purge_table(*s.table(), {"retentionPeriod": 0}),
    "GlueContext.write_data_frame_from_catalog": lambda s: s.context.write_data_frame_from_catalog(s.frame.toDF(), *s.table()),
    "GlueContext.write_dynamic_frame_from_catalog": lambda s: s.context.write_dynamic_frame_from_catalog(s.frame, *s.table()),
    "GlueContext.create_data_frame_from_options": lambda s: s.context.create_data_frame_from_options("kafka", kafka(s)),
    "GlueContext.create_dynamic_frame_from_options": lambda s: s.context.create_dynamic_frame_from_options("s3", s.given(), "json").count(),
    "GlueContext.create_dynamic_frame_from_rdd": lambda s: s.context.create_dynamic_frame_from_rdd([(1,)], "x").count(),
    "GlueContext.currentTimeMillis": lambda s: s.context.currentTimeMillis(),
    "GlueContext.forEachBatch": lambda s: s.numbers.run(lambda frame, _: frame.count()),
    "GlueContext.cancel_transaction": lambda s: s.context.cancel_transaction("id"),
    "GlueContext.commit_transaction": lambda s: s.context.commit_transaction("id"),
    "GlueContext.start_transaction": lambda s: s.context.start_transaction(False),
    "GlueContext.getSampleStreamingDynamicFrame": lambda s: s.context.getSampleStreamingDynamicFrame(s.numbers.frame(), {"windowSize": "1 seconds", "recordPollingLimit": 1}).count(),
    "GlueContext.getSink": lambda s: s.sink(),
    "GlueContext.getSource": lambda s: s.source(),
    "GlueContext.getStreamingSource": lambda s: s.context.getStreamingSource("kafka", **kafka(s)),
    "GlueContext.get_logger": lambda s: s.context.get_logger().info("x"),
    "GlueContext.write_dynamic_frame_from_options": lambda s: s.context.write_dynamic_frame_from_options(s.frame, "s3", s.path(), "json"),
    "GlueContext.write_dynamic_frame_from_jdbc_conf": lambda s: without_connection(lambda name: s.context.write_dynamic_frame_from_jdbc_conf(s.frame, name, {"dbtable": "t"})),
    "GlueContext.write_from_jdbc_conf": lambda s: without_connection(lambda name: s.context.write_from_jdbc_conf(s.frame, name, {"dbtable": "t"})),
    "GlueContext.write_from_options": lambda s: s.context.write_from_options(s.frames, "s3", s.path(), "json"),
    "DynamicFrame.applyMapping": lambda s: s.frame.applyMapping([("n", "m")]).count(),
    "DynamicFrame.apply_mapping": lambda s: s.frame.apply_mapping([("n", "int", "m", "long")]).count(),
    "DynamicFrame.assertErrorThreshold": lambda s: s.frame.assertErrorThreshold(),
    "DynamicFrame.coalesce": lambda s: s.frame.coalesce(1).count(),
    "DynamicFrame.count": lambda s: s.frame.count(),
    "DynamicFrame.drop_fields": lambda s: s.frame.drop_fields(["n"]).count(),
    "DynamicFrame.errorsAsDynamicFrame": lambda s: s.frame.errorsAsDynamicFrame().count(),
    "DynamicFrame.errorsCount": lambda s: s.frame.errorsCount(),
    "DynamicFrame.filter": lambda s: s.frame.filter(lambda r: r["n"] > 1).count(),
    "DynamicFrame.fromDF": lambda s: DynamicFrame.fromDF(s.frame.toDF(), s.context, "x"),
    "DynamicFrame.getNumPartitions": lambda s: s.frame.getNumPartitions(),
    "DynamicFrame.gs_array_to_cols": lambda s: s.frame.gs_array_to_cols("l", "a, b").count(),
    "DynamicFrame.gs_concat": lambda s: s.frame.gs_concat("c", ["n", "s"]).count(),
    "DynamicFrame.gs_derived": lambda s: s.frame.gs_derived("m", "n + 1").count(),
    "DynamicFrame.gs_explode": lambda s: s.frame.gs_explode("l", "e").count(),
    "DynamicFrame.gs_extract_json": lambda s: s.frame.gs_extract_json("j", "k", "k").count(),
    "DynamicFrame.gs_flatten": lambda s: s.frame.gs_flatten().count(),
    "DynamicFrame.gs_format_timestamp": lambda s: s.frame.gs_format_timestamp("t", "yyyy").count(),
    "DynamicFrame.gs_identifier": lambda s: s.frame.gs_identifier().count(),
    "DynamicFrame.gs_lookup": lambda s: (s.frame.toDF().createOrReplaceTempView("scene"), s.frame.select_fields(["n"]).gs_lookup("scene", "n", "s").count()),
    "DynamicFrame.gs_now": lambda s: s.frame.gs_now().count(),
    "DynamicFrame.gs_null_rows": lambda s: s.frame.gs_null_rows().count(),
    "DynamicFrame.gs_parse_json": lambda s: s.frame.gs_parse_json("j").count(),
    "DynamicFrame.gs_pivot": lambda s: s.frame.gs_pivot("n", "sum", ["s"]).count(),
    "DynamicFrame.gs_regex_extract": lambda s: s.frame.gs_regex_extract("s", "(x)", "x").count(),
    "DynamicFrame.gs_repartition": lambda s: s.frame.gs_repartition("1").count(),
    "DynamicFrame.gs_split": lambda s: s.frame.gs_split("s", " ").count(),
    "DynamicFrame.gs_to_timestamp": lambda s: s.frame.gs_to_timestamp("t", "iso").count(),
    "DynamicFrame.gs_unpivot": lambda s: s.frame.gs_unpivot("name", "value", ["s", "t"]).count(),
    "DynamicFrame.gs_uuid": lambda s: s.frame.gs_uuid().count(),
    "DynamicFrame.join": lambda s: s.frame.join("n", "n", s.frame).count(),
    "DynamicFrame.map": lambda s: s.frame.map(lambda r: r).count(),
    "DynamicFrame.mapPartitions": lambda s: s.frame.mapPartitions(list).count(),
    "DynamicFrame.mapPartitionsWithIndex": lambda s: s.frame.mapPartitionsWithIndex(lambda _, rows: rows).count(),
    "DynamicFrame.mergeDynamicFrame": lambda s: s.frame.mergeDynamicFrame(s.frame, ["n"]).count(),
    "DynamicFrame.printSchema": lambda s: s.frame.printSchema(),
    "DynamicFrame.relationalize": lambda s: s.frame.relationalize("root", None).select("root_l").count(),
    "DynamicFrame.rename_field": lambda s: s.frame.rename_field("n", "m").count(),
    "DynamicFrame.repartition": lambda s: s.frame.repartition(1).count(),
    "DynamicFrame.resolveChoice": lambda s: s.frame.resolveChoice(specs=[("n", "cast:long")]).count(),
    "DynamicFrame.schema": lambda s: s.frame.schema(),
    "DynamicFrame.select_fields": lambda s: s.frame.select_fields(["n"]).count(),
    "DynamicFrame.show": lambda s: s.frame.show(1),
    "DynamicFrame.simplify_ddb_json": lambda s: s.frame.simplify_ddb_json().count(),
    "DynamicFrame.spigot": lambda s: s.frame.spigot(s.path()["path"]).count(),
    "DynamicFrame.split_fields": lambda s: s.frame.split_fields(["n"], "a", "b")["a"].count(),
    "DynamicFrame.split_rows": lambda s: s.frame.split_rows({"n": {">": 1}}, "a", "b")["a"].count(),
    "DynamicFrame.stageErrorsCount": lambda s: s.frame.stageErrorsCount(),
    "DynamicFrame.toDF": lambda s: s.frame.toDF().count(),
    "DynamicFrame.unbox": lambda s: s.frame.unbox("j", "json").count(),
    "DynamicFrame.union": lambda s: s.frame.union(s.frame).count(),
    "DynamicFrame.unnest": lambda s: s.frame.unnest().count(),
    "DynamicFrame.unnest_ddb_json": lambda s: s.frame.unnest_ddb_json().count(),
    "DynamicFrame.with_frame_schema": lambda s: s.frame.with_frame_schema(s.frame.schema()),
    "DynamicFrame.write": lambda s: s.frame.write("s3", s.path(), "json"),
    "DynamicFrameCollection.flatmap": lambda s: s.frames.flatmap(lambda frame, ctx: frame).keys(),
    "DynamicFrameCollection.items": lambda s: s.frames.items(),
    "DynamicFrameCollection.keys": lambda s: s.frames.keys(),
    "DynamicFrameCollection.map": lambda s: s.frames.map(lambda frame, ctx: frame).keys(),
    "DynamicFrameCollection.select": lambda s: s.frames.select("a").count(),
    "DynamicFrameCollection.values": lambda s: s.frames.values(),
    "DynamicFrameReader.from_catalog": lambda s: s.context.create_dynamic_frame.from_catalog(*s.table()).count(),
    "DynamicFrameWriter.from_catalog": lambda s: s.context.write_dynamic_frame.from_catalog(s.frame, *s.table()),
    "DataFrameReader.from_catalog": lambda s: s.context.create_data_frame.from_catalog(*s.table()).count(),
    "DataFrameWriter.from_catalog": lambda s: s.context.write_data_frame.from_catalog(s.frame.toDF(), *s.table()),
    "DynamicFrameReader.from_options": lambda s: s.context.create_dynamic_frame.from_options("s3", s.given(), "json").count(),
    "DynamicFrameReader.from_rdd": lambda s: s.context.create_dynamic_frame.from_rdd([(1,)], "x").count(),
    "DynamicFrameWriter.from_jdbc_conf": lambda s: without_connection(lambda name: s.context.write_dynamic_frame.from_jdbc_conf(s.frame, name, {"dbtable": "t"})),
    "DynamicFrameWriter.from_options": lambda s: s.context.write_dynamic_frame.from_options(s.frame, "s3", s.path(), "json"),
    "DataFrameReader.from_options": lambda s: s.context.create_data_frame.from_options("kafka", kafka(s)),
    "DataSink.setAccumulableSize": lambda s: s.sink().setAccumulableSize(1),
    "DataSink.setCatalogInfo": lambda s: s.sink().setCatalogInfo("d", "t"),
    "DataSink.setFormat": lambda s: s.sink().setFormat("csv"),
    "DataSink.write": lambda s: s.sink().write(s.frame),
    "DataSink.writeFrame": lambda s: s.sink().writeFrame(s.frame),
    "DataSource.getDataFrame": lambda s: s.source().getDataFrame().count(),
    "DataSource.getFrame": lambda s: s.source().getFrame(minPartitions=1).count(),
    "DataSource.getSampleFrame": lambda s: s.source().getSampleFrame(1).count(),
    "DataSource.setFormat": lambda s: s.source().setFormat("csv", withHeader=True),
    "StreamingDataSource.getFrame": lambda s: s.context.getStreamingSource("kafka", **kafka(s)).getFrame(),
    "StreamingDataSource.setFormat": lambda s: s.context.getStreamingSource("kafka", **kafka(s)).setFormat("json"),
    "Job.commit": lambda s: s.job().commit(),
    "Job.continuation_options": lambda s: Job.continuation_options(),
    "Job.data_lineage_options": lambda s: Job.data_lineage_options(),
    "Job.encryption_type_options": lambda s: Job.encryption_type_options(),
    "Job.id_params": lambda s: Job.id_params(),
    "Job.init": lambda s: s.job(),
    "Job.isInitialized": lambda s: s.job().isInitialized(),
    "Job.job_bookmark_options": lambda s: Job.job_bookmark_options(),
    "Job.job_bookmark_range_options": lambda s: Job.job_bookmark_range_options(),
    "transforms.ApplyMapping": lambda s: transforms.ApplyMapping.apply(s.frame, [("n", "m")]).count(),
    "transforms.Coalesce": lambda s: transforms.Coalesce.apply(s.frame, 1).count(),
    "transforms.DropFields": lambda s: transforms.DropFields.apply(s.frame, ["n"]).count(),
    "transforms.DropNullFields": lambda s: transforms.DropNullFields.apply(s.frame).count(),
    "transforms.ErrorsAsDynamicFrame": lambda s: transforms.ErrorsAsDynamicFrame.apply(s.frame).count(),
    "transforms.FillMissingValues": lambda s: awsglueml.transforms.FillMissingValues.apply(s.frame, "s").count(),
    "transforms.EvaluateDataQuality": lambda s: awsgluedq.transforms.EvaluateDataQuality.apply(s.frame, "Rules = [ RowCount > 1 ]").count(),
    "transforms.Filter": lambda s: transforms.Filter.apply(s.frame, lambda r: r["n"] > 1).count(),
    "transforms.FlatMap": lambda s: transforms.FlatMap.apply(s.frames, transforms.DropNullFields, "frame").keys(),
    "transforms.Join": lambda s: transforms.Join.apply(s.frame, s.frame, "n", "n").count(),
    "transforms.Map": lambda s: transforms.Map.apply(s.frame, lambda r: r).count(),
    "transforms.MapToCollection": lambda s: transforms.MapToCollection.apply(s.frames, lambda frame, ctx: frame).keys(),
    "transforms.Relationalize": lambda s: transforms.Relationalize.apply(s.frame, str(s.folder)).keys(),
    "transforms.RenameField": lambda s: transforms.RenameField.apply(s.frame, "n", "m").count(),
    "transforms.Repartition": lambda s: transforms.Repartition.apply(s.frame, 1).count(),
    "transforms.ResolveChoice": lambda s: transforms.ResolveChoice.apply(s.frame, choice="make_cols").count(),
    "transforms.SelectFields": lambda s: transforms.SelectFields.apply(s.frame, ["n"]).count(),
    "transforms.SelectFromCollection": lambda s: transforms.SelectFromCollection.apply(s.frames, "a").count(),
    "transforms.Spigot": lambda s: transforms.Spigot.apply(s.frame, s.path()["path"], {}).count(),
    "transforms.SplitFields": lambda s: transforms.SplitFields.apply(s.frame, ["n"]).keys(),
    "transforms.SplitRows": lambda s: transforms.SplitRows.apply(s.frame, {"n": {">": 1}}).keys(),
    "transforms.Unbox": lambda s: transforms.Unbox.apply(s.frame, "j", "json").count(),
    "transforms.Union": lambda s: transforms.Union.apply(s.frame, s.frame).count(),
    "transforms.UnnestFrame": lambda s: transforms.UnnestFrame.apply(s.frame).count(),
}  # fmt: skip


def test_the_table_in_the_documents_is_that_of_the_code():
    written = (Path(__file__).parents[2] / "docs" / "support.md").read_text()

    assert written == support_table(), "run python -m gluepot.check.support > docs/support.md"


def test_each_name_that_is_said_to_work_is_called_here():
    assert sorted(CALLS) == sorted({f"{one.owner}.{one.name}" for one in ENTRIES} - {*NOT_THERE})


@pytest.mark.parametrize("name", sorted(CALLS))
def test_what_is_said_to_work_can_be_called(scene, name):
    CALLS[name](scene)


@pytest.mark.parametrize("name", NOT_THERE)
def test_what_is_said_not_to_work_says_so_when_it_is_called(glue_context, name):
    owner, _, method = name.partition(".")
    owners = {
        "GlueContext": glue_context,
        "DynamicFrameReader": glue_context.create_dynamic_frame,
        "DynamicFrameWriter": glue_context.write_dynamic_frame,
        "DataFrameReader": glue_context.create_data_frame,
        TRANSFORM: awsglueml.transforms,
    }

    with pytest.raises(NotSupported):
        getattr(getattr(owners[owner], method), "apply" if owner == TRANSFORM else "__call__")()
