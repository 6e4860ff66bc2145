"""What a job logs when a program reads it: JSON lines of one shape, Spark's among them, without secrets."""

from __future__ import annotations

from tests.e2e.jobs import SCRIPTS, arguments

KEYS = {"ts", "level", "logger", "msg", "job", "run_id"}


def test_every_line_is_json_of_one_shape_and_lines_of_a_batch_name_it(launch, topic, tmp_path):
    topic.send_numbers(range(3))
    given = arguments(
        JOB_NAME="noisy", bootstrap=topic.bootstrap, topic=topic.name, checkpoint=tmp_path / "shop" / "checkpoint"
    )
    job = launch.gluepot("run", SCRIPTS / "noisy.py", "--until-caught-up", "--master=local[1]", "--", *given)
    assert job.exit_code() == 0, job.err
    assert all(line >= KEYS for line in map(dict.keys, job.log()))
    (java,) = [line for line in job.log() if line["logger"] == "shop.Java"]
    (own,) = job.said("batch_done")
    (script,) = [line for line in job.log() if line["msg"].startswith("batch of 3")]
    assert (java["level"], java["msg"]) == ("warning", 'a "quoted" line, password=*** and more')
    assert {line["job"] for line in (java, own, script)} == {"noisy"}
    assert len({line["run_id"] for line in (java, own, script)}) == 1
    for line in (own, script):
        assert (line["query"], line["batch"], line["stream"]) == ("shop", 0, topic.name)
    assert "hunter2" not in job.err
