"""`python -m benchmarks.kinesis`: our source against boto3's `get_records`, interleaved, on one emulator in one run.

Both read a stream from its oldest record to its end and decode the JSON of each record into Arrow columns. Theirs is
what a Python Data Source on boto3 does in its reader: a loop over `get_records`, the payloads decoded as ours are. Ours
is the whole way of a batch: read ahead into the spool, plan, verify, read the ranges, decode. Spark, which both share,
is left out; the emulator is a process of its own and is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import EndpointConnectionError

from gluepot.connectors.kinesis.planner import KinesisPlanner
from gluepot.connectors.kinesis.source import KinesisSource, kinesis_source
from gluepot.core.clock import SystemClock
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.produce.click_events import BROKEN_EVERY, events

STREAM = "bench"
clock = SystemClock()


def _emulator() -> tuple[subprocess.Popen[bytes], str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return process, f"http://127.0.0.1:{port}"


def _fill(client: Any, records: int, shards: int) -> None:
    while True:
        try:
            client.create_stream(StreamName=STREAM, ShardCount=shards)
            break
        except EndpointConnectionError:
            clock.sleep(0.5)
    pending = [{"Data": one.payload, "PartitionKey": str(one.number)} for one in events(records)]
    for at in range(0, records, 500):
        client.put_records(StreamName=STREAM, Records=pending[at : at + 500])


def _decoded(decoder: JsonDecoder, values: list[bytes], shard: str) -> int:
    chunk = decoder.decode(values, range(len(values)), STREAM, shard)
    return int(chunk.batch.num_rows) + len(chunk.errors)


def _theirs(client: Any) -> int:
    rows = 0
    for shard in client.list_shards(StreamName=STREAM)["Shards"]:
        decoder = JsonDecoder(None)
        at = client.get_shard_iterator(StreamName=STREAM, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")[
            "ShardIterator"
        ]
        while (answer := client.get_records(ShardIterator=at, Limit=10_000))["Records"]:
            rows += _decoded(decoder, [one["Data"] for one in answer["Records"]], shard["ShardId"])
            at = answer["NextShardIterator"]
    return rows


def _ours(source: KinesisSource, records: int) -> int:
    rows, last = 0, None
    with tempfile.TemporaryDirectory() as folder:
        source = source.in_folder(Path(folder))
        reader = source.reading().reader
        planner = KinesisPlanner(source.settings, Path(folder), None, clock)
        decoders: dict[str, JsonDecoder] = {}
        while rows < records:
            batch = planner.latest()
            if batch is last:
                clock.sleep(0.02)
                continue
            last = batch
            for wanted in source.split(batch):
                decoder = decoders.setdefault(wanted.shard, JsonDecoder(None))
                for raw in reader.read(wanted):
                    rows += _decoded(decoder, list(raw.values), raw.shard)
            planner.committed(batch)
        planner.close()
    return rows


def _cpu_secs(read: Callable[[], int], records: int) -> float:
    began = time.process_time()
    found = read()
    assert found == records, f"{found} of {records} records"
    return time.process_time() - began


def main() -> None:
    """Print CPU seconds per million records of both sides, each the median of the rounds, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        os.environ[name] = "bench"
    process, url = _emulator()
    try:
        client = boto3.client("kinesis", endpoint_url=url, region_name="us-east-1")
        _fill(client, given.records, given.shards)
        options = {"streamName": STREAM, "endpointUrl": url, "startingPosition": "TRIM_HORIZON"}
        source = kinesis_source(options, lambda *_: None)
        sides: dict[str, Callable[[], int]] = {
            "boto3": lambda: _theirs(client),
            "gluepot": lambda: _ours(source, given.records),
        }
        cpu: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(given.rounds):
            for name, read in sides.items():
                cpu[name].append(_cpu_secs(read, given.records))
    finally:
        process.terminate()
        process.wait()
    per_million = {name: statistics.median(secs) * 1e6 / given.records for name, secs in cpu.items()}
    about = {"records": given.records, "shards": given.shards, "rounds": given.rounds, "broken_every": BROKEN_EVERY}
    result = {f"{name}_cpu_secs_per_million": round(secs, 2) for name, secs in per_million.items()}
    print(json.dumps(about | result | {"ratio": round(per_million["gluepot"] / per_million["boto3"], 3)}))


if __name__ == "__main__":
    main()
