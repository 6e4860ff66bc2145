"""The process from which Spark forks its Python workers: pyspark's own daemon, prepared for short tasks.

`spark.python.daemon.module` in our Spark defaults selects it, and Spark starts it as `python -m
gluepot.engine.worker_daemon pyspark.worker`. It does seven things before any fork:

- It takes pyspark's archives off the path if pyspark is installed as well. Spark puts them there for clusters without
  pyspark, and up to Python 3.12 a worker reads the table of contents of each archive again at the start of every task
  (`importlib.invalidate_caches`): 0.15 s of processor time. Nothing but the modules that this file imports at its top
  may be loaded before: `pickle` imports a package `org`, which is in Spark's archive and would keep it open.
- It loads the modules of a task. A worker that loads them itself takes a second and holds its own copy in memory.
- It makes the process keep freed memory, because the next task needs as much for its records and columns. By default
  Arrow's allocator and the C library's return it to the system after each buffer, and the system then clears every
  page again: 78,000 pages for a million records of 200 bytes (decision 0029).
- It makes Python look for reference cycles less often, and never among the objects that are loaded by then. A client
  returns tens of thousands of records as Python objects, none of them in a cycle, and searching them again and again
  took 15 % of a worker's processor time. Cycles that a script's functions leave therefore stay longer, at most until
  the end of the task, when pyspark collects.
- It lets functions import the modules that lie beside the script, as the driver does. `gluepot run` names the folder.
  On another machine that folder does not exist, and modules come with --extra-py-files.
- It adds the modules of --additional-python-modules to the path, after those that it has loaded itself.
- It lets itself and its workers ignore SIGTERM. Whoever signals all processes of a job, as systemd does, means the
  driver, which finishes its batch with these workers. They end when the JVM closes their connection, or by SIGKILL.
"""

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path

from gluepot.core.memory import memory_bytes

MODULES = ("gluepot.engine.task", "gluepot.connectors.files.formats.parquet.sink", "gluepot.connectors.kafka.source")
SCRIPT_FOLDER = "GLUEPOT_SCRIPT_FOLDER"
# Python looks for cycles when there are this many new objects. It is more than the records of several reads, which
# have at most 4,096 each. Python's default is 700.
OBJECTS_BETWEEN_COLLECTIONS = 50_000
# Options of `mallopt`: how many bytes are free at the end of a heap before it shrinks, and how large a block must be to
# be requested from the system directly, which is at its largest possible value.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LARGEST_BLOCK_BYTES = 32 << 20
# A worker keeps free what the columns of a task with long texts take, or less where memory is scarce.
LEAST_KEPT_BYTES, MOST_KEPT_BYTES = 64 << 20, 256 << 20
KEPT_SHARE = 64


def without_archives(path: Sequence[str]) -> list[str]:
    """Return Python's search path without the archives that lie inside the installed pyspark package."""
    installed = PathFinder.find_spec("pyspark", [entry for entry in path if Path(entry).is_dir()])
    if installed is None or installed.origin is None:
        return list(path)
    package = Path(installed.origin).parent
    return [entry for entry in path if Path(entry).is_dir() or package not in Path(entry).parents]


def kept_bytes(available_bytes: int) -> int:
    """Return how much freed memory a worker keeps, of so much that the machine or its container has."""
    return min(max(available_bytes // KEPT_SHARE, LEAST_KEPT_BYTES), MOST_KEPT_BYTES)


def keep_memory() -> None:
    """Make this process and its children reuse freed memory. Call it before pyarrow is loaded."""
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    with suppress(AttributeError):  # not every C library has mallopt
        set_option = ctypes.CDLL(None).mallopt
        set_option(M_TRIM_THRESHOLD, kept_bytes(memory_bytes()))
        set_option(M_MMAP_THRESHOLD, LARGEST_BLOCK_BYTES)


if __name__ == "__main__":
    keep_memory()
    sys.path[:] = without_archives(sys.path)
    sys.path_importer_cache.clear()
    for name in MODULES:
        import_module(name)
    from gluepot.core.python_modules.site_path import for_workers
    from gluepot.spark import lazy_pandas

    lazy_pandas.for_pyarrow()
    from pyspark import daemon

    from gluepot.core.signals import without

    daemon.signal = without(signal.SIGTERM)  # type: ignore[attr-defined]
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    gc.collect()
    gc.freeze()
    for_workers()
    if folder := os.environ.get(SCRIPT_FOLDER):
        sys.path.insert(0, folder)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    daemon.manager()  # type: ignore[no-untyped-call]
