"""Java unpacks libraries where they may execute."""

from __future__ import annotations

from pathlib import Path

import pytest

from gluepot.spark import java_folder
from gluepot.spark.java_folder import with_folder


def noexec():
    """A folder of this machine in which nothing may execute, such as /proc or /sys on most; None without one."""
    mounts = Path("/proc/mounts")
    lines = [line.split() for line in mounts.read_text().splitlines()] if mounts.exists() else []
    return next((Path(where) for _, where, _, options, *_ in lines if "noexec" in options.split(",")), None)


NOEXEC = noexec()


@pytest.mark.skipif(NOEXEC is None, reason="no folder is mounted with noexec; tests/integration/test_image_steps.py")
def test_another_folder_is_taken_where_nothing_may_execute(tmp_path):
    environ = {"SPARK_LOCAL_DIRS": f"{NOEXEC}/spark,{tmp_path}/spark", "GLUEPOT_STATE": str(tmp_path / "state")}
    assert with_folder("-Da=b", environ, NOEXEC) == f"-Da=b -Djava.io.tmpdir={tmp_path}/spark/java"
    assert (tmp_path / "spark" / "java").is_dir()
    del environ["SPARK_LOCAL_DIRS"]
    assert with_folder("", environ, NOEXEC) == f"-Djava.io.tmpdir={tmp_path}/state/java"


def test_the_default_folder_and_one_that_somebody_chose_stay(tmp_path):
    assert with_folder("-Da=b", {}, tmp_path) == "-Da=b"
    assert with_folder("-Djava.io.tmpdir=/x", {}, tmp_path / "nowhere") == "-Djava.io.tmpdir=/x"
    assert not java_folder.may_execute(tmp_path / "nowhere")
