"""Short jobs, which nobody scrapes, tell a push gateway how they ended."""

from __future__ import annotations

import json

import pytest

from tests.e2e.jobs import SCRIPTS, arguments
from tests.push_gateway import push_gateway


@pytest.fixture
def gateway():
    with push_gateway() as opened:
        yield opened


def test_a_batch_job_pushes_what_it_wrote(launch, gateway, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.json").write_text("".join(json.dumps({"id": n}) + "\n" for n in range(5)))
    job = launch.hosted(
        "run", SCRIPTS / "copy_files.py", "--master=local[1]", "--push-gateway", gateway.url, "--",
        *arguments(JOB_NAME="copy", input_path=tmp_path / "in", output_path=tmp_path / "out"),
        env={"GLUEPOT_STATE": str(tmp_path / "state")},
    )  # fmt: skip
    assert job.exit_code() == 0, job.err
    ((_, path, values),) = gateway.pushes
    assert path == "/metrics/job/copy"
    assert (values["gluepot_run_success"], values["gluepot_run_rows_out"]) == (1, 5)
    assert values["gluepot_run_files_written"] >= 1


def test_a_job_that_fails_says_so(launch, gateway, tmp_path):
    script = tmp_path / "fails.py"
    script.write_text("raise ValueError('no')\n")
    job = launch.hosted("run", script, "--push-gateway", gateway.url, "--", "--JOB_NAME", "fails")
    assert job.exit_code() == 1
    ((_, _, values),) = gateway.pushes
    assert values["gluepot_run_success"] == 0
