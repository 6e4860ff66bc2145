"""The job that is looked at: `python -m benchmarks.storm.job BOOTSTRAP TOPIC FOLDER WINDOW_SECS CORES`.

A stream to files with metrics by partition. Prints its port, then the time of each batch, one JSON object a line; ends
with standard input.
"""

from __future__ import annotations

import json
import sys
import threading

from pyspark.conf import SparkConf
from pyspark.context import SparkContext
from pyspark.sql import DataFrame

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from benchmarks.ours import json_stream
from gluepot.core.glue_version import DEFAULT
from gluepot.core.job_parameters import JobParameters
from gluepot.ops.start import OpsSettings, start
from gluepot.streaming.query import session
from gluepot.streaming.query.session import StreamSession


def main(bootstrap: str, topic: str, folder: str, window_secs: str, cores: str) -> None:
    """Run until standard input ends."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # what libraries print must not get between the answers
    glue_context = GlueContext(SparkContext(conf=SparkConf().setMaster(f"local[{cores}]")))
    parameters = JobParameters.parse(["job.py", "--JOB_NAME", "storm"], DEFAULT)
    streams = StreamSession(job=parameters.job_name)
    opened = start(OpsSettings(by_partition=True), parameters, [], streams)
    streams.watchers.append(lambda stats: print(json.dumps({"secs": stats.duration_secs}), file=answers, flush=True))
    session.install(streams)
    print(json.dumps({"port": opened.server.port}), file=answers, flush=True)

    def end_with_input() -> None:
        sys.stdin.read()
        streams.stop.set()

    threading.Thread(target=end_with_input, daemon=True).start()
    frame = json_stream(glue_context, bootstrap, topic)

    def process(data_frame: DataFrame, batch_id: int) -> None:  # noqa: ARG001
        glue_context.write_dynamic_frame.from_options(
            frame=DynamicFrame.fromDF(data_frame, glue_context, "events"),
            connection_type="s3",
            connection_options={"path": f"{folder}/table"},
            format="glueparquet",
        )

    glue_context.forEachBatch(
        frame=frame,
        batch_function=process,
        options={"windowSize": f"{window_secs} seconds", "checkpointLocation": f"{folder}/checkpoint"},
    )
    opened.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
