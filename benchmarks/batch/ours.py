"""Gluepot's side: `python -m benchmarks.batch.ours FOLDER CORES` runs the Glue scripts, each as often as it is told."""

from __future__ import annotations

import json
import os
import runpy
import sys
import time
from pathlib import Path

from pyspark.conf import SparkConf
from pyspark.context import SparkContext

import awsglue  # noqa: F401  sets the environment of Spark, as a script does that imports it first
from benchmarks.batch.statements import AGGREGATION, MAPPING
from benchmarks.side import Drain, serve

_SCRIPTS = Path(__file__).parent
_FORMAT_OPTIONS = {"json": {}, "csv": {"withHeader": True}}


def main(folder: str, cores: str) -> None:
    """Serve both kinds of job, named as `sql json`."""
    os.environ["GLUEPOT_STATE"] = f"{folder}/state"
    SparkContext(conf=SparkConf().setMaster(f"local[{cores}]").set("spark.sql.ansi.enabled", "false"))

    def run(given: Drain) -> float:
        kind, form = given.way.split()
        sys.argv = [
            *("job", "--JOB_NAME", f"batch-{kind}", "--rows", f"{folder}/{form}", "--format", form),
            *("--format_options", json.dumps(_FORMAT_OPTIONS[form]), "--table", given.table),
            *("--mapping", json.dumps(MAPPING[form]), "--sql", AGGREGATION),
        ]
        began = time.perf_counter()
        runpy.run_path(str(_SCRIPTS / f"{kind}_job.py"), run_name="__main__")
        return began

    serve(run)


if __name__ == "__main__":
    main(*sys.argv[1:])
