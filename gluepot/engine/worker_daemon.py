"""What Spark forks its Python workers from: pyspark's own daemon, made ready for short tasks before the fork.

Chosen by `spark.python.daemon.module` in our Spark defaults; Spark starts it as `python -m gluepot.engine.worker_daemon
pyspark.worker`. It does five things first:

- It takes pyspark's archives off the path where pyspark is installed as well. Spark puts them there for clusters
  without it, and up to Python 3.12 a worker reads the table of contents of each again at the start of every task
  (`importlib.invalidate_caches`): 0.15 s of processor time.
- It loads the modules of a task. A worker that does so itself takes a second for it and keeps a copy of its own.
- It has memory kept that was given back: what a task takes for records and columns, the next one takes again. Arrow's
  own allocator and the C library's hand it to the system after each buffer, which then clears every page anew: 78,000
  pages for a million records of 200 bytes (decision 0029).
- It has Python look for reference cycles less often, and never among what is loaded by then. Records that come out of
  a client are objects of Python by the ten thousand, none of them in a cycle, and looking through them again and again
  took 15 % of a worker's processor time. What a script's functions leave in cycles stays longer for it, at most until
  the end of the task, when pyspark collects.
- It lets functions import the modules that lie beside the script, as the driver does. `gluepot run` names the folder;
  on another machine there is none of that name, and modules come with --extra-py-files.
"""

import ctypes
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path

MODULES = ("gluepot.engine.task", "gluepot.connectors.glueparquet", "gluepot.connectors.kafka.source")
SCRIPT_FOLDER = "GLUEPOT_SCRIPT_FOLDER"
OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""New and still there: more than the records of several reads, 4,096 each at most. Python's own figure is 700."""
MALLOC_SETTINGS = {-1: 64 << 20, -3: 32 << 20}
"""Of `mallopt`: bytes free at the end of a heap before it shrinks (M_TRIM_THRESHOLD), and of a block before the system
is asked for it (M_MMAP_THRESHOLD; no larger value is taken)."""


def without_archives(path: Sequence[str]) -> list[str]:
    """Return Python's search path without the files that belong to an installed pyspark."""
    installed = PathFinder.find_spec("pyspark", [entry for entry in path if Path(entry).is_dir()])
    if installed is None or installed.origin is None:
        return list(path)
    package = Path(installed.origin).parent
    return [entry for entry in path if Path(entry).is_dir() or package not in Path(entry).parents]


def keep_memory() -> None:
    """Have this process and its children use memory again; to be called before pyarrow is loaded."""
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    with suppress(AttributeError):  # not every C library can be told
        set_option = ctypes.CDLL(None).mallopt
        for name, value in MALLOC_SETTINGS.items():
            set_option(name, value)


if __name__ == "__main__":
    keep_memory()
    sys.path[:] = without_archives(sys.path)
    sys.path_importer_cache.clear()
    for name in MODULES:
        import_module(name)
    import pyarrow as pa
    from pyspark.daemon import manager

    pa.scalar(0)  # with its first value pyarrow looks for pandas
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    gc.collect()
    gc.freeze()
    if folder := os.environ.get(SCRIPT_FOLDER):
        sys.path.insert(0, folder)
    manager()  # type: ignore[no-untyped-call]
