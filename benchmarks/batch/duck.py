"""DuckDB's side: `python -m benchmarks.batch.duck FOLDER CORES`, the jobs as one statement each."""

from __future__ import annotations

import sys
import time

import duckdb

from benchmarks.batch.statements import AGGREGATION, PARTITION_KEY, selected
from benchmarks.side import Drain, serve


def main(folder: str, cores: str) -> None:
    """Serve both kinds of job, named as `sql json`. JSON's schema is inferred, columns of CSV are texts."""

    def run(given: Drain) -> float:
        kind, form = given.way.split()
        began = time.perf_counter()
        with duckdb.connect(config={"threads": cores}) as db:
            more = ", header = true, all_varchar = true" if form == "csv" else ""
            db.execute(f"CREATE VIEW orders AS SELECT * FROM read_{form}('{folder}/{form}/*.{form}'{more})")
            written = f"SELECT {selected(form)} FROM orders" if kind == "mapping" else AGGREGATION
            keys = f", PARTITION_BY ({PARTITION_KEY})" if kind == "mapping" else ", PER_THREAD_OUTPUT"
            db.execute(f"COPY ({written}) TO '{given.table}' (FORMAT parquet, COMPRESSION snappy{keys})")
        return began

    serve(run)


if __name__ == "__main__":
    main(*sys.argv[1:])
