"""Our side: the calls of a Glue script."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from pyspark.conf import SparkConf
from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsgluedq.transforms import EvaluateDataQuality
from benchmarks.quality.rules import RULES
from benchmarks.side import Drain, serve


def main(cores: str) -> None:
    """Evaluate the rules and write down which hold."""
    glue_context = GlueContext(SparkContext(conf=SparkConf().setMaster(f"local[{cores}]")))

    def evaluate(given: Drain) -> float:
        began = time.perf_counter()
        frame = glue_context.create_dynamic_frame.from_options("s3", {"paths": [given.table]}, "parquet")
        outcomes = EvaluateDataQuality.apply(
            frame, f"Rules = [ {', '.join(RULES)} ]", {"enableDataQualityResultsPublishing": False}
        )
        found = [row.Outcome == "Passed" for row in outcomes.toDF().collect()]
        Path(given.checkpoint).write_text(json.dumps(found))
        return began

    serve(evaluate)


if __name__ == "__main__":
    main(*sys.argv[1:])
