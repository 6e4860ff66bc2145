"""A Kafka broker in memory, and the two clients of confluent-kafka that the product makes."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from confluent_kafka import OFFSET_INVALID, KafkaError, KafkaException, TopicPartition

from tests.simulate import threads
from tests.simulate.world import World


@dataclass(slots=True)
class Topic:
    """A topic: its id, and the records of each partition from the first that is still there."""

    topic_id: str
    partitions: list[list[bytes]]
    firsts: list[int] = field(default_factory=list)

    def end(self, partition: int) -> int:
        """Return the offset of the next record."""
        return self.firsts[partition] + len(self.partitions[partition])


class Broker:
    """The broker. It may be away for a while, or lag behind, and topics may be deleted and created again."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.topics: dict[str, Topic] = {}
        self.away_until = self.lags_until = 0.0
        self.lags_in = ""
        self._before: tuple[str, Callable[[], None]] | None = None

    def before_a_request(self, change: Callable[[], None]) -> None:
        """Let something change just before the next request of some kind; each kind is as likely."""
        self._before = self.world.faults.choice(("describe topics", "list offsets", "consume")), change

    def go_away(self, secs: float) -> None:
        """Answer nothing from now on, for some seconds."""
        self.away_until = self.world.now + secs

    def lag(self, secs: float) -> None:
        """Answer as one does that lags behind the others: it knows no topic, or an end of the log from long ago."""
        self.lags_until, self.lags_in = self.world.now + secs, self.world.faults.choice(("topics", "ends"))

    def lags(self, what: str) -> bool:
        """Whether that is the case now."""
        return self.world.now < self.lags_until and self.lags_in == what

    def come_back(self) -> None:
        """Answer from now on what is true, and change nothing any more."""
        self.away_until, self.lags_until, self._before = 0.0, 0.0, None

    def create(self, name: str, partitions: int) -> Topic:
        """Create a topic, in the place of one that has the name."""
        topic_id = uuid.UUID(int=self.world.scheduler.chance.getrandbits(128))
        self.topics[name] = Topic(str(topic_id), [[] for _ in range(partitions)], [0] * partitions)
        return self.topics[name]

    def send(self, name: str, partition: int, value: bytes) -> tuple[str, int]:
        """Append a record; return the topic's id and the record's offset."""
        topic = self.topics[name]
        topic.partitions[partition].append(value)
        return topic.topic_id, topic.end(partition) - 1

    def asked(self, what: str, where: str = "") -> None:
        """Let time pass for a request."""
        self.world.act(threads.process(), what, where, longest_secs=0.003)
        if self._before is not None and self._before[0] == what:
            (_, change), self._before = self._before, None
            change()

    def trouble(self, what: str) -> KafkaException | None:
        """Let time pass for a request; return an error if the broker is away."""
        self.asked(what)
        if self.world.now >= self.away_until:
            return None
        threads.pause(1.0)
        return KafkaException(KafkaError(KafkaError._TRANSPORT, "no answer"))


class Message:
    """A record, or a notice, as `confluent_kafka.Message` gives it."""

    __slots__ = ("_error", "_offset", "_partition", "_topic", "_value")

    def __init__(self, topic: str, partition: int, offset: int, value: bytes | None, error: Any = None) -> None:
        self._topic, self._partition, self._offset = topic, partition, offset
        self._value, self._error = value, error

    def __len__(self) -> int:
        return len(self._value or b"")

    def error(self) -> Any:
        return self._error

    def offset(self) -> int:
        return self._offset

    def value(self) -> bytes | None:
        return self._value

    def partition(self) -> int:
        return self._partition

    def topic(self) -> str:
        return self._topic

    def timestamp(self) -> tuple[int, int]:
        return 1, 1_700_000_000_000 + self._offset

    def headers(self) -> None:
        return None

    def key(self) -> None:
        return None


class Consumer:
    """A consumer that follows a topic's name, as librdkafka does: it may go on in another topic of that name."""

    def __init__(self, broker: Broker, _: Mapping[str, Any]) -> None:
        self._broker = broker
        self._at: TopicPartition | None = None
        self._told_end = -1

    def assign(self, partitions: Sequence[TopicPartition]) -> None:
        (self._at,) = partitions
        self._at = TopicPartition(self._at.topic, self._at.partition, self._at.offset)
        self._told_end = -1

    def unassign(self) -> None:
        self._at = None

    def close(self) -> None:
        self._at = None

    def consume(self, most: int, timeout: float) -> list[Message]:
        world = self._broker.world
        self._broker.asked("consume", "" if self._at is None else self._at.topic)
        if self._at is None or world.now < self._broker.away_until:
            threads.pause(timeout)
            return []
        topic = self._broker.topics.get(self._at.topic)
        name, number, start = self._at.topic, self._at.partition, self._at.offset
        if topic is None or number >= len(topic.partitions):
            return [Message(name, number, start, None, KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART, "gone"))]
        first, end = topic.firsts[number], topic.end(number)
        if not first <= start <= end:
            return [Message(name, number, start, None, KafkaError(KafkaError._AUTO_OFFSET_RESET, "out of range"))]
        values = topic.partitions[number][start - first : start - first + most]
        self._at.offset = start + len(values)
        found = [Message(name, number, start + n, value) for n, value in enumerate(values)]
        if self._at.offset == end and self._told_end != end:
            self._told_end = end
            found.append(Message(name, number, end, None, KafkaError(KafkaError._PARTITION_EOF, "end")))
        if not found:
            threads.pause(timeout)
        return found


class Admin:
    """An admin client."""

    def __init__(self, broker: Broker, _: Mapping[str, Any]) -> None:
        self._broker = broker

    def list_topics(self, timeout: float) -> Any:
        if (trouble := self._broker.trouble("list topics")) is not None:
            raise trouble
        return SimpleNamespace(topics=dict.fromkeys(self._broker.topics))

    def describe_topics(self, wanted: Any, request_timeout: float) -> dict[str, Future[Any]]:
        trouble = self._broker.trouble("describe topics")
        return {name: self._described(name, trouble) for name in wanted.topic_names}

    def _described(self, name: str, trouble: KafkaException | None) -> Future[Any]:
        future: Future[Any] = Future()
        topic = self._broker.topics.get(name)
        if trouble is not None:
            future.set_exception(trouble)
        elif topic is None or self._broker.lags("topics"):
            future.set_exception(KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART, "gone")))
        else:
            partitions = [SimpleNamespace(id=n) for n in range(len(topic.partitions))]
            future.set_result(SimpleNamespace(topic_id=topic.topic_id, partitions=partitions))
        return future

    def list_offsets(
        self,
        wanted: Mapping[TopicPartition, Any],
        isolation_level: Any,
        request_timeout: float,
    ) -> dict[TopicPartition, Future[Any]]:
        trouble = self._broker.trouble("list offsets")
        found = {}
        for where, spec in wanted.items():
            future: Future[Any] = Future()
            topic = self._broker.topics.get(where.topic)
            if trouble is not None:
                future.set_result(SimpleNamespace(offset=OFFSET_INVALID))  # as librdkafka answers for a silent leader
            elif topic is None or where.partition >= len(topic.partitions):
                future.set_exception(KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART, "gone")))
            else:
                first, end = topic.firsts[where.partition], topic.end(where.partition)
                end = first if self._broker.lags("ends") else end
                future.set_result(SimpleNamespace(offset=first if "Earliest" in type(spec).__name__ else end))
            found[where] = future
        return found
