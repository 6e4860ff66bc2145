"""From a real broker to files, by the fast way and by the DataFrame way; files read by DuckDB."""

import json
import time
from collections import Counter

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions

DRIFTING = [
    {"id": 1, "user": {"name": "ada", "tags": ["x", "y"]}, "n": 1},
    {"id": 2, "user": {"name": "bob", "age": 3}, "n": 2.5},
    {"id": 3, "late": True, "n": None},
    {"id": 4, "user": None, "text": "2026-01-01T00:00:00Z", "items": [{"sku": "a", "q": 1}, {"sku": "b"}]},
    {"id": 5, "n": "many", "emoji 😀": "ü", "dotted.name": 1},
    {"id": 6, "n": {"a": 1}, "items": []},
]
BROKEN = [b'{"id": 7, "n":', b"", b"[1, 2]", b'"text"', b'{"id": 8}{"id": 9}', b'{"id": "\xff\xfe"}', b"null", b"\x00"]


def sorted_json(text):
    return json.dumps(json.loads(text), sort_keys=True)


def by_dataframe(job):
    """A function that makes the rows real Spark rows before it makes a DynamicFrame of them."""
    from awsglue import DynamicFrame

    def function(data_frame, batch_id):
        rows = data_frame.filter("1 = 1")
        assert type(rows) is not type(data_frame)
        job.write(DynamicFrame.fromDF(rows, job.glue_context, "frame"))

    return function


@pytest.fixture
def second_job(job, tmp_path):
    return type(job)(job.glue_context, tmp_path / "second")


def test_every_record_is_in_the_table_or_in_the_rejects(topic, job):
    topic.send_json(*DRIFTING)
    topic.send(*BROKEN, None)

    job.drain(topic.options())

    assert [row[0] for row in job.rows("id")] == [1, 2, 3, 4, 5, 6]
    assert Counter(r["raw"] for r in job.rejects()) == Counter([*BROKEN, None])


def test_rejects_carry_coordinates_and_reason(topic, job):
    topic.send_json({"id": 1}, partition=1)
    topic.send(b"{broken", partition=1)

    job.drain(topic.options())

    (reject,) = job.rejects()
    assert reject == {
        "raw": b"{broken",
        "stream": topic.name,
        "shard": "1",
        "position": "1",
        "reason": "malformed_json",
    }


