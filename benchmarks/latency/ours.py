"""Gluepot's side: `python -m benchmarks.latency.ours BOOTSTRAP TOPIC SECS CORES SHAPE [WINDOW_SECS]`."""

from __future__ import annotations

import sys
import threading

from pyspark.conf import SparkConf
from pyspark.context import SparkContext

from awsglue.context import GlueContext
from benchmarks.ours import by_country, for_each_batch, json_stream
from benchmarks.side import Drain, serve
from gluepot.streaming.query import session
from gluepot.streaming.query.session import StreamSession


def main(bootstrap: str, topic: str, secs: str, cores: str, _shape: str, window_secs: str = "0") -> None:
    """Write with `forEachBatch`, exactly-once, schema unknown, a batch each window or without pause."""
    glue_context = GlueContext(SparkContext(conf=SparkConf().setMaster(f"local[{cores}]")))

    def run(given: Drain) -> float:
        services = StreamSession()
        threading.Timer(float(secs), services.stop.set).start()
        session.install(services)
        frame = json_stream(glue_context, bootstrap, topic)
        write = by_country(glue_context, given.table)
        return for_each_batch(glue_context, frame, given.checkpoint, write, window_size=f"{window_secs} seconds")

    serve(run)


if __name__ == "__main__":
    main(*sys.argv[1:])
