from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gluepot.engine.worker_daemon import kept_bytes, without_archives

POOL = """
from gluepot.engine.worker_daemon import keep_memory
keep_memory()
import pyarrow
print(pyarrow.default_memory_pool().backend_name)
"""


def installed(site):
    (site / "pyspark" / "python" / "lib").mkdir(parents=True)
    (site / "pyspark" / "__init__.py").touch()
    archives = [site / "pyspark" / "python" / "lib" / name for name in ("pyspark.zip", "py4j-src.zip")]
    for archive in archives:
        archive.touch()
    return [str(archive) for archive in archives]


@pytest.mark.parametrize(("memory_gib", "kept_mib"), [(1, 64), (4, 64), (8, 128), (16, 256), (256, 256)])
def test_a_worker_keeps_less_where_memory_is_scarce(memory_gib, kept_mib):
    assert kept_bytes(memory_gib << 30) == kept_mib << 20


def test_archives_of_an_installed_pyspark_leave_the_path(tmp_path):
    archives = installed(tmp_path)
    users = str(tmp_path / "extra.zip")
    assert without_archives([*archives, users, "/not/there", str(tmp_path)]) == [users, "/not/there", str(tmp_path)]


def test_archives_stay_where_pyspark_is_nowhere_else(tmp_path):
    archives = installed(tmp_path)
    assert without_archives([*archives, "/not/there"]) == [*archives, "/not/there"]


def test_archives_of_another_spark_stay(tmp_path):
    installed(tmp_path / "site")
    others = installed(tmp_path / "opt")
    assert without_archives([*others, str(tmp_path / "site")]) == [*others, str(tmp_path / "site")]


@pytest.mark.parametrize(("given", "pool"), [({}, "system"), ({"ARROW_DEFAULT_MEMORY_POOL": "mimalloc"}, "mimalloc")])
def test_arrow_uses_the_allocator_that_keeps_memory_unless_told_otherwise(given, pool):
    told = {name: value for name, value in os.environ.items() if name != "ARROW_DEFAULT_MEMORY_POOL"} | given
    assert subprocess.check_output([sys.executable, "-c", POOL], env=told, text=True).strip() == pool
