"""What a job says of data that looks like a mistake in its script: names that match nothing."""

from __future__ import annotations

import json

import duckdb
import pytest

from awsglue.transforms import ApplyMapping, SelectFields
from gluepot.bookmarks import jobrun
from gluepot.core.errors import PermanentError
from gluepot.engine.readings import READINGS
from tests.spark.test_bad_data_in_batches import MIXED, put

NEAR = "".join(json.dumps({"id": n, "contry": "DE", "country": None}) + "\n" for n in range(20))
ASKED = [("id", "int", "id", "int"), ("country", "string", "country", "string")]


def written(frame, glue_context, write):
    write(frame)


def through_a_dataframe(frame, glue_context, write):
    frame.toDF().count()


def through_sql(frame, glue_context, write):
    frame.toDF().createOrReplaceTempView("orders")
    glue_context.spark_session.sql("SELECT country FROM orders").collect()


@pytest.mark.parametrize("use", [written, through_a_dataframe, through_sql])
@pytest.mark.parametrize(("text", "event"), [
    (NEAR, "field_without_values"),
    (NEAR.replace(', "country": null', ""), "field_not_found"),
])  # fmt: skip
def test_a_field_without_values_is_named_once_with_the_near_one(
    job, read, write, said, glue_context, tmp_path, use, text, event
):
    run = job()
    frame = ApplyMapping.apply(frame=read(put(tmp_path / "in", "a.json", text), ctx="orders"), mappings=ASKED)
    for _ in range(2):
        use(frame, glue_context, write)
    run.commit()

    warnings = said()
    assert warnings[event].items() >= {"of": "country", "hint": "Did you mean 'contry'?"}.items()
    assert warnings.keys() - {"option_ignored"} == {event}


@pytest.mark.parametrize("step", [
    lambda frame: SelectFields.apply(frame=frame, paths=["id", "coutnry"]),
    lambda frame: frame.rename_field("coutnry", "land"),
    lambda frame: frame.drop_fields(["coutnry"]),
])  # fmt: skip
def test_other_steps_that_name_fields_miss_them_too(job, read, write, said, tmp_path, step):
    job()
    write(step(read(put(tmp_path / "in", "a.json", MIXED))))

    assert said()["field_not_found"].items() >= {"of": "coutnry", "hint": "Did you mean 'country'?"}.items()


def test_a_selection_from_columnar_files_knows_the_columns_that_it_does_not_read(read, write, said, tmp_path):
    (tmp_path / "in").mkdir()
    duckdb.sql(f"COPY (SELECT 1 AS id, 'DE' AS country) TO '{tmp_path}/in/a.parquet'")
    frame = SelectFields.apply(frame=read(tmp_path / "in", "parquet"), paths=["id", "coutnry"])
    write(frame)

    assert said()["field_not_found"]["hint"] == "Did you mean 'country'?"


def test_a_part_of_a_dataframe_says_nothing(job, read, said, tmp_path):
    put(tmp_path / "in", "a.json", '{"id": 1}\n' * 20)
    put(tmp_path / "in", "b.json", MIXED)
    run = job()
    frame = read(tmp_path / "in").apply_mapping(ASKED).toDF()
    assert len(frame.limit(1).collect()) == 1
    run.commit()

    assert "field_not_found" not in said()


@pytest.mark.parametrize("use", [written, through_a_dataframe])
def test_a_strict_job_with_a_field_without_values_is_not_committed(
    job, read, write, setting, glue_context, tmp_path, use
):
    setting(is_strict=True)
    run = job()
    frame = read(put(tmp_path / "in", "a.json", NEAR)).apply_mapping(ASKED)

    def use_and_commit():
        use(frame, glue_context, write)
        run.commit()

    with pytest.raises(PermanentError, match="'country', which the script uses, is null in all 20 records"):
        use_and_commit()

    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").rglob("*.parquet"))


@pytest.mark.parametrize(("form", "text", "options"), [
    ("xml", "<r><i><a>1</a></i></r>", {"rowTag": "itm"}),
    ("json", '{"Records": [{"a": 1}]}', {"jsonPath": "$.recs[*]"}),
])  # fmt: skip
@pytest.mark.parametrize("is_written", [True, False])
def test_an_option_that_finds_no_record_is_named(job, read, write, said, tmp_path, form, text, options, is_written):
    right = {"xml": {"rowTag": "i"}, "json": {"jsonPath": "$.Records[*]"}}[form]
    for given, events in ((options, {"no_records_found"}), (right, set())):
        run = job(bookmarks=False)
        frame = read(put(tmp_path / "in", f"a.{form}", text), form, **given)
        write(frame) if is_written else frame.count()
        run.commit()

        assert said().keys() == events
        READINGS.forget(jobrun.SCRIPT)


def test_two_mappings_to_one_target_are_told(job, read, said, tmp_path):
    job()
    mappings = [("id", "int", "x", "int"), ("country", "string", "x", "string")]
    ApplyMapping.apply(frame=read(put(tmp_path / "in", "a.json", MIXED)), mappings=mappings)
    assert said()["target_mapped_twice"]["targets"] == ["x"]
