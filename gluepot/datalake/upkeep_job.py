"""The job that `gluepot table optimize` runs: one table of a lake, kept up; a line of JSON for each step."""

from __future__ import annotations

import json
import os
import sys

from pyspark import SparkContext

from awsglue.context import GlueContext
from awsglue.lake_tables import of_options
from awsglue.utils import getResolvedOptions
from gluepot.connectors.lake.upkeep import Upkeep, keep_up
from gluepot.core.clock import SystemClock
from gluepot.core.option_values import is_true

NAMES = ("kind", "table", "keep_days", "orphan_days", "dry_run")
_DAY_SECS = 86_400


def main() -> None:
    """Do what the job's arguments say."""
    given = getResolvedOptions(sys.argv, list(NAMES))
    asked = Upkeep(
        keep_secs=float(given["keep_days"]) * _DAY_SECS,
        orphan_secs=float(given["orphan_days"]) * _DAY_SECS,
        now_epoch=SystemClock().epoch(),
        dry_run=is_true(given["dry_run"]),
    )
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as out:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # for the JVM, in which Delta's VACUUM prints a line
        spark = GlueContext(SparkContext.getOrCreate()).spark_session
        for step in keep_up(spark, of_options(given["kind"], {"path": given["table"]}).writable, asked):
            print(json.dumps({"step": step.name, "dry_run": asked.dry_run, **step.figures}), file=out, flush=True)


if __name__ == "__main__":
    main()
