"""A bookmarked batch job killed between its write and its commit: nothing lost, nothing doubled."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.jobs import SCRIPTS, Launcher, column

KILLED = 128 + 9


def put(folder: Path, name: str, *ids: int) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("".join(json.dumps({"id": n}) + "\n" for n in ids))


def start(launch: Launcher, folder: Path, failpoint: str | None = None):
    script = ("--JOB_NAME", "copy", "--input_path", folder / "in", "--output_path", folder / "out")
    bookmarks = ("--job-bookmark-option", "job-bookmark-enable")
    env = {"GLUEPOT_STATE": str(folder / "state")} | ({"GLUEPOT_FAILPOINT": failpoint} if failpoint else {})
    return launch.hosted("run", SCRIPTS / "copy_files.py", "--master", "local[1]", "--", *script, *bookmarks, env=env)


# Each start finds one file more than the start before it, finishes or replaces what that start left, and is killed one
# step later. Nothing of the first start is published; the rows of each of the others are visible when it is killed.
def test_a_job_killed_before_or_after_its_commit_has_read_every_file_once(launch, tmp_path):
    put(tmp_path / "in", "0", 0)
    assert start(launch, tmp_path, failpoint="publish.moved").exit_code() == KILLED
    for number, place in enumerate(("publish.created", "job.committing", "job.committed"), start=1):
        put(tmp_path / "in", str(number), number)
        assert start(launch, tmp_path, failpoint=place).exit_code() == KILLED, place
        assert column(tmp_path / "out", "id") == list(range(number + 1)), place
    put(tmp_path / "in", "4", 4)
    again = start(launch, tmp_path)
    assert again.exit_code() == 0, again.err
    assert column(tmp_path / "out", "id") == list(range(5))


def test_a_job_that_forgets_its_commit_is_told(launch, tmp_path):
    put(tmp_path / "in", "a", 1)
    script = tmp_path / "forgetful.py"
    script.write_text((SCRIPTS / "copy_files.py").read_text().replace("\njob.commit()", ""))
    arguments = ("--JOB_NAME", "copy", "--input_path", tmp_path / "in", "--output_path", tmp_path / "out")
    option = ("--job-bookmark-option", "job-bookmark-enable")
    job = launch.hosted("run", script, "--", *arguments, *option, env={"GLUEPOT_STATE": str(tmp_path / "state")})
    assert job.exit_code() == 0, job.err
    (told,) = job.said("job_not_committed")
    assert told["reason"] == "the script ended without job.commit()"
