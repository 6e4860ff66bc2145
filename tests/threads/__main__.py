"""Tries of scripts whose threads open streams, make views and write at the same time, in one process.

    python -m tests.threads --tries 200 --seed 1

Each try has two to five threads over topics of a real broker, in a session and a state folder of its own. DuckDB reads
what they wrote: each record is there once, or the job has failed. Some threads fail on purpose; then the job has to
fail. The exit code is 1 if a try is not as it should be; `--tries 1 --seed N` repeats it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from gluepot.core import logging
from tests.planner_forks import python_with_forks
from tests.servers import kafka_endpoint
from tests.threads.plan import new_try
from tests.threads.run import judged, new_world, run

# The optimising compiler does not pay in so short a run; see tests/conftest.py.
for _variable in ("SPARK_SUBMIT_OPTS", "KAFKA_JVM_PERFORMANCE_OPTS"):
    os.environ.setdefault(_variable, "-XX:+TieredCompilation -XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def main() -> int:
    """Run the tries and print a summary."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tries", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    logging.configure(level="ERROR")
    folder = Path(tempfile.mkdtemp(prefix="gluepot-threads-"))
    wrong: list[str] = []
    counts: Counter[str] = Counter()
    began = time.monotonic()
    try:
        with kafka_endpoint(folder / "kafka") as bootstrap, python_with_forks(dict(os.environ)) as python:
            os.environ["PYSPARK_PYTHON"] = python
            from pyspark.sql import SparkSession

            from awsglue.context import GlueContext

            builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
            context = GlueContext(builder.config("spark.sql.shuffle.partitions", "2").getOrCreate())
            world = new_world(context, bootstrap, folder, f"threads-{os.getpid()}")
            for seed in range(given.seed, given.seed + given.tries):
                planned, of_try = new_try(seed), folder / str(seed)
                os.environ["GLUEPOT_STATE"] = str(of_try / "state")
                outcome = run(world, planned, of_try)
                counts.update(tries=1, streams=len(planned.readers), failed_on_purpose=planned.must_fail)
                if fault := judged(planned, outcome):
                    wrong.append(fault)
                    print(fault, flush=True)
                shutil.rmtree(of_try, ignore_errors=True)
                if counts["tries"] % 20 == 0:
                    print(f"{dict(counts)} wrong={len(wrong)} {time.monotonic() - began:.0f} s", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    secs, cpu = time.monotonic() - began, sum(os.times()[:4])
    print(f"{dict(counts)} wrong={len(wrong)} in {secs:.0f} s, {cpu:.0f} s of processor time")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
