"""`gluepot jars`: fetches the Java archives of table formats and of Spark's Kafka connector before a job needs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from cyclopts import App

from gluepot.cli.output import Output, Row
from gluepot.datalake.formats import BUNDLED
from gluepot.job.spark_kafka import ARCHIVES as SPARK_KAFKA
from gluepot.servers.jars import ensure
from gluepot.servers.jars.fetch import copy_to

app = App(name="jars", help="Java archives of the table formats and of Spark's Kafka connector.")


@app.command
def fetch(
    *sets: Literal["delta", "iceberg", "spark-kafka"], jars_dir: Path | None = None, output: Output = "text"
) -> None:
    """Fetch the archives that jobs need and check each against the lock. Then jobs need no network.

    Args:
        sets: delta and iceberg, which `--datalake-formats` names, and spark-kafka, for scripts that name Spark's format
            kafka; all of them unless given.
        jars_dir: also copy the archives into this folder. Take it to a machine without a network and give it there to
            `gluepot run --jars-dir`.
        output: text for people; json for a list of objects with format and archives.
    """
    done: list[Row] = []
    for name in sets or (*BUNDLED, SPARK_KAFKA):
        archives = ensure(name)
        if jars_dir is not None:
            copy_to(jars_dir, archives)
        done.append({"format": name, "archives": [str(one) for one in archives]})
        if output == "text":
            print(f"{name}: {len(archives)} archives are in {jars_dir or 'the cache'}.")
    if output == "json":
        print(json.dumps(done))
