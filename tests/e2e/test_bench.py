"""`gluepot bench` on the example script, with time for a run or two, and then under a steady load."""

from __future__ import annotations

import json

from tests.e2e.jobs import EXAMPLES


def test_the_unchanged_example_is_measured_and_gets_its_settings(launch):
    script = EXAMPLES / "clickstream.py"
    goal = ("--sla", "10s", "--rate", "200", "--cores", "1", "--minutes", "0.3", "--hold", "10s")
    job = launch.gluepot("bench", script, *goal, "--output", "json")
    assert job.exit_code(secs=420) == 0, job.err
    report = json.loads(job.out)
    first = report["runs"][0]
    assert (first["cores"], first["limit_rows"], first["batches"]) == (1, 1000, 10)
    assert report["left_out_runs"] >= 1
    assert (report["settings"]["cores"], report["settings"]["window_secs"]) == (1, 5.0)
    assert report["settings"]["patch"]["forEachBatch options"] == {"windowSize": "5 seconds"}
    assert (report["held"]["rate"], report["held"]["lag_grows"]) == (200, False)
    assert report["held"]["batches"] >= 4
    assert 0 < report["held"]["p50_secs"] < report["held"]["worst_secs"]
    assert job.err.count("rows a batch") == len(report["runs"])
