"""`gluepot produce` against a real broker and a Kinesis emulator, read back by clients that are not the product's."""

from __future__ import annotations

import json
from hashlib import sha256
from uuid import uuid4

import boto3
import pytest
from kafka import KafkaConsumer

from gluepot.cli.main import USAGE, outcome
from gluepot.cli.main import app as gluepot
from gluepot.servers.topics import create_topic

COUNT = 2000


@pytest.fixture
def topic(kafka):
    name = f"load-{uuid4().hex[:8]}"
    create_topic(kafka, name, 2)
    return name


def read_back(bootstrap, topic):
    consumer = KafkaConsumer(topic, bootstrap_servers=bootstrap, auto_offset_reset="earliest", consumer_timeout_ms=2000)
    found = list(consumer)
    consumer.close()
    return found


def test_every_record_is_there_once_with_its_number_and_the_journal_says_where(kafka, topic, tmp_path, capsys):
    load = ("--bootstrap", kafka, "--rate", "0", "--count", str(COUNT), "--keys", "50", "--skew", "1")
    notes = ("--number-field", "seq", "--journal", str(tmp_path / "journal"), "--output", "json")
    assert outcome(gluepot, ["produce", topic, *load, *notes]) == 0
    assert json.loads(capsys.readouterr().out)["acknowledged"] == COUNT
    there = {(one.partition, one.offset): one for one in read_back(kafka, topic)}
    assert sorted(json.loads(one.value)["seq"] for one in there.values()) == list(range(COUNT))
    assert all(one.key.startswith(b"key-") for one in there.values())
    lines = [json.loads(line) for line in (tmp_path / "journal").read_text().splitlines()]
    assert {line["number"] for line in lines} == set(range(COUNT))
    for line in lines:
        value = there[line["partition"], line["offset"]].value
        assert (json.loads(value)["seq"], sha256(value).hexdigest()) == (line["number"], line["sha256"])


def test_a_topic_that_is_not_there_is_told_before_anything_is_sent(kafka, capsys):
    assert outcome(gluepot, ["produce", "nowhere", "--bootstrap", kafka]) == USAGE
    assert "has no topic nowhere" in capsys.readouterr().err


def test_kinesis_gets_every_record(kinesis, tmp_path, capsys):
    client = boto3.client("kinesis", endpoint_url=kinesis, region_name="us-east-1")
    client.create_stream(StreamName="load", ShardCount=1)
    where = ("--kinesis", "--endpoint", kinesis, "--region", "us-east-1")
    load = ("--rate", "0", "--count", "700", "--number-field", "seq", "--journal", str(tmp_path / "journal"))
    assert outcome(gluepot, ["produce", "load", *where, *load]) == 0
    (shard,) = client.list_shards(StreamName="load")["Shards"]
    start = client.get_shard_iterator(StreamName="load", ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")[
        "ShardIterator"
    ]
    found = client.get_records(ShardIterator=start, Limit=1000)["Records"]
    assert sorted(json.loads(one["Data"])["seq"] for one in found) == list(range(700))
    assert len((tmp_path / "journal").read_text().splitlines()) == 700
    assert capsys.readouterr().out.startswith("700 records are in load")
