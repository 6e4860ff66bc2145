"""A server that answers scrapes as the job's does, in a process of its own: the same storm, aimed beside the job.

`python -m benchmarks.storm.bystander QUERY PARTITIONS` prints its port and serves until standard input ends. The name
of the query is the job's: it is part of each series, so that a shorter one makes answers of fewer bytes.
"""

from __future__ import annotations

import json
import sys

from gluepot.core.glue_version import DEFAULT
from gluepot.core.job_parameters import JobParameters
from gluepot.ops.start import OpsSettings, start
from gluepot.streaming.progress import BatchStats
from gluepot.streaming.query.session import StreamSession


def main(query: str, partitions: int) -> None:
    """Serve the metrics of one made-up batch over so many partitions."""
    parameters = JobParameters.parse(["job.py", "--JOB_NAME", "storm"], DEFAULT)
    streams = StreamSession(job=parameters.job_name)
    opened = start(OpsSettings(by_partition=True), parameters, [], streams)
    assert streams.metrics is not None  # made by `start`
    shards = [f"storm-{n}" for n in range(partitions)]
    streams.metrics.observe(
        BatchStats(
            query,
            batch_id=1,
            window_secs=1.0,
            started_epoch=streams.clock.epoch(),
            duration_secs=0.5,
            lag_records=dict.fromkeys(shards, 0),
            lag_secs=dict.fromkeys(shards, 0.0),
            positions=dict.fromkeys(shards, 1_000),
        )
    )
    print(json.dumps({"port": opened.server.port}), flush=True)
    sys.stdin.read()
    opened.stop()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
