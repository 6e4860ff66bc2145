"""`gluepot produce`."""

from __future__ import annotations

import json
from contextlib import closing, nullcontext
from pathlib import Path
from random import Random
from time import process_time
from typing import Literal

from awsglue.options import kafka_read_settings
from gluepot.cli.cluster import cluster_options
from gluepot.cli.output import told_after
from gluepot.connectors.kafka.sender import KafkaSender
from gluepot.connectors.kinesis.client import KinesisClient
from gluepot.connectors.kinesis.settings import StreamAddress
from gluepot.core.clock import SystemClock
from gluepot.produce.journal import Journal
from gluepot.produce.loop import KINESIS_SLICE_SECS, SLICE_SECS, Produced, Target, produce
from gluepot.produce.rates import shape as shape_of
from gluepot.produce.records import demo_payloads, file_payloads, records
from gluepot.produce.records import keys as keys_of
from gluepot.produce.targets import KinesisTarget, kafka_target

# If the last records were late by less than this share of the whole time, the rate counts as reached.
LATE_SHARE = 0.02
BROKER_SECS, SILENT_SECS = 30.0, 3.0
"""How long a broker is waited for, and how long without a word."""


def produce_to(
    topic: str,
    *,
    bootstrap: str | None = None,
    connection: str | None = None,
    connections: Path | None = None,
    kinesis: bool = False,
    region: str = "",
    endpoint: str = "",
    file: Path | None = None,
    rate: float = 1000.0,
    shape: Literal["steady", "ramp", "sine", "burst"] = "steady",
    peak: float | None = None,
    period_secs: float = 60.0,
    burst_secs: float = 5.0,
    seconds: float | None = None,
    count: int | None = None,
    keys: int | None = None,
    skew: float = 0.0,
    seed: int = 1,
    number_field: str | None = None,
    journal: Path | None = None,
    output: Literal["text", "json"] = "text",
) -> None:
    """Send records and report the rate that was reached.

    Args:
        topic: an existing topic of Kafka, or with --kinesis an existing stream.
        bootstrap: a broker, host:port; by default the one that `gluepot up kafka` started.
        connection: a connection that names the brokers, instead of --bootstrap.
        connections: the connections file, if it is not in one of the usual places.
        kinesis: send to Kinesis.
        region: region of the stream, if not that of the environment.
        endpoint: URL of the service, if not the usual one.
        file: file of records, one a line, that are sent over and over; without it, made-up click events.
        rate: records a second; 0 with the steady shape sends as fast as the server accepts records.
        shape: steady keeps the rate; ramp, sine and burst go from the rate to the peak.
        peak: highest rate of ramp, sine and burst; four times the rate unless given.
        period_secs: period of sine and burst; for a ramp, the time in which it rises.
        burst_secs: length of a burst.
        seconds: end after this time.
        count: end after this number of records.
        keys: give each record one of this many keys; without it, records have no key.
        skew: how unevenly keys are drawn: exponent of Zipf's law; 0 for evenly.
        seed: seed of the random keys.
        number_field: put the number of each record, from 0, into this field of its JSON.
        journal: append a line for each acknowledged record: number, sha256, topic, partition, offset.
        output: text for people; json for one object.

    Raises:
        ConfigError: a value is wrong, or the topic or stream does not exist.
        EtlError: the server did not accept a record.
    """
    paced = shape_of(shape, rate, peak, period_secs, burst_secs)
    payloads = demo_payloads() if file is None else file_payloads(file)
    made = records(payloads, None if keys is None else keys_of(keys, skew, seed), number_field)
    clock = SystemClock()
    with nullcontext(None) if journal is None else closing(Journal(journal, topic)) as notes:
        target: Target
        if kinesis:
            client = KinesisClient(StreamAddress(topic, region=region, endpoint=endpoint))
            client.on_stream("DescribeStreamSummary")
            target = KinesisTarget(client, clock, Random(seed).random, notes)  # noqa: S311  jitter and keys
        else:
            settings = kafka_read_settings({**cluster_options(bootstrap, connection), "topicName": topic}, connections)
            waits = f"{settings.bootstrap} does not answer yet; it is waited for up to {BROKER_SECS:.0f} s."
            with told_after(SILENT_SECS, waits):
                KafkaSender(settings, BROKER_SECS).cluster_of(topic)
            target = kafka_target(settings, topic, notes)
        busy_before = process_time()
        slice_secs = KINESIS_SLICE_SECS if kinesis else SLICE_SECS
        outcome = produce(made, paced, target, clock, secs=seconds, most=count, slice_secs=slice_secs)
        cpu_secs = process_time() - busy_before
    print(json.dumps(_plain(outcome, cpu_secs)) if output == "json" else _sentence(outcome, cpu_secs, topic))


def _plain(produced: Produced, cpu_secs: float) -> dict[str, float]:
    return {
        "acknowledged": produced.acknowledged,
        "secs": round(produced.secs, 3),
        "rate": round(produced.rate, 1),
        "late_secs": round(produced.late_secs, 3),
        "cpu_secs": round(cpu_secs, 3),
    }


def _sentence(produced: Produced, cpu_secs: float, topic: str) -> str:
    text = (
        f"{produced.acknowledged:,} records are in {topic}, sent in {produced.secs:.1f} s:"
        f" {produced.rate:,.0f} a second, with {cpu_secs:.1f} s of CPU."
    )
    late = produced.late_secs > LATE_SHARE * produced.secs
    return f"{text} The rate was not reached: the last records were {produced.late_secs:.1f} s late." if late else text
