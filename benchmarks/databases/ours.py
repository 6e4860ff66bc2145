"""One version of this project: `python -m benchmarks.databases.ours FOLDER ROWS POSTGRESQL MARIADB`.

Each way is one write or one read, as a script makes it. A write appends to the table that the request names, which must
be empty, or upserts into one that has every second row.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping

from pyspark.conf import SparkConf
from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from benchmarks.jdbc_write.__main__ import COLUMNS
from benchmarks.side import Drain, serve
from gluepot.servers import jars


def main(folder: str, rows: str, postgresql: str, mariadb: str) -> None:
    """Serve all ways."""
    os.environ["GLUEPOT_STATE"] = f"{folder}/state"
    conf = SparkConf().setMaster("local[2]").set("spark.ui.enabled", "false").set("spark.sql.session.timeZone", "UTC")
    conf.set("spark.jars", ",".join(str(path) for path in jars.ensure("mysql-jdbc")))
    glue = GlueContext(SparkContext(conf=conf))
    frame = glue.spark_session.range(int(rows)).selectExpr(*COLUMNS).cache()
    frame.count()
    urls = {"postgresql": postgresql, "mysql": mariadb}

    def run(drain: Drain) -> float:
        kind, operation = drain.way.split()
        options: Mapping[str, str] = {"url": urls[kind], "dbtable": drain.table}
        began = time.perf_counter()
        if operation == "read":
            parts = {"hashfield": "customer", "hashpartitions": "4"}
            source = glue.create_dynamic_frame.from_options(kind, {**options, **parts})
            if source.count() != int(rows):
                raise SystemExit(f"{drain.way} did not read {rows} rows")
        else:
            keys = {"mode": "upsert", "upsertKeys": "id"} if operation == "upsert" else {}
            source = DynamicFrame.fromDF(frame, glue, "orders")
            glue.write_dynamic_frame.from_options(source, kind, {**options, **keys})
        return began

    serve(run)


if __name__ == "__main__":
    main(*sys.argv[1:])
