"""A streaming job tells OpenLineage of itself, by the library's own transport to a file."""

from __future__ import annotations

import json

from tests.e2e.jobs import SCRIPTS, arguments


def test_a_stream_tells_of_its_run_and_of_every_batch(launch, topic, tmp_path):
    topic.send_numbers(range(150))
    (tmp_path / "temp").mkdir()
    events = tmp_path / "events.jsonl"
    job = launch.hosted(
        "run", SCRIPTS / "number_stream.py", "--until-caught-up", "--master=local[2]", "--",
        *arguments(JOB_NAME="numbers", TempDir=tmp_path / "temp", output_path=tmp_path / "table"),
        *arguments(bootstrap=topic.bootstrap, topic=topic.name, pause=0), "--enable-data-lineage", "true",
        env={
            "OPENLINEAGE__TRANSPORT__TYPE": "file",
            "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": str(events),
            "OPENLINEAGE__TRANSPORT__APPEND": "true",
        },
    )  # fmt: skip
    assert job.exit_code() == 0, job.err

    told = [json.loads(line) for line in events.read_text().splitlines()]
    run, *of_stream, end = told
    assert (run["job"]["name"], run["eventType"], end["eventType"]) == ("numbers", "START", "COMPLETE")
    assert [one["eventType"] for one in of_stream] == ["START", "RUNNING", "RUNNING", "COMPLETE"]
    assert {one["run"]["facets"]["parent"]["run"]["runId"] for one in of_stream} == {run["run"]["runId"]}
    batches = of_stream[1:3]
    for one in batches:
        assert [(i["namespace"], i["name"]) for i in one["inputs"]] == [(f"kafka://{topic.bootstrap}", topic.name)]
        (output,) = one["outputs"]
        assert (output["namespace"], output["name"]) == ("file", str(tmp_path / "table"))
        assert [field["name"] for field in output["facets"]["schema"]["fields"]] == ["n"]
    assert sum(one["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] for one in batches) == 150
