"""Transforms that need more than one chunk: schemas of all records, moves between tasks, errors, collections."""

from __future__ import annotations

import json

import pytest

from gluepot.core.errors import ConfigError, PermanentError

COLUMN = "$json$data_infer_schema$_temporary$"


@pytest.fixture
def documents(glue_context):
    """A function from documents, or texts that are none, to a frame in two tasks that has to read them for its schema."""
    from awsglue import DynamicFrame

    def make(*values, name="documents"):
        texts = [(value if isinstance(value, str) else json.dumps(value),) for value in values]
        frame = glue_context.spark_session.createDataFrame(texts, [COLUMN]).coalesce(1).repartition(2)
        return DynamicFrame.fromDF(frame, glue_context, name)

    return make


def rows(frame) -> list[dict]:
    return sorted((row.asDict(recursive=True) for row in frame.toDF().collect()), key=str)


def shown(frame, capsys) -> list[dict]:
    capsys.readouterr()
    frame.show(1000)
    return sorted(map(json.loads, capsys.readouterr().out.splitlines()), key=str)


def test_a_choice_is_one_in_every_task_whatever_types_the_task_holds(documents):
    mixed = documents({"a": 1}, {"a": 2}, {"a": "x"}, {"a": 3})

    assert rows(mixed.resolveChoice(choice="make_cols")) == [
        {"a_long": 1, "a_string": None},
        {"a_long": 2, "a_string": None},
        {"a_long": 3, "a_string": None},
        {"a_long": None, "a_string": "x"},
    ]


def test_specs_go_before_the_choice(documents):
    mixed = documents({"a": 1, "b": "2"}, {"a": "x", "b": 3})

    resolved = mixed.resolveChoice(specs=[("b", "cast:long")], choice="make_struct")

    assert rows(resolved) == [
        {"a": {"long": 1, "string": None}, "b": 2},
        {"a": {"long": None, "string": "x"}, "b": 3},
    ]


def test_resolve_choice_without_an_action_is_refused_in_glues_words(documents):
    with pytest.raises(ValueError, match="Parameter specs and option are both missing, add one"):
        documents({"a": 1}).resolveChoice()


def test_match_catalog_names_the_database_that_the_catalog_does_not_have(documents, tmp_path, monkeypatch):
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path))
    with pytest.raises(ConfigError, match="The catalog has no database 'd'"):
        documents({"a": 1}).resolveChoice(choice="match_catalog", database="d", table_name="t")


def test_to_df_projects_a_choice_when_an_option_says_so(documents):
    from awsglue.dynamicframe import ResolveOption

    mixed = documents({"a": 1}, {"a": "x"})

    assert [row.a for row in mixed.toDF([ResolveOption("a", "Project", "string")]).sort("a").collect()] == [None, "x"]
    with pytest.raises(ConfigError, match="Cast"):
        mixed.toDF([ResolveOption("a", "Cast", "string")])


def test_union_keeps_choices_missing_fields_and_errors(documents, capsys):
    both = documents({"a": 1, "b": 1}, "{").union(documents({"a": "x"}))

    assert shown(both, capsys) == [{"a": "x"}, {"a": 1, "b": 1}]
    assert both.errorsCount() == 1
    assert both.schema().getField("a").dataType.typeName() == "choice"


@pytest.mark.parametrize("move", [lambda frame: frame.repartition(3), lambda frame: frame.coalesce(1)])
def test_records_keep_choices_and_errors_when_they_move(documents, capsys, move):
    mixed = documents({"a": 1}, {"a": "x"}, {"a": 2}, "nothing")

    moved = move(mixed)

    assert shown(moved, capsys) == shown(mixed, capsys)
    assert (moved.errorsCount(), moved.stageErrorsCount()) == (1, 0)


def test_repartition_and_coalesce_give_as_many_tasks_as_asked_for(documents):
    frame = documents({"a": 1}, {"a": 2})

    assert frame.repartition(3).getNumPartitions() == 3
    assert frame.coalesce(1).getNumPartitions() == 1


