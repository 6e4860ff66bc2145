"""`gluepot prepare`: makes an archive of Spark's classes, so that later jobs of this installation start faster."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gluepot.core.errors import ConfigError, PermanentError
from gluepot.spark.class_archive import archive_path, recording
from gluepot.spark.java import ensure_java

TRAINING = Path(__file__).parent / "training.py"
TRAINING_SECS = 300.0


@dataclass(frozen=True, slots=True)
class Prepared:
    """The outcome of `prepare`.

    Args:
        archive: the archive; None if this Java cannot make one.
        made: whether this call made the archive; False if it existed before.
    """

    archive: Path | None
    made: bool


def prepare(*, replace: bool = False) -> Prepared:
    """Run a small streaming job whose JVM writes the archive when it ends.

    Args:
        replace: replace an existing archive, for example after an update of Java.

    Raises:
        ConfigError: there is no usable Java, or the environment's folder cannot be written.
        PermanentError: the job failed.
    """
    java = ensure_java(os.environ)
    archive = archive_path(java.version)
    if archive.exists() and not replace:
        return Prepared(archive, made=False)
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=archive.parent, prefix="making-") as folder:
            made = Path(folder) / "classes.jsa"
            _train(made, Path(folder))
            if not made.exists():
                return Prepared(None, made=False)
            made.replace(archive)
    except OSError as error:
        raise ConfigError(
            f"{archive} cannot be written ({error.strerror}); run `gluepot prepare` as the owner of {sys.prefix}."
        ) from error
    return Prepared(archive, made=True)


def _train(archive: Path, folder: Path) -> None:
    own = ("GLUEPOT_", "SPARK_", "PYSPARK_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    env |= {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SUBMIT_OPTS": recording("", archive),
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
