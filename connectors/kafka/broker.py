"""What the broker says about topics and offsets: thin calls around confluent-kafka's admin client."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from confluent_kafka import (
    OFFSET_INVALID,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # missing in its __all__
    AdminClient,
    OffsetSpec,
    TopicDescription,
)

from gluepot.connectors.kafka.client import with_callbacks
from gluepot.connectors.kafka.errors import NO_TOPIC, from_kafka
from gluepot.connectors.kafka.positions import Bounds, Positions
from gluepot.connectors.kafka.settings import (
    EARLIEST,
    LATEST,
    Assign,
    AtOffsets,
    AtTime,
    KafkaReadSettings,
    Pattern,
    Topics,
)
from gluepot.connectors.positions import Span
from gluepot.core.errors import ConfigError, TransientError, did_you_mean

TOPICS_NAMED = 20
"""How many of the broker's topics an error message lists."""

ADMIN_KEYS = ("bootstrap.servers", "security.protocol", "client.", "socket.", "sasl.", "ssl.", "oauth_cb", "metadata.")

FIRST_SHARE = 0.3
"""Of the longest wait of a lookup: for a client that may talk to a broker which is gone. A new one gets the rest."""
LOGIN_SECS = 15.0
"""A client that has never answered is waited for so long, over several lookups: its login may be slow."""

EARLIEST_SPEC, LATEST_SPEC = OffsetSpec.earliest(), OffsetSpec.latest()  # type: ignore[no-untyped-call]

T = TypeVar("T")


def admin_config(client: Mapping[str, Any]) -> dict[str, Any]:
    """Return those properties of a client that an admin client takes."""
    # Gluepot reports an unreachable broker once, in words; librdkafka would print each attempt.
    return {k: v for k, v in with_callbacks(client).items() if k.startswith(ADMIN_KEYS)} | {"log_level": 0}


@dataclass(frozen=True, slots=True)
class Replicas:
    """The brokers that hold a partition, by their ids.

    Args:
        leader: the one that clients talk to; None while there is none.
        all: every broker that has a copy.
        in_sync: those whose copies are complete.
    """

    leader: int | None
    all: Sequence[int]
    in_sync: Sequence[int]