def test_join_puts_a_dot_before_names_the_left_side_has(documents):
    people = documents({"id": 1, "at": {"city": 7}, "v": 1}, {"id": 2, "at": {"city": 9}, "v": "x"}, name="people")
    cities = documents({"id": 7, "name": "Ulm"}, {"id": 8, "name": "Bonn"}, name="cities")

    joined = people.join(["at.city"], ["id"], cities)

    assert rows(joined.resolveChoice(choice="cast:string")) == [
        {"id": 1, "at": {"city": 7}, "v": "1", ".id": 7, "name": "Ulm"}
    ]
    assert rows(joined.drop_fields(["`.id`", "v"])) == [{"id": 1, "at": {"city": 7}, "name": "Ulm"}]
    assert joined.name == "peoplecities"


def test_a_key_that_is_not_there_is_named_with_those_that_are(documents):
    frame = documents({"id": 1})

    with pytest.raises(ConfigError, match="key 'no' is not a field; there are id"):
        frame.join("no", "id", frame).count()


def test_keys_that_spark_does_not_compare_are_named_with_their_types(documents):
    mixed, plain = documents({"k": 1}, {"k": "two"}), documents({"k": 1})
    for join in (lambda: mixed.join(["k"], ["k"], plain), lambda: plain.mergeDynamicFrame(mixed, ["k"])):
        with pytest.raises(ConfigError, match=r"a choice of long, string.*resolveChoice"):
            join().count()
    assert mixed.join(["k"], ["k"], mixed).count() == 2


def test_a_frame_joins_with_itself(documents):
    frame = documents({"id": 1, "boss": 2}, {"id": 2, "boss": None})

    assert rows(frame.join("boss", "id", frame)) == [{"id": 1, "boss": 2, ".id": 2, ".boss": None}]


def test_merge_replaces_by_key_and_adds_the_rest(documents):
    source = documents({"id": 1, "v": "old"}, {"id": 2, "v": "old"}, {"id": 2, "v": "twice"})
    staging = documents({"id": 2, "v": "new"}, {"id": 3, "v": "new"})

    assert rows(source.mergeDynamicFrame(staging, ["id"])) == [
        {"id": 1, "v": "old"},
        {"id": 2, "v": "new"},
        {"id": 3, "v": "new"},
    ]


def test_relational_tables_join_back_to_the_records(documents):
    from awsglue.transforms import Relationalize

    source = [
        {"k": k, "o": [{"n": f"{k}{i}", "t": [{"x": j, "s": {"y": [j, j]}} for j in range(i)]} for i in range(k)]}
        for k in range(5)
    ]
    tables = Relationalize.apply(frame=documents(*source), staging_path="/nowhere", name="r")

    assert list(tables.keys()) == ["r", "r_o", "r_o.val.t", "r_o.val.t.val.s.y"]
    found = {name: rows(tables.select(name)) for name in tables.keys()}  # noqa: SIM118 - not a dict

    def elements(table: str, key: int) -> list[dict]:
        return sorted((row for row in found[table] if row["id"] == key), key=lambda row: row["index"])

    assert (
        sorted(
            (
                {
                    "k": row["k"],
                    "o": [
                        {
                            "n": one["o.val.n"],
                            "t": [
                                {
                                    "x": inner["o.val.t.val.x"],
                                    "s": {
                                        "y": [
                                            value["o.val.t.val.s.y.val"]
                                            for value in elements("r_o.val.t.val.s.y", inner["o.val.t.val.s.y"])
                                        ]
                                    },
                                }
                                for inner in elements("r_o.val.t", one["o.val.t"])
                            ],
                        }
                        for one in elements("r_o", row["o"])
                    ],
                }
                for row in found["r"]
            ),
            key=lambda record: record["k"],
        )
        == source
    )


def test_split_fields_and_rows_give_two_frames(documents):
    from awsglue.transforms import SelectFromCollection, SplitRows

    frame = documents({"a": 1, "b": 1}, {"a": 5, "b": 2})

    fields = frame.split_fields(["a"], "one", "two")
    assert rows(fields["two"]) == [{"b": 1}, {"b": 2}]
    split = SplitRows.apply(frame, {"a": {">": 2}})
    assert rows(split["frame1"]) == [{"a": 5, "b": 2}]
    assert SelectFromCollection.apply(split, "no such").toDF().columns == []


