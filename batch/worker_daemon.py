"""What Spark forks its Python workers from: pyspark's own daemon, with the modules of a task loaded before the fork.

A worker that loads them itself takes a second for it and keeps a copy of its own; forked ones share both. Chosen by
`spark.python.daemon.module` in our Spark defaults. Spark starts it as `python -m batch.worker_daemon pyspark.worker`.
"""

from importlib import import_module

import pyarrow as pa
from pyspark.daemon import manager

MODULES = ("batch.task", "connectors.glueparquet", "connectors.kafka.source")

if __name__ == "__main__":
    for name in MODULES:
        import_module(name)
    pa.scalar(0)  # with its first value pyarrow looks for pandas
    manager()  # type: ignore[no-untyped-call]
