"""The image, as far as it goes without a container engine: its steps replayed in a folder, the result made read-only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from deploy.docker.health import FIRST_PROCESS
from gluepot.core.cachedir import cache_root
from gluepot.datalake.formats import BUNDLED
from gluepot.servers.jars import ensure
from gluepot.spark.java import ensure_java
from scripts.bootstrap import find_uv
from tests.dockerfile import REPOSITORY, Stage, build_context, parse_dockerfile
from tests.image_replay import (
    Replay,
    bound_by_permissions,
    can_mount,
    copy_files,
    set_writable,
    tmpfs_options,
    with_tmpfs,
)

SYSTEM_PATH = "/usr/bin:/bin"
SCRIPT = """\
import sys

from awsglue.context import GlueContext
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "output_path"])
spark = GlueContext(SparkContext()).spark_session
rows = spark.sparkContext.parallelize(range(5), 1).map(lambda n: (n * n,))
frame = spark.createDataFrame(rows, "n long")
frame.write.parquet(args["output_path"])  # snappy
frame.write.parquet(args["output_path"] + "-zstd", compression="zstd")
print("sum", spark.read.parquet(args["output_path"]).agg({"n": "sum"}).first()[0])
"""


@dataclass(frozen=True)
class Image:
    """A replayed image that nobody may write to except in its volumes."""

    root: Path
    context: Path
    runtime: Stage
    env: Mapping[str, str]

    def run(self, *command: str | Path, tmpfs: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command in the image's working directory with nothing but the image's environment.

        Args:
            command: the command.
            tmpfs: an entry as in a file for compose; None for the machine's own /tmp.
        """
        mounted = [] if tmpfs is None else with_tmpfs(tmpfs_options(tmpfs), self.root)
        return subprocess.run(
            [*mounted, *bound_by_permissions(), *command],
            cwd=self.root / self.runtime.last("WORKDIR").text.lstrip("/"),
            env=self.env,
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def gluepot(self, *arguments: str | Path, tmpfs: str | None = None) -> subprocess.CompletedProcess[str]:
        """Do what `docker run IMAGE arguments` does, but for tini."""
        entrypoint = self.runtime.last("ENTRYPOINT").words
        return self.run(*entrypoint[entrypoint.index("--") + 1 :], *arguments, tmpfs=tmpfs)

    def python(self, code: str) -> str:
        ran = self.run("python", "-c", code)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()


def building_environment() -> dict[str, str]:
    """What stands for the stages before `build`, which need root: this machine's Java, compiler, uv and Python."""
    environ = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    tools = f"{find_uv().parent}:{ensure_java(os.environ).home / 'bin'}"
    return {**environ, "PATH": f"{tools}:{environ['PATH']}", "UV_PYTHON": sys.executable}


def running_environment(root: Path, of_the_image: Mapping[str, str]) -> dict[str, str]:
    (root / "home").mkdir()
    return {
        "HOME": str(root / "home"),
        "JAVA_HOME": str(ensure_java(os.environ).home),
        "LANG": "C.UTF-8",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "TMPDIR": str(root / "tmp"),
        **of_the_image,
    }


def without_archives(stage: Stage) -> Stage:
    """Leave out the step after which a job starts faster; it takes longer than all the others together."""
    (prepare,) = [one for one in stage.instructions if one.keyword == "RUN" and "gluepot prepare" in one.text]
    return replace(stage, instructions=[one for one in stage.instructions if one is not prepare])


# Without the archives of classes the image holds the same files but these, and its job starts by reading classes.
# `make setup` makes the archives with the same command, and the jobs of all other tests start from them.
@pytest.fixture(
    scope="module", params=[pytest.param(False, id="plain"), pytest.param(True, id="prepared", marks=pytest.mark.long)]
)
def image(request: pytest.FixtureRequest) -> Iterator[Image]:
    # Not pytest's own folder, which keeps three runs: this is a gigabyte.
    with tempfile.TemporaryDirectory(prefix="gluepot-image-") as folder:
        context, root = Path(folder, "context"), Path(folder, "root")
        copy_files(REPOSITORY, build_context(), context)
        stages = {stage.name: stage for stage in parse_dockerfile((REPOSITORY / "Dockerfile").read_text())}
        # Archives that `make setup` has fetched are there already: the step that fetches then needs no network, it only
        # checks their bytes. That the step is there is tested in tests/unit/test_dockerfile.py.
        for archives in ("kafka-broker", *BUNDLED):
            ensure(archives)
        shutil.copytree(cache_root(os.environ) / "jars", root / "opt/gluepot/cache/jars")
        build = stages["build"] if request.param else without_archives(stages["build"])
        Replay(root, context, building_environment()).stage(build)
        shutil.rmtree(root / "src")
        running = Replay(root, context, {"PATH": SYSTEM_PATH})
        running.stage(stages["runtime"])
        env = running_environment(root, running.env)
        set_writable(root, writable=False)
        for volume in stages["runtime"].last("VOLUME").words:
            set_writable(running.inside(volume), writable=True)
        yield Image(root, context, stages["runtime"], env)
        set_writable(root, writable=True)


@pytest.mark.parametrize("place", ["opt/gluepot", "opt/gluepot/venv/bin", "opt/gluepot/cache", "home"])
def test_nothing_outside_the_volumes_can_be_written(image, place):
    assert image.run("touch", image.root / place / "new").returncode != 0


def test_command_line_starts_from_the_working_directory(image):
    ran = image.gluepot(*image.runtime.last("CMD").words)
    assert ran.returncode == 0, ran.stderr
    assert "Run AWS Glue scripts unchanged" in ran.stdout


def test_glue_names_are_imported_from_the_installed_wheel(image):
    installed = image.python("import awsglue.context; print(awsglue.context.__file__)")
    assert Path(installed).is_relative_to(image.root / "opt/gluepot/venv")


def test_every_file_of_the_packages_is_in_the_wheel(image):
    site = Path(image.python("import awsglue; print(awsglue.__path__[0])")).parent
    packages = {path.parent.name for path in image.context.glob("*/py.typed")}
    assert packages == {"awsglue", "awsgluedq", "awsglueml", "gluepot"}
    linked = {
        Path("gluepot", path) for path in build_files(image.context) if path.parts[0] in {"connectors", "streaming"}
    }
    expected = linked | {path for path in build_files(image.context) if path.parts[0] in packages}
    assert {path for path in build_files(site) if path.parts[0] in packages} == expected | {
        Path("gluepot/connectors/kafka/_consumer.abi3.so"),
        Path("gluepot/frames/_json_kernel.abi3.so"),
        Path("gluepot/servers/jars.lock.json"),
        Path("gluepot/servers/npm.lock.json"),
        *(Path("gluepot") / path for path in build_files(image.context) if path.parts[0] == "examples"),
    }


def test_the_kernels_are_compiled(image):
    kernels = ("gluepot.frames.json_kernel", "gluepot.connectors.kafka.compiled")
    for kernel in kernels:
        assert image.python(f"import {kernel} as kernel; print(kernel.IS_COMPILED)") == "True"


def test_modules_that_generated_scripts_import_are_installed(image):
    found = image.python("from importlib.util import find_spec; print(find_spec('gs_now').origin)")
    assert Path(found).read_text() == (image.context / "studio/gs_now.py").read_text()


def build_files(folder: Path) -> set[Path]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")  # not through links
    return {path.relative_to(folder) for path in files}


def test_demo_finds_its_script(image):
    script = image.python("from gluepot.core.examples import example; print(example('clickstream.py'))")
    assert Path(script).read_text() == (image.context / "examples/clickstream.py").read_text()


def test_archives_of_the_broker_are_baked_in(image):
    assert "kafka_2.13" in image.python("from gluepot.servers.jars import ensure; print(*ensure('kafka-broker'))")


def test_development_packages_are_left_out(image):
    found = image.python("from importlib.util import find_spec as f; print(f('pytest'), f('moto'), bool(f('duckdb')))")
    assert found == "None None True"


def test_a_ledger_in_postgresql_needs_nothing_else(image):
    assert image.python("import psycopg; print(psycopg.pq.__impl__)") == "binary"


@pytest.mark.skipif(not can_mount(), reason="unshare needs Linux, and root or user namespaces")
def test_a_job_runs_on_spark_with_the_tmp_of_docker_and_writes_to_its_volume_alone(image):
    (image.root / "work/job.py").write_text(SCRIPT)
    table = image.root / "work/table"
    arguments = ["--JOB_NAME", "squares", "--output_path", table]
    ran = image.gluepot("run", image.root / "work/job.py", "--master", "local[1]", "--", *arguments, tmpfs="/tmp")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["sum 30"]
    assert list(table.glob("*.parquet"))


@pytest.mark.skipif(not FIRST_PROCESS.exists(), reason="the check reads /proc; run the test on Linux")
def test_health_check_starts_with_the_python_of_the_image(image):
    *python, script = image.runtime.last("HEALTHCHECK").command.words
    ran = image.run(*python, f"{image.root}{script}")
    assert (ran.returncode, ran.stderr) == (0, "")