def test_a_row_that_no_file_can_hold_is_a_reject_with_its_record(topic, job):
    def filtered(data_frame, batch_id):
        from awsglue import DynamicFrame

        rows = DynamicFrame.fromDF(data_frame, job.glue_context, "frame").filter(lambda row: row["id"] % 3)
        job.write(rows, partitionKeys=["day"])

    records = [b'{"id":%d,  "day":"%s"}' % (n, b"x" * 300 if n % 100 == 1 else b"d") for n in range(2_000)]
    topic.send(*records[:1_000], partition=0)
    topic.send(*records[1_000:], partition=1)

    job.drain(topic.options(), filtered)

    assert Counter((one["shard"], int(one["position"]), one["raw"]) for one in job.rejects()) == Counter(
        (str(n // 1_000), n % 1_000, records[n]) for n in range(1, 2_000, 100) if n % 3
    )


def test_both_ways_give_equal_rows_and_equal_rejects(topic, job, second_job):
    topic.send_json(*DRIFTING * 3)
    topic.send(*BROKEN, None)
    topic.send_json(*reversed(DRIFTING))

    job.drain(topic.options())
    second_job.drain(topic.options(), by_dataframe(second_job))

    assert job.documents() == second_job.documents()
    assert len(job.documents()) == 4 * len(DRIFTING)
    assert Counter((r["raw"], r["reason"]) for r in job.rejects()) == Counter(
        (r["raw"], r["reason"]) for r in second_job.rejects()
    )


def test_to_df_of_the_fast_way_gives_the_same_rows_as_spark(topic, job):
    from awsglue import DynamicFrame

    seen = []

    def function(data_frame, batch_id):
        fast = DynamicFrame.fromDF(data_frame, job.glue_context, "fast").toDF()
        slow = DynamicFrame.fromDF(data_frame.filter("1 = 1"), job.glue_context, "slow").toDF()
        seen.extend(Counter(map(sorted_json, frame.toJSON().collect())) for frame in (fast, slow))

    topic.send_json(*DRIFTING)
    job.drain(topic.options(), function)

    assert seen[0] == seen[1]
    assert sum(seen[0].values()) == len(DRIFTING)


def test_a_conflict_of_types_loses_no_value(topic, job):
    topic.send_json({"v": 1}, {"v": "one"}, {"v": [1]}, {"v": {"a": 1}}, {"v": True}, partition=0)

    job.drain(topic.options())

    assert sorted(row[0] for row in job.rows("v")) == ["1", "[1]", "one", "true", '{"a":1}']


def test_a_new_column_needs_no_restart_and_old_files_read_as_null(topic, job):
    from gluepot.streaming.query.session import Drain

    topic.send_json({"id": 1})

    def function(data_frame, batch_id):
        job.copy(data_frame, batch_id)
        if batch_id == 0:
            topic.send_json({"id": 2, "extra": "x"})

    job.drain(topic.options(), function, drain=Drain(max_batches=2))

    assert job.rows("id, extra") == [(1, None), (2, "x")]


def test_count_of_a_batch_equals_its_records_and_the_frame_is_a_dataframe(topic, job):
    from pyspark.sql import DataFrame

    seen = []

    def function(data_frame, batch_id):
        assert isinstance(data_frame, DataFrame)
        data_frame.createOrReplaceTempView("events")
        documents = data_frame.sparkSession.sql("SELECT * FROM events").collect()
        seen.append((data_frame.count(), data_frame.isEmpty(), data_frame.columns, len(documents)))

    topic.send_json(*({"id": i} for i in range(7)))
    job.drain(topic.options(), function)

    assert seen == [(7, False, ["$json$data_infer_schema$_temporary$"], 7)]


def test_the_script_may_parse_the_magic_column_itself(topic, job):
    from pyspark.sql import functions as F  # noqa: N812

    seen = []

    def function(data_frame, batch_id):
        column = F.col("`$json$data_infer_schema$_temporary$`").cast("string")
        seen.extend(data_frame.select(F.from_json(column, "id INT").alias("e")).select("e.*").collect())

    topic.send_json({"id": 5})
    job.drain(topic.options(), function)

    assert [row.id for row in seen] == [5]


def test_without_inference_the_payload_is_in_data_and_with_a_schema_in_real_columns(topic, job, second_job):
    seen = {}
    topic.send_json({"id": 5, "name": "ada"})

    job.drain(topic.options(inferSchema="false"), lambda frame, _: seen.update(raw=frame.collect()))
    second_job.drain(
        topic.options(inferSchema="false", schema="id INT, name STRING"),
        lambda frame, _: seen.update(typed=frame.collect()),
    )

    assert [row.asDict() for row in seen["raw"]] == [{"data": '{"id": 5, "name": "ada"}'}]
    assert [row.asDict() for row in seen["typed"]] == [{"id": 5, "name": "ada"}]


def test_headers_and_timestamps_are_added_when_asked_for(topic, job):
    topic.send(b'{"id": 1}', headers=[("trace", b"abc")])
    topic.send(b"broken")

    job.drain(topic.options(includeHeaders="true", addRecordTimestamp="true"))

    ((identity, stamp, headers),) = job.rows("id, epoch(__src_timestamp), glue_streaming_kafka_headers")
    assert (identity, headers) == (1, [{"key": "trace", "value": "abc"}])
    assert abs(stamp - time.time()) < 60


def test_a_transactional_topic_with_aborts_gives_the_committed_records_only(new_topic, job):
    topic = new_topic(partitions=1)
    producer = Producer({"bootstrap.servers": topic.bootstrap, "transactional.id": topic.name, "log_level": 0})
    producer.init_transactions()
    committed = []
    for n in range(10):
        producer.begin_transaction()
        for k in range(7):
            producer.produce(topic.name, json.dumps({"n": n, "k": k}).encode())
        producer.flush()
        if n % 3 == 0:
            producer.abort_transaction()
        else:
            producer.commit_transaction()
            committed += [(n, k) for k in range(7)]

    job.drain(topic.options(maxOffsetsPerTrigger=5))

    assert job.rows("n, k") == sorted(committed)
    assert all(stats.rows_in for stats in job.batches)


def test_partitions_added_while_running_are_read_from_their_first_offset(new_topic, job):
    from gluepot.streaming.query.session import Drain

    topic = new_topic(partitions=1)
    topic.send_json({"id": 0})

    def function(data_frame, batch_id):
        job.copy(data_frame, batch_id)
        if batch_id == 0:
            admin = AdminClient({"bootstrap.servers": topic.bootstrap})
            for done in admin.create_partitions([NewPartitions(topic.name, 4)]).values():
                done.result()
            topic.producer.partitions_for(topic.name)
            producer = Producer({"bootstrap.servers": topic.bootstrap, "log_level": 0})
            for p in range(4):
                producer.produce(topic.name, json.dumps({"id": p + 1}).encode(), partition=p)
            producer.flush()

    job.drain(topic.options(), function, drain=Drain(max_batches=2))
    job.drain(topic.options())

    assert job.rows("id") == [(0,), (1,), (2,), (3,), (4,)]


def test_a_record_of_five_megabytes_arrives_whole(topic, job):
    topic.send_json({"id": 1, "text": "x" * 5_000_000}, {"id": 2, "text": "y"})

    job.drain(topic.options())

    assert job.rows("id, length(text)") == [(1, 5_000_000), (2, 1)]


def test_an_empty_topic_ends_a_drain_without_a_batch(topic, job):
    assert job.drain(topic.options()) == []
    assert job.rows() == []


def test_a_restart_goes_on_where_the_last_run_ended(topic, job):
    topic.send_json({"id": 1})
    job.drain(topic.options())
    topic.send_json({"id": 2})
    job.drain(topic.options())

    assert job.rows("id") == [(1,), (2,)]
    assert [stats.batch_id for stats in job.batches] == [0, 1]


def test_limits_hold_from_the_first_batch_on_and_after_a_restart(topic, job):
    from gluepot.streaming.query.session import Drain

    topic.send_json(*({"id": i} for i in range(50)), partition=0)
    topic.send_json(*({"id": i} for i in range(50, 60)), partition=1)

    job.drain(topic.options(maxOffsetsPerTrigger=13), drain=Drain(max_batches=2))
    job.drain(topic.options(maxOffsetsPerTrigger=13))

    assert [stats.rows_in for stats in job.batches] == [13, 13, 13, 13, 8]
    assert job.rows("count(*), count(DISTINCT id)") == [(60, 60)]


def test_a_failed_attempt_leaves_nothing_and_the_retry_one_copy(topic, job):
    attempts = []

    def function(data_frame, batch_id):
        job.copy(data_frame, batch_id)
        attempts.append(batch_id)
        if len(attempts) == 1:
            raise RuntimeError("after the write")

    topic.send_json({"id": 1}, {"id": 2})
    job.drain(topic.options(), function)

    assert attempts == [0, 0]
    assert job.rows("id") == [(1,), (2,)]


def test_transforms_run_on_the_way_from_broker_to_file(topic, job):
    from awsglue import DynamicFrame
    from awsglue.transforms import ApplyMapping, DropFields, Filter, Map, RenameField, SelectFields

    def function(data_frame, batch_id):
        frame = DynamicFrame.fromDF(data_frame, job.glue_context, "frame")
        frame = Filter.apply(frame, lambda record: record["id"] != 2)
        frame = RenameField.apply(frame, "user.name", "who")
        frame = ApplyMapping.apply(
            frame, [("id", "long", "id", "string"), ("who", "string", "who", "string"), ("x", "long", "x", "long")]
        )
        frame = Map.apply(frame, lambda record: {**record, "y": record["x"] * 2})
        frame = DropFields.apply(frame, ["x"])
        job.write(SelectFields.apply(frame, ["id", "who", "y"]), partitionKeys=["who"])

    topic.send_json(*({"id": i, "user": {"name": f"u{i % 2}"}, "x": i} for i in range(1, 5)))
    job.drain(topic.options(), function)

    assert job.rows("id, y, who") == [("1", 2, "u1"), ("3", 6, "u1"), ("4", 8, "u0")]


def test_a_query_that_the_script_starts_by_itself_goes_on_where_it_ended(topic, job, tmp_path):
    seen = []

    def run():
        stream = job.glue_context.create_data_frame.from_options("kafka", topic.options()).where("1 = 1")
        writer = stream.writeStream.foreachBatch(lambda frame, number: seen.append(frame.count()))
        writer.option("checkpointLocation", str(tmp_path / "own")).trigger(availableNow=True).start().awaitTermination()

    topic.send_json(*({"id": i} for i in range(3)))
    run()
    topic.send_json(*({"id": i} for i in range(2)))
    run()

    assert seen == [3, 2]


def test_records_of_a_batch_are_counted_before_a_join(topic, job):
    from awsglue import DynamicFrame

    def joined(data_frame, batch_id):
        rows = DynamicFrame.fromDF(data_frame, job.glue_context, "frame").toDF()
        other = rows.sparkSession.createDataFrame([(3,)], "id long")
        job.write(DynamicFrame.fromDF(rows.join(other, "id"), job.glue_context, "joined"))

    topic.send_json(*({"id": i} for i in range(10)))

    (stats,) = job.drain(topic.options(), joined)

    assert (stats.rows_in, stats.rows_out) == (10, 1)


def test_stats_of_a_batch_agree_with_what_was_sent_and_written(topic, job):
    topic.send_json(*({"id": i} for i in range(10)), partition=0)
    topic.send(b"{", partition=1)

    (stats,) = job.drain(topic.options())

    assert (stats.rows_in, stats.rows_out, dict(stats.rejected)) == (11, 10, {"malformed_json": 1})
    assert stats.lag_records == {f"{topic.name}-0": 0, f"{topic.name}-1": 0}
    assert stats.files == 1
    assert {"fetch", "parse", "write"} <= stats.phase_secs.keys()
