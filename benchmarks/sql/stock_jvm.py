"""Stock PySpark's side, with the schema inferred inside the JVM: `python -m benchmarks.sql.stock_jvm ...`."""

from __future__ import annotations

import sys

from benchmarks.sql.stock import used
from benchmarks.stock import inferred_in_jvm

if __name__ == "__main__":
    used(inferred_in_jvm, *sys.argv[1:])
