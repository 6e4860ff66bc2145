"""Stock PySpark's side as a careful user writes it: as `stock`, with the schema inferred inside the JVM."""

from __future__ import annotations

import sys

from benchmarks.drain.stock import drained
from benchmarks.stock import inferred_in_jvm

if __name__ == "__main__":
    drained(inferred_in_jvm, *sys.argv[1:5])
