"""DynamicFrames over plain DataFrames, through Spark and back."""

from __future__ import annotations

import json
import textwrap

import pytest

from awsglue.gluetypes import Field, IntegerType, LongType, StringType, StructType

PEOPLE = [(1, "ann", ("DE", 3)), (2, "bob", ("FR", None)), (3, None, None)]
SCHEMA = "id int, name string, home struct<country:string,since:int>"


@pytest.fixture
def people(glue_context):
    return glue_context.spark_session.createDataFrame(PEOPLE, SCHEMA)


@pytest.fixture
def frame(glue_context, people):
    from awsglue import DynamicFrame

    return DynamicFrame.fromDF(people, glue_context, "people")


def rows(frame) -> list[dict]:
    return sorted((row.asDict(recursive=True) for row in frame.toDF().collect()), key=str)


def columns(frame) -> str:
    return frame.toDF().schema.simpleString()


def test_both_import_spellings_name_the_same_class():
    from awsglue import DynamicFrame
    from awsglue.dynamicframe import DynamicFrame as LongSpelling

    assert DynamicFrame is LongSpelling


def test_a_frame_without_steps_gives_its_rows_back(frame, people):
    assert frame.toDF().schema == people.schema
    assert [tuple(row) for row in frame.toDF().sort("id").collect()] == PEOPLE


def test_count_counts_the_records(frame):
    assert frame.count() == 3


def test_show_prints_as_many_records_as_asked_for_as_json(frame, capsys):
    frame.show(2)

    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"id": 1, "name": "ann", "home": {"country": "DE", "since": 3}},
        {"id": 2, "name": "bob", "home": {"country": "FR", "since": None}},
    ]


def test_print_schema_prints_a_tree(frame, capsys):
    frame.printSchema()

    tree = """
        root
        |-- id: int
        |-- name: string
        |-- home: struct
        |    |-- country: string
        |    |-- since: int
    """
    assert capsys.readouterr().out.strip() == textwrap.dedent(tree).strip()


def test_a_step_changes_the_schema_without_reading_a_record(frame):
    home = StructType([Field("country", StringType()), Field("since", IntegerType())])
    whole = StructType([Field("id", IntegerType()), Field("name", StringType()), Field("home", home)])

    assert frame.schema() == whole
    assert frame.select_fields(["id"]).schema() == StructType([Field("id", IntegerType())])


def test_filter_keeps_what_the_function_accepts(frame):
    assert [row["id"] for row in rows(frame.filter(lambda record: record["id"] > 1))] == [2, 3]


def test_map_replaces_every_record(frame):
    doubled = frame.map(lambda record: {"twice": 2 * record["id"]})

    assert rows(doubled) == [{"twice": 2}, {"twice": 4}, {"twice": 6}]
    assert doubled.schema().getField("twice").dataType == LongType()


def test_apply_mapping_renames_moves_and_casts(frame):
    mapped = frame.apply_mapping(
        [
            ("id", "int", "key", "long"),
            ("home.country", "string", "land", "string"),
            ("name", "string", "who.name", "string"),
        ]
    )

    assert columns(mapped) == "struct<key:bigint,land:string,who:struct<name:string>>"
    assert rows(mapped)[0] == {"key": 1, "land": "DE", "who": {"name": "ann"}}


def test_select_fields_keeps_only_these(frame):
    assert columns(frame.select_fields(["id", "name"])) == "struct<id:int,name:string>"


def test_drop_fields_reaches_into_structs(frame):
    assert columns(frame.drop_fields(["home.since", "name"])) == "struct<id:int,home:struct<country:string>>"


def test_rename_field_keeps_the_values(frame):
    assert rows(frame.rename_field("name", "who").select_fields(["who"])) == [
        {"who": "ann"},
        {"who": "bob"},
        {"who": None},
    ]


def test_the_frame_a_step_was_applied_to_stays_as_it_was(frame):
    frame.drop_fields(["name"])

    assert columns(frame) == "struct<id:int,name:string,home:struct<country:string,since:int>>"


@pytest.mark.parametrize(
    ("transform", "arguments", "method"),
    [
        ("ApplyMapping", {"mappings": [("id", "int", "id", "long")]}, "apply_mapping"),
        ("SelectFields", {"paths": ["id"]}, "select_fields"),
        ("DropFields", {"paths": ["id"]}, "drop_fields"),
    ],
)
def test_apply_of_a_transform_does_what_the_method_does(frame, transform, arguments, method):
    from awsglue import transforms

    applied = getattr(transforms, transform).apply(frame=frame, **arguments, transformation_ctx="ctx")

    assert rows(applied) == rows(getattr(frame, method)(**arguments))


def test_apply_of_rename_field_takes_the_names_glue_gives_them(frame):
    from awsglue.transforms import RenameField

    assert columns(RenameField.apply(frame=frame, old_name="name", new_name="who")).startswith("struct<id:int,who:")


def test_apply_of_filter_and_map_take_a_function(frame):
    from awsglue.transforms import Filter, Map

    ids = Map.apply(frame=frame, f=lambda record: {"id": record["id"]})

    assert rows(Filter.apply(frame=ids, f=lambda record: record["id"] != 2)) == [{"id": 1}, {"id": 3}]


def test_what_is_no_dataframe_is_refused_by_name(glue_context):
    from awsglue import DynamicFrame

    with pytest.raises(TypeError, match="fromDF takes a DataFrame, not list"):
        DynamicFrame.fromDF([1], glue_context, "list")


def test_of_columns_with_the_same_name_the_last_counts_in_sql_and_in_steps(glue_context, people):
    from awsglue import DynamicFrame

    twice = people.select("id", "name", people["name"].substr(1, 1).alias("name"))

    frame = DynamicFrame.fromDF(twice, glue_context, "twice")

    frame.toDF().createOrReplaceTempView("twice")
    found = glue_context.spark_session.sql("SELECT name FROM twice WHERE id < 3 ORDER BY id")
    assert [row["name"] for row in found.collect()] == ["a", "b"]
    assert columns(frame.apply_mapping([("name", "string", "letter", "string")])) == "struct<letter:string>"


def test_columns_without_any_inner_element_pass_through_steps(glue_context):
    from awsglue import DynamicFrame

    kinds = [
        "array<array<int>>",
        "array<map<string,int>>",
        "map<string,array<string>>",
        "map<string,map<string,int>>",
        "struct<l:array<array<string>>>",
        "array<struct<m:map<string,string>>>",
        "array<array<array<int>>>",
    ]
    columns = ", ".join(f"v{number} {kind}" for number, kind in enumerate(kinds))
    nulls = glue_context.spark_session.createDataFrame([(1, *[None] * len(kinds))], f"id int, {columns}")

    mapped = DynamicFrame.fromDF(nulls, glue_context, "nulls").map(lambda record: record)

    assert mapped.count() == 1
