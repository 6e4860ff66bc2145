"""Stock PySpark's side, with the schema inferred inside the JVM: `python -m benchmarks.merge.stock_jvm ...`."""

from __future__ import annotations

import sys

from benchmarks.merge.stock import main
from benchmarks.stock import inferred_in_jvm

if __name__ == "__main__":
    main("orders_stock_jvm", inferred_in_jvm, *sys.argv[1:])
