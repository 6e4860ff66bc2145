"""What `gluepot.testing` gives to tests of scripts, used as its users do."""

from __future__ import annotations

import pytest

from gluepot.testing import JobFailed, assert_frames_equal
from gluepot.testing.plugin import run_glue_job  # noqa: F401  the fixture, also where the plugin is not installed
from tests.e2e.jobs import EXAMPLES

READINGS = [
    [{"sensor": "a", "room": "hall", "temperature": 21.5}, {"sensor": "b", "room": "hall", "temperature": 30}],
    [b'{"sensor": "c", "room": "hall", "temperature": 25.0}', "{broken"],
]


def test_a_streaming_script_reads_recorded_batches_one_by_one(run_glue_job, glue_context, tmp_path):  # noqa: F811
    given = {"bootstrap_servers": "nowhere:1", "topic": "readings", "output_path": tmp_path / "out"}

    run_glue_job(EXAMPLES / "sensor_alerts.py", given, streams={"readings": READINGS})

    written = glue_context.spark_session.read.parquet(f"{tmp_path}/out/*.parquet")
    expected = [{"room": "hall", "alerts": 2, "highest": 30.0}, {"room": "hall", "alerts": 1, "highest": 25.0}]
    assert_frames_equal(written, expected, keys=["room", "alerts"])


def test_a_job_that_fails_says_so_with_its_last_lines(run_glue_job, tmp_path):  # noqa: F811
    given = {"bootstrap_servers": "nowhere:1", "topic": "others", "output_path": tmp_path / "out"}

    with pytest.raises(JobFailed, match=r"(?s)ended with 2:.*No batches are recorded for the kafka stream 'others'"):
        run_glue_job(EXAMPLES / "sensor_alerts.py", given, streams={"readings": READINGS})
