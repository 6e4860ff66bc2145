"""`gluepot topic` against a real broker that other clients wrote to."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from gluepot.cli.main import DONE, USAGE, app, outcome


@pytest.fixture
def gluepot(kafka, capsys):
    def call(*tokens: str, code: int = DONE) -> str:
        assert outcome(app, ["topic", *tokens, "--bootstrap", kafka]) == code
        said = capsys.readouterr()
        return said.out if code == DONE else said.err

    return call


def test_a_topic_is_created_once_with_its_properties(gluepot):
    name = f"own-{uuid4().hex[:8]}"
    assert gluepot("create", name, "--partitions", "3", "--config", "retention.ms=1000").startswith(
        f"Topic {name} has 3 partitions at "
    )
    assert f"has a topic {name} already, with 3 partitions; choose" in gluepot("create", name, code=USAGE)
    assert gluepot("create", name, "--if-missing").startswith(f"Topic {name} exists already, with 3 partitions")
    assert "Topic name is invalid" in gluepot("create", "a b", code=USAGE)
    assert "Unknown topic config name: foo" in gluepot("create", "other", "--config", "foo=1", code=USAGE)


def test_records_are_shown_with_everything_that_the_broker_keeps(gluepot, topic):
    topic.producer.send(topic.name, b'{"id": 1}', b"key", [("source", b"test")], partition=0, timestamp_ms=1_000)
    topic.producer.send(topic.name, b"\xff\n", partition=1, timestamp_ms=500)
    topic.producer.send(topic.name, None, b"gone", partition=0, timestamp_ms=2_000)
    topic.producer.flush()

    assert gluepot("consume", topic.name).splitlines() == ["\\xff\\n", '{"id": 1}', ""]
    assert gluepot("consume", topic.name, "--follow", "--count", "1").splitlines() == ["\\xff\\n"]
    binary, keyed = map(json.loads, gluepot("consume", topic.name, "--count", "2", "--output", "json").splitlines())
    assert (binary["partition"], binary["value_base64"], binary["key"]) == (1, "/wo=", None)
    assert keyed == {
        "partition": 0,
        "offset": 0,
        "timestamp": "1970-01-01T00:00:01.000+00:00",
        "key": "key",
        "value": '{"id": 1}',
        "headers": [{"name": "source", "value": "test"}],
    }
    assert gluepot("consume", topic.name, "--partition", "0", "--since", "1970-01-01T00:00:02Z").splitlines() == [""]

    listed = {one["topic"]: one for one in json.loads(gluepot("list", "--output", "json"))}
    assert listed[topic.name] == {"topic": topic.name, "partitions": 2, "records": 3}
    first, second = json.loads(gluepot("describe", topic.name, "--output", "json"))
    assert (first["records"], first["end_offset"], second["records"], first["in_sync"]) == (2, 2, 1, [first["leader"]])


def test_a_topic_that_is_not_there_is_named_beside_those_that_are(gluepot, topic):
    for command in ("consume", "describe"):
        said = gluepot(command, f"{topic.name}x", code=USAGE)
        assert f"has no topic {topic.name}x" in said
        assert topic.name in said
