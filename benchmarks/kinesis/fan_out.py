"""`python -m benchmarks.kinesis.fan_out`: enhanced fan-out beside polling, interleaved, on one emulator in one run.

A process sends records at a steady rate. A side reads them as a query does: read ahead into the spool, plan, read the
ranges. Measured are the time from a record's arrival in the stream, as the stream says it, to having its value, the
calls to the API, and the reader's processor time. The emulator is kinesis-mock behind `tests.kinesis_fan_out`, which
pushes records when they are sent, and answers five reads a second for a shard, as AWS does. AWS's own delay, which its
guide gives as 70 ms for a push and 200 ms for a read, is not part of what is measured. With `--others`, other readers
poll the stream at the same time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import boto3
import urllib3

from gluepot.connectors.kinesis.client import KinesisClient
from gluepot.connectors.kinesis.planner import KinesisPlanner
from gluepot.connectors.kinesis.source import KinesisSource, kinesis_source
from gluepot.connectors.values import RawBatch
from gluepot.core.clock import SystemClock
from gluepot.frames.magic import RECORD_TIMESTAMP
from gluepot.servers.kinesis import KinesisServer

CLOCK = SystemClock()
SIDES = {"polling": {}, "fan-out": {"fanoutConsumerName": "bench"}}
SETTLE_SECS = 4.0
SEND_SECS = 0.2
READS_PER_SEC = 5
COUNTED = ("GetRecords", "GetRecords, refused", "GetShardIterator", "SubscribeToShard", "ListShards")


def main() -> None:
    """Print, for each side, the quantiles of all rounds and the calls of a minute."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=200, help="records a second")
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--secs", type=float, default=20.0, help="of each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--others", type=int, default=0, help="other readers that poll the stream at the same time")
    parser.add_argument("--send", nargs=2, metavar=("URL", "STREAM"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        os.environ[name] = "bench"
    if asked.send:
        _send(*asked.send, asked.rate, asked.secs)
        return
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in SIDES}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(_front(stack.enter_context(KinesisServer(folder / "kinesis")).url))
        for number in range(asked.rounds):
            for side, options in SIDES.items():
                found[side].append(_round(asked, url, f"{side}-{number}", options, folder))
    about = {name: getattr(asked, name) for name in ("rate", "shards", "secs", "rounds", "others")}
    print(json.dumps(about | {side: _summary(rounds) for side, rounds in found.items()}, indent=2))


def _summary(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}


@contextmanager
def _front(url: str) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.kinesis_fan_out", url, "--reads-per-sec", str(READS_PER_SEC)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def _round(asked: argparse.Namespace, url: str, stream: str, options: dict[str, str], folder: Path) -> dict[str, float]:
    client = boto3.client("kinesis", endpoint_url=url, region_name="us-east-1")
    client.create_stream(StreamName=stream, ShardCount=asked.shards)
    client.get_waiter("stream_exists").wait(StreamName=stream, WaiterConfig={"Delay": 1})
    read = {"streamName": stream, "endpointUrl": url, "startingPosition": "TRIM_HORIZON", "addRecordTimestamp": "true"}
    with ExitStack() as stack:
        for number in range(asked.others):
            other = _planner(kinesis_source(read, lambda *_: None), folder / f"{stream}-other-{number}")
            stack.callback(other.close)
            other.latest()
        source = kinesis_source(read | options, lambda *_: None)
        planner = _planner(source, folder / stream)
        stack.callback(planner.close)
        planner.latest()
        command = [sys.executable, "-m", "benchmarks.kinesis.fan_out", "--send", url, stream]
        sender = subprocess.Popen([*command, "--rate", str(asked.rate), "--secs", str(asked.secs)])
        before: Counter[str] = Counter()
        began = spent = 0.0
        delays: list[float] = []
        reader = source.in_folder(folder / stream).reading().reader
        last = None
        ends = CLOCK.monotonic() + asked.secs
        while CLOCK.monotonic() < ends:
            if not began and CLOCK.monotonic() > ends - asked.secs + SETTLE_SECS:
                before, began, spent = _calls(url), CLOCK.monotonic(), time.process_time()
            batch = planner.latest()
            if batch is last or not batch.width():
                CLOCK.sleep(0.01)
                continue
            last = batch
            raws = [raw for one in source.split(batch) for raw in reader.read(one)]
            now_ms = CLOCK.epoch() * 1000
            if began:
                delays += [now_ms - ms for raw in raws for ms in _arrived_ms(raw)]
            planner.committed(batch)
        minutes = (CLOCK.monotonic() - began) / 60
        cpu_secs = time.process_time() - spent
        after = _calls(url)
        sender.wait()
    delays.sort()
    calls = {f"{name} a minute": round((after[name] - before[name]) / minutes, 1) for name in COUNTED}
    quantiles = {f"p{share * 100:g}_ms": round(delays[math.floor(share * len(delays))], 1) for share in (0.5, 0.99)}
    return quantiles | calls | {"records": len(delays), "cpu_secs a minute": round(cpu_secs / minutes, 2)}


def _planner(source: KinesisSource, folder: Path) -> KinesisPlanner:
    folder.mkdir()
    return KinesisPlanner(source.settings, folder, None, CLOCK)


def _arrived_ms(raw: RawBatch) -> list[float]:
    return [float(micros) / 1000 for micros in raw.columns[RECORD_TIMESTAMP].cast("int64").to_pylist()]


def _calls(url: str) -> Counter[str]:
    return Counter(json.loads(urllib3.request("GET", url).data))


def _send(url: str, stream: str, rate: int, secs: float) -> None:
    client = KinesisClient(kinesis_source({"streamName": stream, "endpointUrl": url}, lambda *_: None).settings.address)
    chance = Random(1)
    began = CLOCK.monotonic()
    sent = 0
    while (passed := CLOCK.monotonic() - began) < secs:
        records = []
        for _ in range(int(passed * rate) - sent):
            data = json.dumps({"number": sent + len(records), "text": "x" * 200}).encode()
            records.append({"Data": b64encode(data).decode(), "PartitionKey": str(chance.random())})
        if records:
            client.on_stream("PutRecords", Records=records)
        sent += len(records)
        CLOCK.sleep(SEND_SECS)


if __name__ == "__main__":
    main()
