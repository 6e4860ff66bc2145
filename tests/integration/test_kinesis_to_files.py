"""Kinesis to files, through the scripts' own calls: both ways of reading, restarts, replays."""

import json
import shutil

import pytest

from gluepot.streaming.query import session


def numbered(start, end):
    return [{"n": n} for n in range(start, end)]


def numbers(job):
    return sorted(n for (n,) in job.rows("n"))


@pytest.mark.parametrize("way", ["fast", "rows"])
def test_every_record_is_in_the_table_once_whichever_way_it_is_read(job, kinesis_stream, way):
    from awsglue import DynamicFrame

    kinesis_stream.send_json(*numbered(0, 3000))

    def by_rows(frame, batch_id):
        assert frame.count() == frame.select("*").count()
        job.write(DynamicFrame.fromDF(frame.select("*"), job.glue_context, "rows"))

    seen = job.drain(kinesis_stream.options(), job.copy if way == "fast" else by_rows, connection_type="kinesis")

    assert numbers(job) == list(range(3000))
    assert sum(stats.rows_in for stats in seen) == 3000


def test_a_row_that_no_file_can_hold_is_a_reject_with_its_record(job, kinesis_stream):
    from awsglue import DynamicFrame

    def by_day(frame, batch_id):
        job.write(DynamicFrame.fromDF(frame, job.glue_context, "frame"), partitionKeys=["day"])

    records = [b'{"n":%d,  "day":"%s"}' % (n, b"x" * 300 if n % 100 == 1 else b"d") for n in range(1_000)]
    kinesis_stream.send(*records)

    job.drain(kinesis_stream.options(), by_day, connection_type="kinesis")

    rejects = job.rejects()
    assert sorted(one["raw"] for one in rejects) == sorted(records[1::100])
    assert len({(one["shard"], one["position"]) for one in rejects}) == 10


def test_a_restart_goes_on_behind_the_last_batch(job, kinesis_stream):
    kinesis_stream.send_json(*numbered(0, 500))
    job.drain(kinesis_stream.options(), connection_type="kinesis")
    kinesis_stream.send_json(*numbered(500, 900))
    job.drain(kinesis_stream.options(), connection_type="kinesis")

    assert numbers(job) == list(range(900))


def test_a_batch_that_failed_holds_the_same_records_in_the_next_job_though_more_have_come(job, kinesis_stream):
    kinesis_stream.send_json(*numbered(0, 400))
    seen = []

    def fail(frame, batch_id):
        seen.extend(row[0] for row in frame.collect())
        raise RuntimeError("not today")

    with pytest.raises(RuntimeError):
        job.drain(kinesis_stream.options(), fail, connection_type="kinesis", batchMaxRetries=0)
    kinesis_stream.send_json(*numbered(400, 700))
    stats = job.drain(kinesis_stream.options(), connection_type="kinesis")

    assert 0 < len(seen) <= 400  # fewer where the batch was planned before all had been fetched
    assert stats[0].rows_in == len(seen)
    assert numbers(job) == list(range(700))


def test_a_replay_without_the_spool_reads_the_stream_again(job, kinesis_stream):
    kinesis_stream.send_json(*numbered(0, 400))

    def lose_the_spool(frame, batch_id):
        for one in frame.batch_input.reading.reader.folder.glob("spool/*"):
            shutil.rmtree(one)
        job.copy(frame, batch_id)

    job.drain(kinesis_stream.options(), lose_the_spool, connection_type="kinesis")

    assert numbers(job) == list(range(400))


def test_a_bounded_read_ends_at_what_the_stream_holds_now(glue_context, kinesis_stream):
    kinesis_stream.send_json(*numbered(0, 250))

    frame = glue_context.create_dynamic_frame.from_options(
        connection_type="kinesis", connection_options=kinesis_stream.options()
    )

    assert sorted(row.n for row in frame.toDF().collect()) == list(range(250))


def test_latest_means_from_the_first_start_on(job, kinesis_stream):
    kinesis_stream.send_json(*numbered(-10, 0))
    kinesis_stream.rest(0.05)
    drain = session.Drain(max_batches=1)
    with kinesis_stream.records_arriving(pause_secs=0.5):
        job.drain(kinesis_stream.options(startingPosition="latest"), connection_type="kinesis", drain=drain)

    assert numbers(job)
    assert min(numbers(job)) >= 0


def test_the_offset_log_holds_what_the_manifest_says(job, kinesis_stream):
    kinesis_stream.send_json(*numbered(0, 100))
    job.drain(kinesis_stream.options(), connection_type="kinesis")

    manifests = [json.loads(path.read_text()) for path in job.table.rglob("*.json")]
    assert manifests
    for manifest in manifests:
        # Not always 0: a job that plans before anything was fetched logs an empty batch first.
        line = (job.checkpoint / "offsets" / str(manifest["key"]["batch_id"])).read_text().splitlines()[-1]
        spans = json.loads(line)["streams"][kinesis_stream.name]["spans"]
        assert {(one["shard"], int(one["start"]), int(one["end"])) for one in manifest["ranges"]} == {
            (shard, start, end) for shard, (start, end) in spans.items() if start < end
        }
