"""Runs other scripts one after the other, in one driver, and writes down how each has ended."""

import json
import runpy
import sys
from pathlib import Path

from pyspark import SparkContext

from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["scripts", "rows", "outcomes"])
context = SparkContext.getOrCreate()
outcomes = {}
for script in sorted(Path(args["scripts"]).glob("*.py")):
    out = Path(args["outcomes"]).parent / "out" / script.stem
    sys.argv = [str(script), "--JOB_NAME", script.stem, "--rows", args["rows"], "--out", str(out)]
    try:
        runpy.run_path(str(script), run_name="__main__")
        outcomes[script.stem] = ""
    except Exception as error:  # noqa: BLE001  whatever a script raises
        outcomes[script.stem] = f"{type(error).__name__}: {error}"
Path(args["outcomes"]).write_text(json.dumps(outcomes))
