"""DuckDB's side: `python -m benchmarks.tpc.duck FOLDER SUITE CORES`, each query as one statement."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import duckdb

from benchmarks.side import Drain, serve
from benchmarks.tpc.suite import queries_of, tables_in, tables_of


def main(folder: str, suite: str, cores: str) -> None:
    """Serve the queries by their names."""
    tables = tables_of(folder)
    queries = queries_of(suite, tables)

    def run(given: Drain) -> float:
        query = queries[given.way]
        began = time.perf_counter()
        with duckdb.connect(config={"threads": cores}) as db:
            for name in tables_in(query, tables):
                db.execute(f"CREATE VIEW {name} AS SELECT * FROM '{folder}/{name}.parquet'")
            width = len(db.execute(f"DESCRIBE {query}").fetchall())
            names = ", ".join(f"c{number}" for number in range(width))
            Path(given.table).mkdir()
            db.execute(f"COPY (SELECT * FROM ({query}) AS result({names})) TO '{given.table}/result.parquet'")
        return began

    serve(run)


if __name__ == "__main__":
    main(*sys.argv[1:])
