"""Servers for tests that are Java libraries: started from archives of the lock by a small program of ours."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from gluepot.servers.jars.fetch import ensure
from gluepot.spark.java import ensure_java

PROGRAMS = Path(__file__).parent / "data" / "java"


@contextmanager
def java_server(jars: str, program: str, folder: Path, arguments: Sequence[str], heap: str) -> Iterator[Path]:
    """Run a server until the block ends; yield the file of its output.

    Args:
        jars: set of archives in the lock.
        program: file in `tests/data/java`; it is compiled when it starts, and ends when its input does.
        folder: its working folder.
        arguments: of the program.
        heap: largest heap, such as `512m`.
    """
    java = ensure_java(os.environ).java
    modules = subprocess.run([java, "--list-modules"], capture_output=True, text=True, check=True).stdout
    if "jdk.compiler" not in modules:
        pytest.skip(f"{program} was not run: the Java here has no compiler; install a JDK of version 17 or 21")
    path = os.pathsep.join(map(str, ensure(jars)))
    command = [java, f"-Xmx{heap}", "-XX:+UseSerialGC", "-cp", path, PROGRAMS / program, *arguments]
    log = folder / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=output, cwd=folder)
    try:
        yield log
    finally:
        assert server.stdin is not None
        server.stdin.close()
        try:
            server.wait(20)
        finally:
            server.kill()
            server.wait()
