"""The journal of a Kinesis stream is right whatever becomes of a call: lost, refused, or taken in part."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from tests.crash import journal
from tests.crash.http_proxy import Answer, Fate, http_proxy
from tests.crash.kinesis_stream import KinesisSender, KinesisStream
from tests.crash.producer import Producer

THROTTLED = Answer(400, {}, json.dumps({"__type": "ProvisionedThroughputExceededException"}).encode())


@pytest.fixture
def through(kinesis: str) -> Iterator[Callable[[Fate], KinesisStream]]:
    """A stream behind a proxy that spoils the first PutRecords call."""
    pending: list[Fate] = []

    def decide(method: str, path: str, headers: Mapping[str, str]) -> Fate:
        puts = headers["X-Amz-Target"].endswith(".PutRecords")
        return pending.pop() if puts and pending else "pass"

    with http_proxy(kinesis, decide, hold_secs=0.1) as url:

        def new(fate: Fate) -> KinesisStream:
            made = KinesisStream.create(url, f"s-{uuid4().hex[:8]}", 2)
            pending.append(fate)
            return made

        yield new


@pytest.mark.parametrize(
    ("fate", "unanswered", "there"),
    [
        ("lost reply", 20, 30),
        ("reset", 20, 10),
        (Answer(500, {}, b'{"__type": "InternalFailure"}'), 20, 10),
        (THROTTLED, 0, 30),
    ],
)
def test_what_is_in_the_journal_is_what_the_stream_holds(through, tmp_path, fate, unanswered, there):
    stream = through(fate)
    with closing(journal.Journal(tmp_path / "journal")) as kept:
        producer = Producer(stream.sender(Random(1)), kept, Random(2), rate=1)
        producer.send(20)
        producer.send(10)
        assert producer.settle() == unanswered

    held = sorted((place.shard, place.position) for _, place in stream.records())
    assert sorted((one.shard, one.position) for one in journal.read(tmp_path / "journal")) == held
    assert len(held) == there


class TakesTheOddOnes:
    """A service that takes every other record of a call; what boto3's client would be."""

    def __init__(self) -> None:
        self.calls: list[list[bytes]] = []

    def put_records(self, StreamName: str, Records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        self.calls.append([one["Data"] for one in Records])
        return {
            "Records": [
                {"ShardId": "s", "SequenceNumber": one["Data"].decode()}
                if n % 2 == 0
                else {"ErrorCode": "ProvisionedThroughputExceededException", "ErrorMessage": "made up"}
                for n, one in enumerate(Records)
            ]
        }


def test_of_a_call_that_was_taken_in_part_only_the_failed_records_are_sent_again():
    service = TakesTheOddOnes()
    sender = KinesisSender(KinesisStream("", "stream", service), Random(1))

    places = sender.send([b"1", b"2", b"3", b"4"])

    assert service.calls == [[b"1", b"2", b"3", b"4"], [b"2", b"4"], [b"4"]]
    assert [place.position for place in places] == [f"{n}0000000" for n in (1, 2, 3, 4)]
