"""A script that uses Spark's own Kafka connector and names tables in SQL runs as it does in Glue."""

from __future__ import annotations

from tests.e2e.jobs import SCRIPTS


def test_sparks_kafka_connector_feeds_a_delta_table_by_name_until_it_has_caught_up(launch, topic, tmp_path):
    topic.send_numbers(range(10))

    job = launch.gluepot(
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
