"""A script that uses Spark's own Kafka connector and names tables in SQL runs as it does in Glue."""

from __future__ import annotations

import duckdb

from tests.e2e.conftest import KinesisStream
from tests.e2e.jobs import SCRIPTS


def test_sparks_kafka_connector_feeds_a_delta_table_by_name_until_it_has_caught_up(launch, topic, tmp_path):
    topic.send_numbers(range(10))

    job = launch.hosted(
        *(
            "run",
            "--until-caught-up",
            SCRIPTS / "sparks_own.py",
            "--",
            "--JOB_NAME",
            "own",
            "--datalake-formats",
            "delta",
        ),
        *("--servers", topic.bootstrap, "--topic", topic.name, "--checkpoints", tmp_path / "checkpoints"),
        env={"GLUEPOT_STATE": str(tmp_path / "state")},
    )

    assert job.exit_code() == 0, job.err[-3000:]
    lines = job.out.splitlines()
    assert lines[0] == "read 10 key,value,topic,partition,offset,timestamp,timestampType"
    numbers = [tuple(map(int, line.split()[1:])) for line in lines if line.startswith("number")]
    assert [(n, times) for n, times, _ in numbers] == [(n, 2) for n in range(10)]
    assert max(size for *_, size in numbers) <= 4
    assert lines[-1] == "from_catalog 20"
    assert not (job.folder / "metastore_db").exists()
    assert (tmp_path / "state" / "warehouse" / "shop.db" / "numbers" / "_delta_log").is_dir()


def test_streams_of_kinesis_are_read_by_the_names_of_sparks_connectors(launch, kinesis, tmp_path):
    stream = KinesisStream.at(kinesis)
    stream.send(f"text {number}".encode() for number in range(20))

    job = launch.hosted(
        *("run", "--until-caught-up", SCRIPTS / "sparks_kinesis.py", "--", "--JOB_NAME", "own"),
        *("--endpoint", kinesis, "--stream", stream.name, "--out", tmp_path / "out"),
        *("--checkpoints", tmp_path / "checkpoints"),
        env={"GLUEPOT_STATE": str(tmp_path / "state"), "AWS_REGION": "us-east-1"},
    )

    assert job.exit_code() == 0, job.err[-3000:]
    assert "columns data,streamName,partitionKey,sequenceNumber,approximateArrivalTimestamp" in job.out
    expected = sorted((f"text {number}", str(number)) for number in range(20))
    for way in ("spark", "glue"):
        rows = duckdb.sql(f"SELECT text, partitionKey FROM '{tmp_path}/out/{way}/*.parquet'").fetchall()
        assert sorted(rows) == expected, way
    told = f"SELECT DISTINCT streamName, sequenceNumber ~ '[0-9]+' FROM '{tmp_path}/out/spark/*.parquet'"
    assert duckdb.sql(told).fetchall() == [(stream.name, True)]
