"""A fork server for the process that plans a stream, beside the Spark that the tests of a process share.

Spark starts a Python for each start of a stream, which takes a second of processor time to load PySpark. `gluepot run`
has it forked off the driver (`gluepot.spark.fork_server`). A process of tests has threads, so it cannot be forked: a
process of its own stands in for the driver. Run as a program, this file is that process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from gluepot.spark import fork_server, lazy_pandas

READY = b"ready\n"
LOADED = (
    fork_server.FORKED,
    "awsglue.context",
    "gluepot.connectors.kafka.reader",
    "gluepot.connectors.kinesis.planner",
    "gluepot.connectors.streams.datasource",
)
"""What the driver of a stream has loaded, as far as planners need it."""


@contextmanager
def python_with_forks(environ: dict[str, str]) -> Iterator[str]:
    """Yield the program that Spark is to take for Python; the planners that it starts are forks until the block ends.

    Args:
        environ: of the process that stands in for the driver.
    """
    with tempfile.TemporaryDirectory(prefix="gluepot-forks-") as made:
        folder = Path(made)
        program = fork_server.program(folder)
        command = [sys.executable, __file__, made]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == READY
            yield str(program)
            server.kill()


def _serve(folder: Path) -> None:
    lazy_pandas.for_pyarrow()
    lazy_pandas.for_pyspark()
    for name in LOADED:
        import_module(name)
    with fork_server.serving(folder):
        os.write(1, READY)
        sys.stdin.read()


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])
    _serve(Path(sys.argv[1]))
