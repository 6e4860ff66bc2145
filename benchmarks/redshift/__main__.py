"""python -m benchmarks.redshift [batches]: rows per second that a task stages for Redshift, and of a tight loop.

The loop writes the same rows as one file of Parquet by pyarrow and sends it by boto3: what a script does that loads
Redshift by itself, and looks at no value. The two take turns, and the fastest of five runs counts. The S3 server is an
emulator on this machine, so the figures say nothing about S3. COPY is not measured: the stand-in for Redshift has its
own speed.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from random import Random
from unittest.mock import patch

import boto3
import pyarrow as pa
from pyarrow import parquet

from gluepot.connectors.jdbc.redshift.staging import RedshiftSink
from gluepot.connectors.values import CommitKey
from gluepot.frames.chunk import Chunk
from tests.moto_server import moto_endpoint

RUNS = 5
ROWS = 32_768


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 32
    chance = Random(1)
    batches = [rows(chance) for _ in range(count)]
    keys = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1"}
    with moto_endpoint() as url, patch.dict(os.environ, {**keys, "AWS_ENDPOINT_URL": url}):
        client = boto3.client("s3", endpoint_url=url, region_name="us-east-1")
        client.create_bucket(Bucket="tmp")

        def loop() -> None:
            sink = pa.BufferOutputStream()
            parquet.write_table(
                pa.Table.from_batches(batches), sink, compression="snappy", use_deprecated_int96_timestamps=True
            )
            client.put_object(Bucket="tmp", Key="loop.parquet", Body=sink.getvalue().to_pybytes())

        def ours() -> None:
            sink = RedshiftSink("s3://tmp/ours", CommitKey("benchmark", 1, "sink"), "t")
            sink.write(iter([Chunk(batch) for batch in batches]), 0, "1/0")

        fastest = {"loop": [seconds(loop)], "ours": [seconds(ours)]}
        for _ in range(RUNS - 1):
            fastest["loop"].append(seconds(loop))
            fastest["ours"].append(seconds(ours))
    rates = {name: count * ROWS / min(secs) for name, secs in fastest.items()}
    print(
        f"tight loop {rates['loop']:,.0f} rows/s, ours {rates['ours']:,.0f}, ratio {rates['ours'] / rates['loop']:.2f}"
    )


def rows(chance: Random) -> pa.RecordBatch:
    """Return a batch of orders."""
    ids = [chance.randrange(1 << 40) for _ in range(ROWS)]
    return pa.record_batch(
        {
            "id": ids,
            "email": [f"{one % 100_003}@example.org" for one in ids],
            "amount": [one / 7 for one in ids],
            "created": pa.array([1_767_225_600_000_000 + one for one in ids], pa.timestamp("us")),
            "status": [("new", "paid", "sent", "back")[one % 4] for one in ids],
        }
    )


def seconds(act: Callable[[], None]) -> float:
    """Return how long something takes."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
