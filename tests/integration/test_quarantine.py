"""`onBatchFailure=quarantine`: the records a batch function fails on, found, kept and left out; nothing lost or doubled."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import duckdb
import pytest

from gluepot.core.errors import ConfigError, PermanentError


class Trouble(Exception):
    """What a script of our own would raise."""


def letters(folder: Path) -> list[dict]:
    files = [str(path) for path in folder.rglob("*.rejects")]
    if not files:
        return []
    found = duckdb.sql(f"SELECT * FROM read_parquet({files!r})")
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def ids(found):
    return sorted(json.loads(letter["raw"])["id"] for letter in found)


def table_ids(job):
    return sorted(row[0] for row in job.rows("id"))


@pytest.fixture
def kept(job):
    """The dead letters in the checkpoint."""
    return lambda: letters(job.checkpoint / "gluepot" / "dead_letters")


@pytest.fixture
def picky(job):
    """A function that refuses a batch with `bad` records before it writes."""
    from awsglue import DynamicFrame

    def function(data_frame, batch_id):
        frame = DynamicFrame.fromDF(data_frame, job.glue_context, "frame")
        if frame.filter(lambda row: row["bad"]).count():
            raise Trouble("a bad record")
        job.write(frame)

    return function


def documents(count, *bad):
    return [{"id": n, "bad": n in bad} for n in range(count)]


def quarantined(job, topic, function, **settings):
    return job.drain(topic.options(), function, onBatchFailure="quarantine", batchMaxRetries=0, **settings)


def test_bad_records_are_dead_letters_and_all_others_are_in_the_table(topic, job, kept, picky):
    topic.send_json(*documents(50, 7, 8, 41))

    (stats,) = quarantined(job, topic, picky)

    assert table_ids(job) == [n for n in range(50) if n not in {7, 8, 41}]
    assert ids(kept()) == [7, 8, 41]
    assert (stats.rows_in, stats.rows_out, stats.rejected) == (50, 47, {"batch_function": 3})


def test_a_dead_letter_is_the_record_as_the_broker_holds_it_with_the_reason(topic, job, kept, picky):
    topic.send(b'{"id": 0}', partition=1)
    topic.send(b' {"id": 1, "bad": true}', partition=1, headers=[("trace", b"\x00\xff"), ("trace", b"2")])

    quarantined(job, topic, picky)

    (letter,) = kept()
    assert letter["raw"] == b' {"id": 1, "bad": true}'
    assert (letter["stream"], letter["shard"], letter["position"]) == (topic.name, "1", "1")
    assert (letter["reason"], letter["message"]) == ("batch_function", "Trouble: a bad record")
    assert letter["key"] == b"0"
    assert letter["headers"] == [{"key": "trace", "value": b"\x00\xff"}, {"key": "trace", "value": b"2"}]
    assert letter["timestamp"].year > 2000


def test_the_stream_goes_on_after_a_batch_with_bad_records(topic, job, kept, picky):
    topic.send_json(*documents(10, 3))
    quarantined(job, topic, picky)
    topic.send_json({"id": 10}, {"id": 11, "bad": True})

    quarantined(job, topic, picky)

    assert table_ids(job) == [0, 1, 2, 4, 5, 6, 7, 8, 9, 10]
    assert ids(kept()) == [3, 11]


def test_a_batch_of_bad_records_only_never_reaches_the_table(topic, job, kept, picky):
    topic.send_json(*documents(3, 0, 1, 2))

    quarantined(job, topic, picky)

    assert job.rows() == []
    assert ids(kept()) == [0, 1, 2]


def test_a_function_that_fails_in_a_worker_on_rows_of_a_dataframe_is_searched_too(topic, job, kept):
    from awsglue import DynamicFrame

    def function(data_frame, batch_id):
        rows = DynamicFrame.fromDF(data_frame.filter("1 = 1"), job.glue_context, "frame").toDF()
        rows.rdd.foreach(lambda row: 1 / (row.id - 5))
        job.write(DynamicFrame.fromDF(rows, job.glue_context, "rows"))

    topic.send_json(*documents(20, 5))

    quarantined(job, topic, function)

    assert table_ids(job) == [n for n in range(20) if n != 5]
    assert ids(kept()) == [5]
    assert kept()[0]["message"] == "ZeroDivisionError: division by zero"


def test_what_a_failed_attempt_published_before_it_failed_is_replaced(topic, job, kept, tmp_path, picky):
    """Two writes in one function: the first one publishes the whole batch before the second one fails."""
    from awsglue import DynamicFrame

    def function(data_frame, batch_id):
        frame = DynamicFrame.fromDF(data_frame, job.glue_context, "frame")
        job.glue_context.write_dynamic_frame.from_options(
            frame, "s3", {"path": str(tmp_path / "copy")}, "glueparquet", transformation_ctx="copy"
        )
        picky(data_frame, batch_id)

    topic.send_json(*documents(20, 5, 6))

    quarantined(job, topic, function)

    copied = duckdb.sql(f"SELECT id FROM read_parquet('{tmp_path}/copy/*.parquet')").fetchall()
    good = [n for n in range(20) if n not in {5, 6}]
    assert sorted(row[0] for row in copied) == table_ids(job) == good
    assert ids(kept()) == [5, 6]


def test_a_write_that_only_a_bad_record_leads_to_is_taken_back(topic, job, kept, tmp_path, picky):
    from awsglue import DynamicFrame

    def function(data_frame, batch_id):
        frame = DynamicFrame.fromDF(data_frame, job.glue_context, "frame")
        if any(row.get("bad") for row in frame.filter(lambda row: row["bad"]).toDF().toLocalIterator()):
            job.glue_context.write_dynamic_frame.from_options(
                frame, "s3", {"path": str(tmp_path / "alarm")}, "glueparquet", transformation_ctx="alarm"
            )
        picky(data_frame, batch_id)

    topic.send_json(*documents(6, 5))

    quarantined(job, topic, function)

    assert list((tmp_path / "alarm").glob("*.parquet")) == []
    assert len(job.rows()) == 5
    assert ids(kept()) == [5]


def test_a_second_round_takes_what_fails_only_after_the_first(topic, job, kept):
    """A function that stops at its first bad record, another kind of which it sees only when the first kind is gone."""
    from awsglue import DynamicFrame

    def function(data_frame, batch_id):
        frame = DynamicFrame.fromDF(data_frame, job.glue_context, "frame")
        found = {row["id"] for row in frame.toDF().toLocalIterator()}
        if 3 in found or (8 in found and not found & {2, 3} and len(found) == 1) or (8 in found and len(found) == 9):
            raise Trouble(str(sorted(found)))
        job.write(frame)

    topic.send_json(*documents(10), partition=0)

    quarantined(job, topic, function)

    assert ids(kept()) == [3, 8]
    assert table_ids(job) == [0, 1, 2, 4, 5, 6, 7, 9]


def test_more_bad_records_than_the_limit_end_the_job_with_nothing_written(topic, job, kept, picky):
    topic.send_json(*documents(20, *range(5)))

    with pytest.raises(PermanentError, match="quarantineLimit is 4") as ended:
        quarantined(job, topic, picky, quarantineLimit=4)

    assert "a bad record" in str(ended.value.__cause__)
    assert job.rows() == []
    assert kept() == []


def test_records_that_fail_only_together_end_the_job_with_the_functions_own_error(topic, job, kept):
    def function(data_frame, batch_id):
        if data_frame.count() == 10:
            raise Trouble("ten at once")

    topic.send_json(*documents(10))

    with pytest.raises(Trouble, match="ten at once"):
        quarantined(job, topic, function)

    assert kept() == []


def test_an_error_of_ours_is_no_records_fault(topic, job, kept):
    def function(data_frame, batch_id):
        job.copy(data_frame, batch_id)
        raise ConfigError("no such bucket")

    topic.send_json(*documents(3))

    with pytest.raises(ConfigError, match="no such bucket"):
        quarantined(job, topic, function)

    assert kept() == []


def test_by_default_a_bad_record_ends_the_job_and_is_not_set_aside(topic, job, kept, picky):
    topic.send_json(*documents(3, 1))

    with pytest.raises(Exception, match="a bad record"):
        job.drain(topic.options(), picky, batchMaxRetries=0)

    assert job.rows() == []
    assert kept() == []


def test_dead_letters_go_to_the_rejects_path_when_there_is_one(topic, job, picky, tmp_path):
    topic.send_json(*documents(5, 2))

    quarantined(job, topic, picky, rejectsPath=str(tmp_path / "aside"))

    assert ids(letters(tmp_path / "aside")) == [2]
    assert list(job.checkpoint.rglob("*.rejects")) == []


def test_malformed_records_are_rejects_of_the_write_and_not_the_functions_fault(topic, job, kept, picky):
    topic.send(b"{broken", b'{"id": 1, "bad": true}', b'{"id": 2}')

    quarantined(job, topic, picky)

    assert job.rows("id") == [(2,)]
    assert [reject["raw"] for reject in job.rejects()] == [b"{broken"]
    assert ids(kept()) == [1]


def test_a_stream_that_was_transformed_before_for_each_batch_cannot_be_searched(topic, job):
    frame = job.glue_context.create_data_frame.from_options(connection_type="kafka", connection_options=topic.options())
    with pytest.raises(ConfigError, match="onBatchFailure is 'quarantine'"):
        job.glue_context.forEachBatch(
            frame.filter("1 = 1"),
            lambda data_frame, batch_id: None,
            {"windowSize": "1 second", "checkpointLocation": str(job.checkpoint), "onBatchFailure": "quarantine"},
        )


def test_a_replay_of_a_decided_batch_leaves_the_same_records_out(topic, job, kept, picky):
    """As after a crash between the function's return and Spark's commit; also when the option is off by then."""
    topic.send_json(*documents(30, 4, 20))
    quarantined(job, topic, picky)
    for name in ("commits/0", "commits/.0.crc"):
        (job.checkpoint / name).unlink(missing_ok=True)
    before = Counter(job.rows("id"))

    job.drain(topic.options(), picky, batchMaxRetries=0)

    assert Counter(job.rows("id")) == before
    assert ids(kept()) == [4, 20]


def test_broken_records_of_a_declared_stream_are_kept_once_beside_the_dead_letters(topic, job, kept):
    topic.send_json(*documents(20, 7))
    topic.send(b"{broken")
    seen = []

    def function(data_frame, batch_id):
        rows = data_frame.collect()
        if any(row["bad"] for row in rows):
            raise Trouble("a bad record")
        seen.append(sorted(row["id"] for row in rows))

    quarantined_options = topic.options(inferSchema="false", schema="id BIGINT, bad BOOLEAN")
    job.drain(quarantined_options, function, onBatchFailure="quarantine", batchMaxRetries=0)

    assert seen[-1] == [n for n in range(20) if n != 7]
    assert ids(kept()) == [7]
    assert [letter["raw"] for letter in letters(job.checkpoint / "gluepot" / "rejects")] == [b"{broken"]
