"""`gluepot prepare`: makes archives of classes, so that later jobs and brokers of this installation start faster."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gluepot.core.errors import ConfigError, PermanentError
from gluepot.servers.jars.fetch import locked_archives
from gluepot.servers.kafka import JAR_SET, KafkaBroker
from gluepot.servers.topics import create_topic
from gluepot.spark.class_archive import archive_path, recording
from gluepot.spark.java import ensure_java
from gluepot.spark.spark_env import LAUNCHER_OPTIONS

TRAINING = Path(__file__).parent / "training.py"
TRAINING_SECS = 300.0


@dataclass(frozen=True, slots=True)
class Prepared:
    """The outcome of `prepare` for one program.

    Args:
        program: what starts faster.
        archive: the archive; None if this Java cannot make one.
        made: whether this call made the archive; False if it existed before.
    """

    program: str
    archive: Path | None
    made: bool


def prepare(*, replace: bool = False) -> list[Prepared]:
    """Run a small streaming job, and the broker for development if it is on this machine; each writes its archive.

    Args:
        replace: replace an existing archive, for example after an update of Java.

    Raises:
        ConfigError: there is no usable Java, or the environment's folder cannot be written.
        PermanentError: the job or the broker failed.
    """
    java = ensure_java(os.environ)
    prepared = [_prepared("Spark", archive_path(java.version), _train, replace=replace)]
    try:
        jars = locked_archives(JAR_SET)
    except ConfigError:  # the broker has not been used yet, and is fetched when it is
        return prepared
    return [*prepared, _prepared("Kafka", archive_path(java.version, jars), _train_broker, replace=replace)]


def _prepared(program: str, archive: Path, train: Callable[[Path, Path], None], *, replace: bool) -> Prepared:
    if archive.exists() and not replace:
        return Prepared(program, archive, made=False)
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=archive.parent, prefix="making-") as folder:
            made = Path(folder) / "classes.jsa"
            train(made, Path(folder))
            if not made.exists():
                return Prepared(program, None, made=False)
            made.replace(archive)
    except OSError as error:
        raise ConfigError(
            f"{archive} cannot be written ({error.strerror}); run `gluepot prepare` as the owner of {sys.prefix}."
        ) from error
    return Prepared(program, archive, made=True)


def _train_broker(archive: Path, folder: Path) -> None:
    class Recording(KafkaBroker):
        def _jvm_options(self) -> str:
            return recording("", archive)

    with Recording(folder / "kafka") as broker:
        create_topic(broker.bootstrap, "prepare", 1)


def _train(archive: Path, folder: Path) -> None:
    own = ("GLUEPOT_", "SPARK_", "PYSPARK_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    env |= {
        "SPARK_LOCAL_IP": "127.0.0.1",
        # The job runs its code a few times: to compile it well is lost time. The archive suits every collector.
        "SPARK_SUBMIT_OPTS": recording(LAUNCHER_OPTIONS, archive),
        "TMPDIR": str(folder),
    }
    command = [sys.executable, "-m", "gluepot", "run", str(TRAINING), "--max-batches", "1", "--master", "local[2]"]
    # `run` returns when the output is closed. The JVM closes it, after the driver has ended and the archive is written.
    ended = subprocess.run(
        [*command, "--", "--JOB_NAME", "prepare", "--TempDir", str(folder)],
        capture_output=True,
        check=False,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=TRAINING_SECS,
    )
    if ended.returncode != 0:
        raise PermanentError(f"{ended.stdout}{ended.stderr}\nThe job that `gluepot prepare` runs failed, see above.")
