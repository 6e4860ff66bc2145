"""A Kinesis stream as the stream of a job, written, read back and resharded by boto3."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionError, HTTPClientError  # noqa: A004  botocore's own

from tests.crash.driver import wait_until
from tests.crash.lanes import CREDENTIALS
from tests.crash.streams import Place, Source

MOST_OPEN = 5
MOST_IN_CALL = 500
PAUSE_SECS = 0.1
ACTIVE_SECS = 60.0
AWAY_STATUS = 500
THROTTLED = "ProvisionedThroughputExceededException"
WHOLE_RECORD = "0000000"
"""A position is a sequence number and seven digits for the record in an aggregate; records here are none."""


def client_of(endpoint: str) -> Any:
    """A client that never sends anything again by itself."""
    return boto3.client(
        "kinesis",
        endpoint_url=endpoint,
        region_name=CREDENTIALS["AWS_REGION"],
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        config=Config(retries={"total_max_attempts": 1}),
    )


@dataclass(frozen=True, slots=True)
class KinesisStream:
    """A stream.

    Args:
        endpoint: URL of the server.
        name: of the stream.
        client: of the server.
        consumer: name of the consumer of enhanced fan-out; empty to read with GetRecords.
    """

    endpoint: str
    name: str
    client: Any
    consumer: str = ""

    source: ClassVar[Source] = "kinesis"
    env: ClassVar[Mapping[str, str]] = CREDENTIALS

    @classmethod
    def create(cls, endpoint: str, name: str, shards: int) -> KinesisStream:
        made = cls(endpoint, name, client_of(endpoint))
        made.client.create_stream(StreamName=name, ShardCount=shards)
        made.wait_until_active()
        return made

    def options(self, batch_records: int) -> dict[str, str]:
        of_shard = str(max(1, batch_records // 3))
        return {
            "streamName": self.name,
            "endpointUrl": self.endpoint,
            "startingPosition": "TRIM_HORIZON",
            "classification": "json",
            "inferSchema": "true",
            "maxFetchRecordsPerShard": of_shard,
            "maxRecordPerRead": of_shard,
        } | ({"fanoutConsumerName": self.consumer} if self.consumer else {})

    def sender(self, chance: Random) -> KinesisSender:
        return KinesisSender(self, chance)

    def shards(self) -> list[dict[str, Any]]:
        answer = self.client.list_shards(StreamName=self.name)
        found = answer["Shards"]
        while token := answer.get("NextToken"):
            answer = self.client.list_shards(NextToken=token)
            found += answer["Shards"]
        return found

    def parents(self) -> dict[str, Sequence[str]]:
        made_of = {
            one["ShardId"]: [one[name] for name in ("ParentShardId", "AdjacentParentShardId") if one.get(name)]
            for one in self.shards()
        }
        return {child: parents for child, parents in made_of.items() if parents}

    def reshard(self, chance: Random) -> None:
        """Split a shard or merge two neighbours, and wait until that is done."""
        living = [one for one in self.shards() if "EndingSequenceNumber" not in one["SequenceNumberRange"]]
        living.sort(key=lambda one: int(one["HashKeyRange"]["StartingHashKey"]))
        if len(living) > 1 and (len(living) >= MOST_OPEN or chance.random() < 0.5):
            at = chance.randrange(len(living) - 1)
            one, other = living[at], living[at + 1]
            self.client.merge_shards(
                StreamName=self.name, ShardToMerge=one["ShardId"], AdjacentShardToMerge=other["ShardId"]
            )
        else:
            one = chance.choice(living)
            low, high = (int(one["HashKeyRange"][f"{end}HashKey"]) for end in ("Starting", "Ending"))
            middle = str(chance.randint(low + 1, high))
            self.client.split_shard(StreamName=self.name, ShardToSplit=one["ShardId"], NewStartingHashKey=middle)
        self.wait_until_active()

    def wait_until_active(self) -> None:
        wait_until(lambda: self._status() == "ACTIVE", f"the new shards of {self.name}", ACTIVE_SECS)

    def records(self) -> Iterator[tuple[bytes, Place]]:
        """Everything in the stream, shard by shard."""
        for shard in self.shards():
            first = self.client.get_shard_iterator(
                StreamName=self.name, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
            )
            at = first["ShardIterator"]
            while at:
                answer = self.client.get_records(ShardIterator=at)
                for one in answer["Records"]:
                    yield one["Data"], self.place(shard["ShardId"], one["SequenceNumber"])
                if not answer["Records"] and not answer["MillisBehindLatest"]:
                    break
                at = answer.get("NextShardIterator")

    def place(self, shard: str, sequence: str) -> Place:
        return Place(self.name, shard, sequence + WHOLE_RECORD)

    def _status(self) -> str:
        return self.client.describe_stream_summary(StreamName=self.name)["StreamDescriptionSummary"]["StreamStatus"]


class KinesisSender:
    """PutRecords calls. A record that the answer names as failed is sent again, it alone; what has no answer is not.

    PutRecords is not idempotent: when the reply is lost the records may be there, and sent again they would be twice.
    """

    def __init__(self, stream: KinesisStream, chance: Random) -> None:
        self._stream = stream
        self._chance = chance

    def send(self, payloads: Sequence[bytes]) -> list[Place | None]:
        places: list[Place | None] = [None] * len(payloads)
        left = [(n, {"Data": data, "PartitionKey": str(self._chance.random())}) for n, data in enumerate(payloads)]
        while left:
            call, left = left[:MOST_IN_CALL], left[MOST_IN_CALL:]
            failed = []
            for (n, entry), result in zip(call, self._put([entry for _, entry in call]), strict=True):
                if result.get("ErrorCode"):
                    failed.append((n, entry))
                elif result:
                    places[n] = self._stream.place(result["ShardId"], result["SequenceNumber"])
            if failed:
                time.sleep(PAUSE_SECS)
            left = failed + left
        return places

    def found(self, payloads: Sequence[bytes]) -> list[tuple[bytes, Place]]:
        wanted = set(payloads)
        return [(data, place) for data, place in self._stream.records() if data in wanted] if wanted else []

    def close(self) -> None:
        self._stream.client.close()

    def _put(self, entries: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, str]]:
        """The result of each entry; an empty one where no answer came."""
        try:
            return self._stream.client.put_records(StreamName=self._stream.name, Records=entries)["Records"]
        except ClientError as refused:
            code, status = refused.response["Error"]["Code"], refused.response["ResponseMetadata"]["HTTPStatusCode"]
            if code == THROTTLED:
                return [{"ErrorCode": code}] * len(entries)
            if status < AWAY_STATUS:
                raise
        except (HTTPClientError, ConnectionError):
            pass
        return [{}] * len(entries)
