"""A Kinesis of one stream in memory that also pushes records, by the rules of SubscribeToShard."""

from collections import deque

from gluepot.connectors.kinesis.errors import from_service
from gluepot.core.clock import SystemClock
from gluepot.core.errors import TransientError
from tests.unit.kinesis.shelf import Shelf

ARN = "arn:aws:kinesis:us-east-1:000000000000:stream/clicks/consumer/job:1"
HEARTBEAT_SECS = 0.005


class FanOutShelf(Shelf):
    """A `Shelf` with consumers; `events` holds what happens in place of the next events.

    That is "end", "lost", or status and code of an exception.
    """

    def __init__(self, shards=1, active=("job",)):
        super().__init__(shards)
        self.consumers = dict.fromkeys(active, "ACTIVE")
        self.events = deque()
        self.asked = []
        self.begun = {}
        self.open_events = []
        self.again_secs = 0.0
        self.repeats = 0
        self.event_records = 5
        self.tells_children = True
        self.continuation = ""
        self.clock = SystemClock()

    def do_DescribeStreamConsumer(self, ConsumerARN="", ConsumerName="", StreamARN=""):  # noqa: N802
        name = ConsumerName or ConsumerARN.partition("/consumer/")[2].partition(":")[0]
        if name not in self.consumers:
            raise from_service("DescribeStreamConsumer", self.where, 400, "ResourceNotFoundException", name)
        status = self.consumers[name]
        if status == "CREATING":
            self.consumers[name] = "ACTIVE"
        if status == "DELETING":
            del self.consumers[name]
        return {"ConsumerDescription": {"ConsumerARN": ARN, "ConsumerStatus": status}}

    def do_RegisterStreamConsumer(self, ConsumerName, StreamARN):  # noqa: N802
        self.consumers[ConsumerName] = "CREATING"
        return {"Consumer": {"ConsumerARN": ARN, "ConsumerStatus": "CREATING"}}

    def subscribe(self, **parameters):
        self.asked.append(parameters)
        return self.call("SubscribeToShard", parameters)

    def do_SubscribeToShard(self, ConsumerARN, ShardId, StartingPosition):  # noqa: N802
        if not self.consumers:
            raise from_service("SubscribeToShard", self.where, 400, "ResourceNotFoundException", "consumer")
        now = self.clock.monotonic()
        if now - self.begun.get(ShardId, -self.again_secs) < self.again_secs:
            raise from_service("SubscribeToShard", self.where, 400, "ResourceInUseException", "in use")
        names = {"Type": "ShardIteratorType", "SequenceNumber": "StartingSequenceNumber", "Timestamp": "Timestamp"}
        place = {names[name]: value for name, value in StartingPosition.items()}
        at = self.do_GetShardIterator(ShardId, **place)["ShardIterator"]
        self.begun[ShardId] = now
        self.open_events.append(ShelfEvents(self, at))
        return self.open_events[-1]


class ShelfEvents:
    """Answers as `EventStream` does."""

    def __init__(self, shelf, at):
        self.shelf, self.at, self.is_closed, self.is_first = shelf, at, False, True

    def next_event(self):
        match self.shelf.events.popleft() if self.shelf.events else None:
            case "end":
                return None
            case "lost":
                raise TransientError("the connection is lost")
            case (status, code):
                raise from_service("SubscribeToShard", self.shelf.where, status, code, "as scripted")
        answer = self.shelf.do_GetRecords(self.at, self.shelf.event_records)
        if not answer["Records"] and not self.is_first:
            self.shelf.clock.sleep(HEARTBEAT_SECS)
            answer = self.shelf.do_GetRecords(self.at, self.shelf.event_records)
        self.is_first = False
        name, _, before = self.at.partition("/")
        end = int(before) + len(answer["Records"])
        repeated = max(0, int(before) - self.shelf.repeats)
        known = self.shelf.do_GetRecords(f"{name}/{repeated}", end - repeated)["Records"]
        self.at = f"{name}/{end}"
        if "NextShardIterator" not in answer:
            told = {"ChildShards": [{"ShardId": "child"}]} if self.shelf.tells_children else {}
        else:
            last = known[-1]["SequenceNumber"] if known else ""
            told = {"ContinuationSequenceNumber": self.shelf.continuation or last}
        return {"Records": known, "MillisBehindLatest": answer["MillisBehindLatest"], **told}

    def close(self):
        self.is_closed = True
