"""Nobody else reads what a service, its jobs and the command line keep, whatever the umask."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time

import pytest

from tests.service_answers import client_with, shell_of, started

SECS = 120
JOB = """
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "source", "lake"])
glue = GlueContext(SparkContext())
job = Job(glue)
job.init(args["JOB_NAME"], args)
frame = glue.create_dynamic_frame.from_options("s3", {"paths": [args["source"]]}, format="json", transformation_ctx="a")
frame.toDF().count()
glue.write_dynamic_frame.from_options(frame, "s3", {"path": args["lake"]}, format="glueparquet", transformation_ctx="b")
job.commit()
"""


@pytest.mark.long
def test_everything_in_the_state_folder_is_its_owners_alone(tmp_path):
    state, source, script = tmp_path / "state", tmp_path / "in", tmp_path / "job.py"
    state.mkdir(mode=0o755)  # as a person makes it
    source.mkdir()
    (source / "a.json").write_text('{"id": 1}\n{"id":\n')
    script.write_text(JOB)
    environ = {**os.environ, "GLUEPOT_STATE": str(state)}
    words = {
        "--source": str(source),
        "--job-bookmark-option": "job-bookmark-enable",
        "--spark-event-logs-path": str(state / "event-logs"),
        "--enable-spark-ui": "true",
    }

    def gluepot(*arguments: str) -> None:
        command = [sys.executable, "-m", "gluepot", *arguments]
        subprocess.run(command, env=environ, cwd=tmp_path, umask=0, check=True, capture_output=True, timeout=SECS)

    serving, _ = started(environ, umask=0)
    try:
        glue = client_with(shell_of(environ))
        command = {"Name": "glueetl", "ScriptLocation": str(script)}
        arguments = {**words, "--lake": str(tmp_path / "first")}
        glue.create_job(Name="copy", Role="any", GlueVersion="5.0", Command=command, DefaultArguments=arguments)
        run_id = glue.start_job_run(JobName="copy")["JobRunId"]
        _await_success(glue, run_id)
        gluepot("serve", "env", "--read-only")
        gluepot("serve", "backup", str(state / "backup"))
    finally:
        serving.terminate()
        serving.wait(SECS)
    given = [word for pair in {**words, "--lake": str(tmp_path / "second")}.items() for word in pair]
    gluepot("run", str(script), "--", "--JOB_NAME", "copy", *given)
    gluepot("jobs", "runs", "copy")
    gluepot("bookmarks", "list")
    gluepot("table", "verify", str(tmp_path / "second"))

    found = {path: stat.S_IMODE(path.lstat().st_mode) for path in state.rglob("*")}
    open_to_others = {str(path): oct(mode) for path, mode in found.items() if mode & 0o077 and _is_reached(path, state)}
    open_to_others.pop(str(state / "warehouse"), None)  # tables are data, as those in any other folder
    assert not open_to_others
    assert {path.name for path in state.iterdir()} >= {"service", "rejects", "event-logs", "backup"}


def _await_success(glue, run_id: str) -> None:
    until = time.monotonic() + SECS
    while (run := glue.get_job_run(JobName="copy", RunId=run_id)["JobRun"])["JobRunState"] != "SUCCEEDED":
        assert run["JobRunState"] in {"STARTING", "RUNNING"}, run
        if time.monotonic() > until:
            pytest.fail(f"the run has not ended: {run}")
        time.sleep(0.5)


def _is_reached(path, root) -> bool:
    """Return whether others can enter all folders between a root and a path."""
    between = path.relative_to(root).parents
    return all(stat.S_IMODE((root / folder).stat().st_mode) & 0o011 for folder in list(between)[:-1])
