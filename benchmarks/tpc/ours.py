"""Gluepot's side: `python -m benchmarks.tpc.ours FOLDER SUITE CORES` runs the Glue script for each query it is told."""

from __future__ import annotations

import os
import runpy
import sys
import time
from pathlib import Path

from pyspark.conf import SparkConf
from pyspark.context import SparkContext

import awsglue  # noqa: F401  sets the environment of Spark, as a script does that imports it first
from benchmarks.side import Drain, serve
from benchmarks.tpc.suite import DRIVER_MEMORY, queries_of, tables_in, tables_of

_SCRIPT = Path(__file__).with_name("query_job.py")


def main(folder: str, suite: str, cores: str) -> None:
    """Serve the queries by their names."""
    os.environ["GLUEPOT_STATE"] = f"{folder}/state"
    tables = tables_of(folder)
    queries = queries_of(suite, tables)
    SparkContext(conf=SparkConf().setMaster(f"local[{cores}]").set("spark.driver.memory", DRIVER_MEMORY))

    def run(given: Drain) -> float:
        query = queries[given.way]
        sys.argv = [
            *("job", "--JOB_NAME", f"{suite}-{given.way}", "--folder", folder, "--query", query),
            *("--tables", ",".join(tables_in(query, tables)), "--table", given.table),
        ]
        began = time.perf_counter()
        runpy.run_path(str(_SCRIPT), run_name="__main__")
        return began

    serve(run)


if __name__ == "__main__":
    main(*sys.argv[1:])