class Broker:
    """Lookups at one cluster about the partitions of one subscription.

    Args:
        settings: give the subscription and the client configuration.
        timeout_secs: longest wait of one call.
    """

    def __init__(self, settings: KafkaReadSettings, timeout_secs: float = 10.0) -> None:
        self._settings = settings
        self._timeout_secs = timeout_secs
        self.reconnect()

    def reconnect(self) -> None:
        """Talk to whichever broker answers first from now on."""
        self._admin = AdminClient(admin_config(self._settings.client))
        self._has_answered = False
        self._silent_secs = 0.0

    def partitions(self) -> tuple[dict[str, str], list[tuple[str, int]]]:
        """Return the present topic ids and the partitions that the subscription now covers.

        Raises:
            TransientError: the broker cannot be reached.
            ConfigError: a named topic does not exist.
        """
        names = self._settings.topics()
        if names is None:
            names = tuple(sorted(topic for topic in self._all_topics() if self._settings.covers(topic, 0)))
        described = self._described(names)
        covers = self._settings.covers
        partitions = [(topic, p.id) for topic, about in described.items() for p in about.partitions]
        return _ids(described), sorted(partition for partition in partitions if covers(*partition))

    def topic_ids(self, names: Iterable[str]) -> dict[str, str]:
        """Return the ids of those topics that exist now.

        Raises:
            TransientError: the broker cannot be reached.
        """
        return _ids(self._described(names))

    def replicas(self) -> dict[tuple[str, int], Replicas]:
        """Return where the partitions of the subscription are.

        Raises:
            TransientError: the broker cannot be reached.
        """
        _, covered = self.partitions()
        described = self._described({topic for topic, _ in covered})
        return {
            (topic, one.id): Replicas(
                one.leader.id if one.leader else None, [at.id for at in one.replicas], [at.id for at in one.isr]
            )
            for topic, about in described.items()
            for one in about.partitions
            if (topic, one.id) in covered
        }

    def require_topics(self) -> None:
        """Make sure that every named topic and partition exists.

        Raises:
            ConfigError: one does not; the message names it and lists existing topics.
            TransientError: the broker cannot be reached, or a topic has just come, or brokers do not agree about it.
        """
        ids, partitions = self.partitions()
        match self._settings.subscription:
            case Topics(names):
                missing = [name for name in names if name not in ids]
            case Assign(wanted):
                missing = [f"{topic} partition {p}" for topic, p in sorted(wanted - set(partitions))]
            case Pattern():
                missing = []
        if missing:
            known = sorted(topic for topic in self._all_topics() if not topic.startswith("__"))
            if {*missing} & {*known}:
                raise TransientError(f"a broker of {self._settings.bootstrap} did not know {missing[0]} a moment ago")
            raise ConfigError(
                f"Kafka at {self._settings.bootstrap} has no topic {', '.join(missing)}; its topics are:"
                f" {_some(known) or 'none'}.{did_you_mean(missing[0], known)}"
                " Create the topic first, or correct the name.",
            )

    def bounds(self) -> Bounds:
        """Return first and last offsets of every partition of the subscription.

        The end is the last *stable* offset: every transaction before it is committed or aborted.
        """
        ids, partitions = self.partitions()
        earliest = self._list(dict.fromkeys(partitions, EARLIEST_SPEC))
        latest = self._list(dict.fromkeys(partitions, LATEST_SPEC))
        return Bounds(ids, earliest, latest)

    def latest(self) -> dict[tuple[str, int], int]:
        """Return the last stable offset of every partition of the subscription."""
        _, partitions = self.partitions()
        return self._list(dict.fromkeys(partitions, LATEST_SPEC))

    def commit_group(self, group: str, ends: Mapping[tuple[str, int], int]) -> None:
        """Write the offsets of a consumer group that has no members.

        Raises:
            TransientError: the broker cannot be reached.
            PermanentError, ConfigError: the broker refuses.
        """
        wanted = [TopicPartition(topic, partition, end) for (topic, partition), end in ends.items()]
        request = [ConsumerGroupTopicPartitions(group, wanted)]
        (future,) = self._admin.alter_consumer_group_offsets(request, request_timeout=self._timeout_secs).values()
        doing = f"committing offsets of the group {group}"
        try:
            refused = [one.error for one in future.result().topic_partitions if one.error]
        except KafkaException as failure:
            raise from_kafka(failure.args[0], doing, self._settings.bootstrap) from failure
        if refused:
            raise from_kafka(refused[0], doing, self._settings.bootstrap)

    def resolve(self, bound: str | AtOffsets | AtTime, now: Bounds) -> Positions:
        """Turn a starting or ending option into positions, one empty span per partition.

        A time stamp later than every record means the end of the partition, as in Spark. An offset outside the log is
        refused, because starting elsewhere would silently lose or duplicate records.
        """
        match bound:
            case "earliest":
                at: Mapping[tuple[str, int], int] = now.earliest
            case AtTime(epoch_ms):
                found = self._list(dict.fromkeys(now.latest, OffsetSpec.for_timestamp(epoch_ms)))
                at = {p: offset if offset >= 0 else now.latest[p] for p, offset in found.items()}
            case AtOffsets(offsets):
                at = {p: self._offset(p, offsets.get(p), now) for p in now.latest}
            case _:
                at = now.latest
        return Positions(dict(now.topic_ids), {p: Span(offset, offset) for p, offset in at.items()})

    def _offset(self, partition: tuple[str, int], wanted: int | None, now: Bounds) -> int:
        topic, number = partition
        first, last = now.earliest[partition], now.latest[partition]
        match wanted:
            case None:
                raise ConfigError(f"startingOffsets has no entry for {topic} partition {number}; name every partition.")
            case int() if wanted == EARLIEST:
                return first
            case int() if wanted == LATEST:
                return last
        if not first <= wanted <= last:
            raise ConfigError(
                f"startingOffsets puts {topic} partition {number} at {wanted}, the broker holds {first} to {last};"
                " use an offset in between, -2 for the earliest or -1 for the latest.",
            )
        return wanted

    def _all_topics(self) -> Iterable[str]:
        return self._ask(lambda admin, secs: list(admin.list_topics(timeout=secs).topics), "listing topics")

    def _described(self, names: Iterable[str]) -> dict[str, TopicDescription]:
        if not (wanted := list(names)):
            return {}

        def describe(admin: AdminClient, secs: float) -> dict[str, TopicDescription]:
            found: dict[str, TopicDescription] = {}
            for topic, future in admin.describe_topics(TopicCollection(wanted), request_timeout=secs).items():
                try:
                    found[topic] = future.result()
                except KafkaException as failure:
                    if failure.args[0].code() not in NO_TOPIC:
                        raise
            return found

        return self._ask(describe, f"looking up topic {_some(wanted)}")

    def _list(self, wanted: Mapping[tuple[str, int], Any]) -> dict[tuple[str, int], int]:
        if not wanted:
            return {}

        def list_offsets(admin: AdminClient, secs: float) -> dict[tuple[str, int], int]:
            futures = admin.list_offsets(
                {TopicPartition(topic, p): spec for (topic, p), spec in wanted.items()},
                isolation_level=IsolationLevel.READ_COMMITTED,
                request_timeout=secs,
            )
            return {(at.topic, at.partition): told(at, future.result().offset) for at, future in futures.items()}

        many = f" and {len(wanted) - 1} more" if len(wanted) > 1 else ""
        topic, partition = min(wanted)
        return self._ask(list_offsets, f"asking for the offsets of {topic}-{partition}{many}")

    def _ask(self, ask: Callable[[AdminClient, float], T], doing: str) -> T:
        """Return an answer; a client that has answered before and does not answer now is replaced, and asked again.

        librdkafka keeps to the broker that it took for the controller, or to a connection that has gone dead, for as
        long as it may wait. Where the controller is down, two of its threads wake each other all the time meanwhile. A
        new client talks to whichever broker answers, and learns who leads now.

        Args:
            ask: the request, given the client and how many seconds it may take. It holds the client until it returns:
                another thread may replace it, and what a client that is gone was asked is never answered.
            doing: for messages.
        """
        secs = self._timeout_secs
        try:
            if self._has_answered:
                try:
                    return ask(self._admin, FIRST_SHARE * secs)
                except KafkaException as failure:
                    if not _is_silence(failure):
                        raise
                self.reconnect()
                secs -= FIRST_SHARE * secs
            answer = ask(self._admin, secs)
        except KafkaException as failure:
            if _is_silence(failure):
                self._silent_secs += secs
                if self._silent_secs >= LOGIN_SECS:
                    self.reconnect()
            raise from_kafka(failure.args[0], doing, self._settings.bootstrap) from failure
        self._has_answered = True
        return answer


