"""A Kinesis of one stream in memory, by the rules of the service: shards, iterators that expire, throttling."""

from base64 import b64encode
from collections import deque
from dataclasses import dataclass, field
from itertools import count

from gluepot.connectors.kinesis.errors import from_service
from gluepot.connectors.kinesis.settings import KinesisReadSettings

STREAM = "clicks"


def settings(**options):
    return KinesisReadSettings.from_options(
        {"streamName": STREAM, "endpointUrl": "http://127.0.0.1:9", "startingPosition": "TRIM_HORIZON", **options}
    )


@dataclass
class HeldShard:
    name: str
    parents: tuple = ()
    records: list = field(default_factory=list)
    closed: bool = False


class Shelf:
    """Answers as `KinesisClient` does; `script` holds errors (status, code) to answer the next calls with."""

    where = "Kinesis stream clicks at memory"

    def __init__(self, shards=1):
        self.shards = {}
        self.script = deque()
        self.calls = []
        self.created = 1000.0
        self._sequence = count(10**55, 1 << 66)
        self._names = count()
        for _ in range(shards):
            self.open()

    def open(self, *parents):
        name = f"shardId-{next(self._names):012d}"
        self.shards[name] = HeldShard(name, parents)
        for parent in parents:
            self.shards[parent].closed = True
        return name

    def put(self, shard, *values, epoch=1700.0):
        for value in values:
            self.shards[shard].records.append((next(self._sequence), value, epoch))

    def on_stream(self, operation, **parameters):
        return self.call(operation, parameters)

    def call(self, operation, parameters):
        self.calls.append(operation)
        if self.script and (answer := self.script.popleft()):
            raise from_service(operation, self.where, *answer, "as scripted")
        return getattr(self, f"do_{operation}")(**parameters)

    def close(self):
        pass

    def do_DescribeStreamSummary(self):  # noqa: N802
        return {"StreamDescriptionSummary": {"StreamCreationTimestamp": self.created}}

    def do_ListShards(self):  # noqa: N802
        return {"Shards": [self.plain(shard) for shard in self.shards.values()]}

    def plain(self, shard):
        plain = {"ShardId": shard.name, "SequenceNumberRange": {"StartingSequenceNumber": "0"}}
        if shard.closed:
            plain["SequenceNumberRange"]["EndingSequenceNumber"] = "9"
        names = ("ParentShardId", "AdjacentParentShardId")
        return plain | dict(zip(names, shard.parents, strict=False))

    def do_GetShardIterator(self, ShardId, ShardIteratorType, StartingSequenceNumber="0", Timestamp=0.0):  # noqa: N802
        records = self.shards[ShardId].records
        wanted = int(StartingSequenceNumber)
        known = [number for number, *_ in records]
        match ShardIteratorType:
            case "TRIM_HORIZON":
                at = 0
            case "AT_TIMESTAMP":
                at = next((n for n, one in enumerate(records) if one[2] >= Timestamp), len(records))
            case _ if wanted not in known:
                raise from_service("GetShardIterator", self.where, 400, "InvalidArgumentException", str(wanted))
            case _:
                at = known.index(wanted) + (ShardIteratorType == "AFTER_SEQUENCE_NUMBER")
        return {"ShardIterator": f"{ShardId}/{at}"}

    def do_GetRecords(self, ShardIterator, Limit):  # noqa: N802
        name, _, at = ShardIterator.partition("/")
        shard, at = self.shards[name], int(at)
        taken = shard.records[at : at + Limit]
        end = at + len(taken)
        answer = {
            "Records": [
                {
                    "SequenceNumber": str(number),
                    "PartitionKey": "key",
                    "Data": b64encode(value).decode(),
                    "ApproximateArrivalTimestamp": epoch,
                }
                for number, value, epoch in taken
            ],
            "MillisBehindLatest": 0 if end == len(shard.records) else 1,
        }
        if not (shard.closed and end == len(shard.records)):
            answer["NextShardIterator"] = f"{name}/{end}"
        return answer