def test_errors_become_a_frame_with_the_place_in_the_script(documents):
    def fail(record):
        if record["a"] == 2:
            raise OSError("no luck")
        return record

    frame = documents({"a": 1}, {"a": 2}, "{").map(fail, info="the map")

    assert (frame.errorsCount(), frame.stageErrorsCount(), frame.count()) == (2, 1, 1)
    parsed, mapped = sorted(
        (row["error"] for row in rows(frame.errorsAsDynamicFrame())), key=lambda one: one["msg"][::-1]
    )
    if parsed["input"] is None:
        parsed, mapped = mapped, parsed
    assert (parsed["input"], parsed["dynamicRecord"]) == ("{", None)
    assert (mapped["msg"], mapped["callsite"]["info"]) == ("OSError: no luck", "the map")
    assert "test_frame_transforms.py" in mapped["callsite"]["site"]
    assert "in fail" in mapped["stackTrace"]
    assert json.loads(mapped["dynamicRecord"]) == {"a": 2}


def test_more_errors_than_the_threshold_allows_end_the_write(documents):
    frame = documents({"a": 1}, "{", "[").filter(lambda record: record["a"] > 0, "positive", totalThreshold=1)

    with pytest.raises(PermanentError, match="2 records failed in 'positive', but totalThreshold allows 1"):
        frame.toDF()
    assert frame.errorsCount() == 2


def test_map_partitions_sees_all_records_of_a_task(documents):
    frame = documents(*({"a": n} for n in range(10)))

    counted = frame.mapPartitionsWithIndex(lambda index, records: [{"task": index, "n": len(list(records))}])

    assert sum(row["n"] for row in rows(counted)) == 10
    assert [row["task"] for row in rows(counted)] == [0, 1]


def test_a_schema_that_is_declared_is_not_looked_for(documents):
    from awsglue.gluetypes import Field, LongType, StructType

    declared = StructType([Field("a", LongType()), Field("later", LongType())])

    assert rows(documents({"a": 1}).with_frame_schema(declared)) == [{"a": 1, "later": None}]


def test_spigot_writes_the_first_records_and_passes_them_on(documents, tmp_path):
    frame = documents({"a": 1}, {"a": 2}, {"a": 3})

    assert rows(frame.spigot(str(tmp_path), {"topk": 2}, "sample")) == rows(frame)
    (file,) = tmp_path.iterdir()
    assert len(file.read_text().splitlines()) == 2


def test_each_frame_of_a_collection_is_written_below_its_name(documents, glue_context, tmp_path):
    frames = documents({"a": 1, "b": 2}).split_fields(["a"], "one", "two")

    glue_context.write_from_options(frames, "s3", {"path": str(tmp_path)}, format="json")

    for name, record in {"one": {"a": 1}, "two": {"b": 2}}.items():
        written = [path.read_text() for path in (tmp_path / name).glob("run-*")]
        assert [json.loads(text) for text in written if text] == [record]


def test_a_collection_maps_its_frames(documents):
    from awsglue.transforms import DropFields, FlatMap, MapToCollection

    frames = documents({"a": 1, "b": 2}).split_fields(["a"], "one", "two")

    assert rows(MapToCollection.apply(frames, lambda frame, ctx: frame.rename_field("a", "z"))["one"]) == [{"z": 1}]
    assert rows(FlatMap.apply(frames, DropFields, "frame", paths=["b"])["one"]) == [{"a": 1}]
    with pytest.raises(TypeError, match="made a int of 'one'"):
        frames.map(lambda frame, ctx: 1)


def test_columns_of_a_data_frame_may_have_dots_and_backquotes_in_their_names(glue_context):
    from awsglue import DynamicFrame

    given = glue_context.spark_session.createDataFrame([(1, 2)], "`a.b` int, `c``d` int")
    frame = DynamicFrame.fromDF(given, glue_context, "dotted").rename_field("`a.b`", "e")

    assert rows(frame) == [{"e": 1, "c`d": 2}]


def test_columns_of_a_data_frame_may_differ_by_case_alone(glue_context, tmp_path):
    from pyspark.sql.functions import lit

    from awsglue import DynamicFrame

    (tmp_path / "a.json").write_text('{"ID": 1, "id": 2}\n')
    read = glue_context.create_dynamic_frame.from_options("s3", {"paths": [str(tmp_path)]}, "json")
    frame = DynamicFrame.fromDF(read.toDF().withColumn("x", lit(3)), glue_context, "cases")

    assert rows(frame) == [{"ID": 1, "id": 2, "x": 3}]