def _is_silence(failure: KafkaException) -> bool:
    return bool(failure.args[0].code() == KafkaError._TIMED_OUT)  # noqa: SLF001  librdkafka's own code


def told(at: TopicPartition, offset: int) -> int:
    """Return the offset that the leader of a partition told. Pure.

    Raises:
        KafkaException: it told none. librdkafka's answer is no error then, but an offset that stands for none. Taken
            for the end of the partition, it would mean that all records are gone.
    """
    if offset == OFFSET_INVALID:
        said = f"the leader of {at.topic}-{at.partition} did not answer"
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, said))  # noqa: SLF001  librdkafka's own code
    return offset


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - TOPICS_NAMED} more" if len(names) > TOPICS_NAMED else ""
    return ", ".join(names[:TOPICS_NAMED]) + more


def _ids(described: Mapping[str, TopicDescription]) -> dict[str, str]:
    return {topic: str(about.topic_id) for topic, about in described.items()}


_brokers: dict[tuple[object, ...], Broker] = {}


def broker_of(settings: KafkaReadSettings) -> Broker:
    """Return this process's shared connection for lookups. Opening one takes twenty times as long as a lookup."""
    key = (settings.bootstrap, settings.subscription, *sorted(settings.client.items()))
    return _brokers.get(key) or _brokers.setdefault(key, Broker(settings))
