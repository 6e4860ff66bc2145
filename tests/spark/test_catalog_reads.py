"""Tables of the catalog, read through Glue's own calls."""

from __future__ import annotations

import json

import pytest

from awsglue.data_catalog import current_catalog
from awsglue.job import Job
from gluepot.bookmarks import jobrun
from gluepot.catalog.formats import new_storage
from gluepot.catalog.values import Database, Partition, Table
from gluepot.core.errors import ConfigError


@pytest.fixture
def catalog(tmp_path, monkeypatch):
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_CATALOG", raising=False)
    opened = current_catalog()
    opened.add_database(Database("web"))
    yield opened
    jobrun.end("the test ended")


def a_table(catalog, location, columns, keys=(), form="json", **parameters):
    storage = {**new_storage(form, str(location)).body, "Columns": [{"Name": n, "Type": t} for n, t in columns]}
    body = {
        "StorageDescriptor": storage,
        "PartitionKeys": [{"Name": n, "Type": t} for n, t in keys],
        "Parameters": {"classification": form, **parameters},
    }
    table = Table("web", "clicks", body)
    assert catalog.add_table(table)
    return table


def put(path, *records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def add_partition(catalog, table, location, *values):
    body = {"StorageDescriptor": {"Location": str(location)}}
    assert catalog.add_partitions(table, [Partition(values, body)]) == 1


@pytest.fixture
def years(catalog, tmp_path):
    """A table with a folder named as Hive does, one with a name of its own, and one that is not registered."""
    table = a_table(catalog, tmp_path / "clicks", [("id", "bigint")], [("year", "int")])
    for folder, number in (("year=2023", 1), ("latest", 2), ("year=2025", 3)):
        put(tmp_path / "clicks" / folder / "a", {"id": number})
    add_partition(catalog, table, tmp_path / "clicks" / "year=2023", "2023")
    add_partition(catalog, table, tmp_path / "clicks" / "latest", "2024")
    return table


def read(glue_context, ctx="source0", predicate="", **options):
    return glue_context.create_dynamic_frame.from_catalog(
        database="web",
        table_name="clicks",
        transformation_ctx=ctx,
        push_down_predicate=predicate,
        additional_options=options,
    )


def rows(frame):
    return sorted(tuple(row) for row in frame.toDF().collect())


def test_the_partitions_of_the_catalog_are_read_with_their_typed_values(glue_context, years):
    frame = read(glue_context)
    assert (frame.name, rows(frame)) == ("clicks", [(1, 2023), (2, 2024)])


@pytest.mark.parametrize("how", ["push_down_predicate", "catalogPartitionPredicate"])
def test_a_predicate_chooses_partitions(glue_context, years, how):
    given = {"predicate": "year > 2023"} if how == "push_down_predicate" else {how: "year > 2023"}
    assert rows(read(glue_context, **given)) == [(2, 2024)]


def test_columns_of_csv_have_the_types_of_the_table(glue_context, catalog, tmp_path):
    a_table(catalog, tmp_path / "in", [("id", "bigint"), ("price", "double")], form="csv", delimiter=";")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("1;2.5\n2;free\n")
    frame = read(glue_context)
    assert [str(field) for field in frame.schema().fields] == snapshot(frame)
    found = frame.resolveChoice(specs=[("price", "make_cols")]).toDF().collect()
    assert sorted(map(tuple, found)) == [(1, 2.5, None), (2, None, "free")]


def snapshot(frame):
    from awsglue.gluetypes import ChoiceType, DoubleType, Field, LongType, StringType

    return [str(Field("id", LongType())), str(Field("price", ChoiceType([DoubleType(), StringType()])))]


def test_a_bookmark_goes_on_where_the_last_run_ended(glue_context, catalog, years, tmp_path, capsys):
    def run(run_id):
        job = Job(glue_context)
        job.init("copy", {"JOB_RUN_ID": run_id, "job_bookmark_option": "job-bookmark-enable"})
        found = rows(read(glue_context))
        job.commit()
        return found

    assert run("jr_1") == [(1, 2023), (2, 2024)]
    add_partition(catalog, years, tmp_path / "clicks" / "year=2025", "2025")
    add_partition(catalog, years, tmp_path / "clicks" / "nowhere", "2026")
    capsys.readouterr()
    assert run("jr_2") == [(3, 2025)]
    messages = [json.loads(line)["msg"] for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    root = tmp_path / "clicks"
    assert f"Found new partition DynamicFramePartition({root}/year=2025) with 1 files" in messages
    for value, folder in (("2024", "latest"), ("2026", "nowhere")):
        assert (
            f'Skipping Partition {{"year": "{value}"}} has no new files detected @ {root}/{folder}/'
            " or path does not exist" in messages
        )


def test_the_schema_of_a_table_in_sparks_types(glue_context, years):
    schema = glue_context.get_catalog_schema_as_spark_schema("web", "clicks")
    assert schema.simpleString() == "struct<id:bigint,year:int>"


def test_match_catalog_casts_to_the_types_of_the_table(glue_context, catalog, tmp_path):
    a_table(catalog, tmp_path / "in", [("id", "string")])
    put(tmp_path / "in" / "a", {"id": 1}, {"id": "x"})
    frame = read(glue_context).resolveChoice(choice="match_catalog", database="web", table_name="clicks")
    assert rows(frame) == [("1",), ("x",)]


@pytest.mark.parametrize("as_frame", [{}, {"useSparkDataSource": True, "useCatalogSchema": True}])
def test_a_table_is_a_data_frame(glue_context, catalog, tmp_path, as_frame):
    a_table(catalog, tmp_path / "in", [("id", "bigint")])
    put(tmp_path / "in" / "a", {"id": 1})
    frame = glue_context.create_data_frame.from_catalog("web", "clicks", additional_options=as_frame)
    assert [tuple(row) for row in frame.collect()] == [(1,)]


def test_a_sample_has_no_more_records_than_asked_for(glue_context, years):
    assert glue_context.create_sample_dynamic_frame_from_catalog("web", "clicks", num=1).count() == 1


def test_the_errors_of_missing_names_are_glues(glue_context):
    for given, message in (
        ({"table_name": "t"}, "Parameter name_space or database is missing."),
        ({"database": "d"}, "Parameter table_name is missing."),
        ({"database": "d", "name_space": "d", "table_name": "t"}, "specified, choose one."),
    ):
        with pytest.raises(Exception, match=message):
            glue_context.create_dynamic_frame.from_catalog(**given)


def test_use_catalog_schema_goes_with_sparks_source(glue_context, years):
    with pytest.raises(ConfigError, match="useCatalogSchema goes together with useSparkDataSource"):
        glue_context.create_data_frame.from_catalog("web", "clicks", additional_options={"useCatalogSchema": True})


def test_an_empty_list_has_the_type_that_the_catalog_knows(glue_context, catalog, tmp_path):
    columns = [("id", "bigint"), ("tags", "array<string>"), ("s", "struct<l:array<int>>"), ("odd", "uniontype<int>")]
    a_table(catalog, tmp_path / "clicks", columns)
    put(tmp_path / "clicks" / "a", {"id": 1, "tags": [], "s": {"l": [None]}, "odd": []})

    frame = read(glue_context)

    assert frame.toDF().select("tags", "s").collect() == [([], ([None],))]
    assert [row.asDict() for row in frame.select_fields(["tags"]).toDF().collect()] == [{"tags": []}]
