"""EntityDetector over frames: what it adds, hides and tells, and that it stays within the pass over the records."""

from __future__ import annotations

from hashlib import sha256

import pytest

from awsglue.dynamicframe import DynamicFrame
from awsglueml.transforms import EntityDetector
from gluepot.core.errors import ConfigError

MAIL, SSN = "ada@example.com", "536-90-4399"


@pytest.fixture
def table(glue_context):
    def make(rows, schema):
        return DynamicFrame.fromDF(glue_context.spark_session.createDataFrame(rows, schema), glue_context, "table")

    return make


@pytest.fixture
def people(table):
    rows = [
        (1, f"Write to {MAIL} 😀", SSN, {"mail": MAIL}, ["x", MAIL]),
        (2, None, "none", None, None),
        (3, "日本語", "", {"mail": None}, []),
    ]
    return table(rows, "id int, text string, ssn string, user struct<mail string>, tags array<string>")


def by_id(frame):
    return {row.id: row for row in frame.toDF().collect()}


def told(row, output="DetectedEntities"):
    return {column: [tuple(one) for one in found] for column, found in row[output].items()}


def test_detect_adds_what_was_found_and_leaves_the_values(people):
    done = by_id(EntityDetector().detect(people, ["EMAIL", "USA_SSN"]))

    assert told(done[1]) == {
        "text": [("EMAIL", 9, 24, "DETECT")],
        "ssn": [("USA_SSN", 0, 11, "DETECT")],
        "user.mail": [("EMAIL", 0, 15, "DETECT")],
        "tags": [("EMAIL", 0, 15, "DETECT")],
    }
    assert told(done[2]) == told(done[3]) == {}
    assert (done[1].text, done[1].ssn, done[2].text, done[3].text) == (f"Write to {MAIL} 😀", SSN, None, "日本語")


def test_each_action_hides_in_its_own_way(people):
    parameters = {
        "EMAIL": [
            {"action": "REDACT", "sourceColumns": ["text"]},
            {"action": "SHA256_HASH", "sourceColumns": ["user"]},
            {"action": "DETECT", "sourceColumns": ["tags"]},
        ],
        "USA_SSN": [{"action": "PARTIAL_REDACT", "actionOptions": {"numRightCharsToExclude": "4", "redactChar": "#"}}],
    }

    done = by_id(EntityDetector().detect(people, parameters, "found", "HIGH"))

    assert done[1].text == "Write to ***** 😀"
    assert done[1].user.mail == sha256(MAIL.encode()).hexdigest()
    assert done[1].tags == ["x", MAIL]
    assert done[1].ssn == "#######4399"
    assert {column: found[0][3] for column, found in told(done[1], "found").items()} == {
        "text": "REDACT",
        "ssn": "PARTIAL_REDACT",
        "user.mail": "SHA256_HASH",
        "tags": "DETECT",
    }
    assert (done[2].user, done[2].tags, done[3].user.mail) == (None, None, None)


def test_the_schema_is_known_without_reading(people):
    done = EntityDetector().detect(people, entity_types=["EMAIL"])

    assert done.known_schema().names == ["id", "text", "ssn", "user", "tags", "DetectedEntities"]
    assert dict(done.toDF().dtypes)["DetectedEntities"] == (
        "map<string,array<struct<entityType:string,start:int,end:int,actionUsed:string>>>"
    )


def test_other_transforms_go_on_from_the_result(people):
    done = EntityDetector().detect(people, detection_parameters={"EMAIL": [{"action": "REDACT"}]})

    assert done.drop_fields(["DetectedEntities"]).filter(lambda r: r["id"] == 1).toDF().collect()[0].tags == [
        "x",
        "*****",
    ]
    assert [row.id for row in done.filter(lambda r: r["DetectedEntities"]).toDF().collect()] == [1]


def test_columns_are_classified(people):
    detector = EntityDetector()

    found = detector.classify_columns(people, ["EMAIL", "USA_SSN", "IP_ADDRESS"], 1.0, 0.1, "HIGH")

    assert found == {"text": ["EMAIL"], "ssn": ["USA_SSN"], "user": ["EMAIL"], "tags": ["EMAIL"]}
    assert detector.classify_columns(people, ["EMAIL", "USA_SSN"], 1.0, 0.5) == {
        "text": ["EMAIL"],
        "user": ["EMAIL"],
        "tags": ["EMAIL"],
    }
    assert detector.classify_columns(people, ["IP_ADDRESS"]) == {}


def test_a_frame_without_columns_or_rows_has_nothing(table):
    empty = table([], "a string")

    assert EntityDetector().classify_columns(empty, ["EMAIL"]) == {}
    assert EntityDetector().detect(empty, ["EMAIL"]).count() == 0


def test_wrong_arguments_fail_at_the_call(people):
    detector = EntityDetector()
    unknown = {"EMAIL": [{"action": "REDACT", "sourceColumns": ["txet"]}]}

    with pytest.raises(ConfigError, match=r"name the column 'txet'; there are .* Did you mean 'text'\?"):
        detector.detect(people, unknown)
    with pytest.raises(ConfigError, match="PERSON_NAME cannot be found here"):
        detector.classify_columns(people, ["PERSON_NAME"])
    with pytest.raises(ConfigError, match="detection_sensitivity is 'SOME'"):
        detector.detect(people, ["EMAIL"], "found", "SOME")
    with pytest.raises(ConfigError, match="threshold_fraction is 2"):
        detector.classify_columns(people, ["EMAIL"], 1.0, 2)
    with pytest.raises(ConfigError, match="output_column_name is empty"):
        detector.detect(people, ["EMAIL"], "")


def test_a_column_that_only_records_tell_is_not_asked_for_at_the_call(glue_context, tmp_path):
    (tmp_path / "one.json").write_text('{"id": 1, "mail": "ada@example.com"}\n')
    frame = glue_context.create_dynamic_frame.from_options("s3", {"paths": [str(tmp_path)]}, "json")
    parameters = {"EMAIL": [{"action": "REDACT", "sourceColumns": ["mail"]}]}

    assert EntityDetector().detect(frame, parameters).toDF().collect()[0].mail == "*****"


def test_a_batch_of_a_stream_is_looked_at_in_the_write(glue_context, numbers, tmp_path):
    def batch(frame, _):
        mails = frame.selectExpr("value", "concat(value, '@example.com') AS mail")
        found = EntityDetector().detect(
            DynamicFrame.fromDF(mails, glue_context, "mails"), {"EMAIL": [{"action": "REDACT"}]}
        )
        target = {"path": str(tmp_path / "out")}
        glue_context.write_dynamic_frame.from_options(found, "s3", target, "parquet", transformation_ctx="out")

    numbers.run(batch, max_batches=2)

    rows = glue_context.spark_session.read.parquet(str(tmp_path / "out"))
    assert (rows.count(), [row.mail for row in rows.select("mail").distinct().collect()]) == (20, ["*****"])
