"""Records that cannot become rows of a DataFrame are kept, counted once, listed and sent again."""

import json

import duckdb
import pytest
from pyspark.sql.functions import lit

from awsglue import DynamicFrame
from awsglue.transforms import ApplyMapping
from gluepot.cli.exit_codes import DONE
from gluepot.cli.main import app, outcome
from gluepot.engine.account import Account

BROKEN = [b'{"id": 7, "n":', b"\x00\x01", b"[1, 2]"]
MAPPING = [("id", "int", "id", "long"), ("name", "string", "name", "string")]


@pytest.fixture
def mixed(topic):
    topic.send_json(*({"id": n, "name": f"n{n}"} for n in range(20)), partition=0)
    topic.send(*BROKEN, partition=0)
    return topic


def mapped(job, data_frame):
    frame = DynamicFrame.fromDF(data_frame, job.glue_context, "frame")
    return ApplyMapping.apply(frame=frame, mappings=MAPPING, transformation_ctx="mapped")


def through_rows(job):
    """What Glue's own examples do: a column is added by Spark, then the rows are written."""

    def function(data_frame, batch_id):
        rows = mapped(job, data_frame).toDF().withColumn("batch", lit(batch_id))
        job.write(DynamicFrame.fromDF(rows, job.glue_context, "rows"))

    return function


def kept(folder):
    files = sorted(folder.rglob("*.rejects"))
    rows = [duckdb.sql(f"SELECT raw, position, reason FROM read_parquet('{file}')").fetchall() for file in files]
    return sorted(row for found in rows for row in found)


def told(capsys, *arguments):
    capsys.readouterr()
    assert outcome(app, [*map(str, arguments), "--output", "json"]) == DONE
    said = capsys.readouterr()
    return json.loads(said.out), said.err


def rejected(stats):
    account = sum((one.account for one in stats), Account())
    (read,) = account.sources.values()
    assert (read.records, read.delivered, read.rejected) == (23, 20, 3)
    return sum(sum(one.rejected.values()) for one in stats)


def test_records_are_kept_below_the_checkpoint_and_found_from_the_table(job, mixed, capsys):
    stats = job.drain(mixed.options(), through_rows(job))

    assert (sum(one.rows_in for one in stats), sum(one.rows_out for one in stats), rejected(stats)) == (23, 20, 3)
    assert [raw for raw, _, _ in kept(job.checkpoint)] == sorted(BROKEN)
    assert [position for _, position, _ in kept(job.checkpoint)] == ["21", "22", "20"]
    counts, _ = told(capsys, "dlq", "list", job.checkpoint)
    assert {(one["batch_id"], one["reason"], one["records"]) for one in counts} == {
        (0, "malformed_json", 2),
        (0, "not_an_object", 1),
    }
    of_table, note = told(capsys, "dlq", "list", job.table)
    assert (of_table, note.count("3 more rejected records")) == ([], 1)
    verified, _ = told(capsys, "table", "verify", job.table)
    assert verified["elsewhere"] == {str(job.checkpoint / "gluepot/rejects"): 3}


def test_a_frame_that_is_written_and_used_as_rows_counts_each_record_once(job, mixed, capsys):
    def function(data_frame, batch_id):
        frame = mapped(job, data_frame)
        assert frame.toDF().count() == 20
        assert frame.toDF().filter("id < 5").count() == 5
        DynamicFrame.fromDF(data_frame, job.glue_context, "again").toDF().limit(1).collect()
        job.write(frame)

    stats = job.drain(mixed.options(), function)

    assert rejected(stats) == 3
    assert len(kept(job.checkpoint)) + len(kept(job.table)) == 3


def test_a_batch_that_fails_and_runs_again_keeps_each_record_once(job, mixed):
    calls = []

    def function(data_frame, batch_id):
        through_rows(job)(data_frame, batch_id)
        calls.append(batch_id)
        if len(calls) == 1:
            raise OSError("the first attempt fails")

    stats = job.drain(mixed.options(), function)

    assert (len(calls), rejected(stats), len(kept(job.checkpoint))) == (2, 3, 3)


def test_without_persistence_too(job, mixed):
    stats = job.drain(mixed.options(), through_rows(job), persistDataFrame="false")

    assert (rejected(stats), len(kept(job.checkpoint))) == (3, 3)


def test_the_folder_that_the_job_names_holds_them(job, mixed, tmp_path):
    aside = tmp_path / "aside"
    stats = job.drain(mixed.options(), through_rows(job), rejectsPath=str(aside))

    assert (rejected(stats), len(kept(aside)), len(kept(job.checkpoint))) == (3, 3, 0)


def test_records_that_are_not_sent_to_a_stream_are_kept(job, mixed, new_topic):
    target = new_topic()

    def function(data_frame, batch_id):
        job.glue_context.write_dynamic_frame.from_options(
            frame=mapped(job, data_frame),
            connection_type="kafka",
            connection_options={
                "bootstrap.servers": target.bootstrap, "topicName": target.name, "classification": "json",
            },
        )  # fmt: skip

    stats = job.drain(mixed.options(), function)

    assert (rejected(stats), len(kept(job.checkpoint))) == (3, 3)
    assert len(target.consumed(20)) == 20


def test_a_lake_table_leaves_none_out(job, mixed, tmp_path):
    def function(data_frame, batch_id):
        mapped(job, data_frame).toDF().write.format("noop").mode("append").save()

    stats = job.drain(mixed.options(), function)

    assert (rejected(stats), len(kept(job.checkpoint))) == (3, 3)


DECLARED = {"schema": "id INT, name STRING"}


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("through", ["rows", "frame"])
def test_records_are_dropped_and_counted_if_the_script_says_so(job, mixed, declared, through):
    options = mixed.options(onMalformed="drop", **(DECLARED if declared else {}))
    stats = job.drain(options, through_rows(job) if through == "rows" else None)

    read = sum((one.account for one in stats), Account()).read
    assert (read.records, read.delivered, read.rejected, read.left_out) == (23, 20, 0, 3)
    assert sum(one.rows_out for one in stats) == 20
    assert kept(job.checkpoint) == kept(job.table) == []


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("through", ["rows", "frame"])
def test_a_record_ends_the_job_if_the_script_says_so(job, mixed, declared, through):
    options = mixed.options(onMalformed="fail", **(DECLARED if declared else {}))
    with pytest.raises(Exception, match=r"position 2\d: .*--on-malformed"):
        job.drain(options, through_rows(job) if through == "rows" else None, onBatchFailure="fail", batchMaxRetries=0)

    assert list(job.table.rglob("*.parquet")) == []
