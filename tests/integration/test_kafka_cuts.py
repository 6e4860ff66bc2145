"""Reading, and asking for offsets, through a network that cuts connections in mid-answer and delays what it lets through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from threading import Timer
from uuid import uuid4

import pytest
from kafka import KafkaProducer

from gluepot.connectors.kafka.broker import FIRST_SHARE, Broker
from gluepot.connectors.kafka.settings import AtTime, KafkaReadSettings
from gluepot.connectors.kafka.task_reader import KafkaTaskReader
from gluepot.connectors.values import SourceRange
from gluepot.core.errors import TransientError
from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.topics import create_topic
from tests.crash.tcp_proxy import TcpProxy, tcp_proxy

RECORDS = 5000
RECORD_BYTES = 1000
CUTS = 5
LOOKUP_SECS, SILENT_SECS = 4.0, 5.0


class ProxiedBroker(KafkaBroker):
    """A broker that tells its clients the address of a proxy."""

    def __init__(self, folder: Path, proxy: TcpProxy) -> None:
        super().__init__(folder)
        self._proxy = proxy

    def _write_settings(self) -> tuple[Path, Path]:
        settings, log4j2 = super()._write_settings()
        told = f"advertised.listeners=PLAINTEXT://127.0.0.1:{self.port}"
        text = settings.read_text()
        assert told in text
        settings.write_text(text.replace(told, f"advertised.listeners=PLAINTEXT://127.0.0.1:{self._proxy.port}"))
        self._proxy.target = ("127.0.0.1", self.port)
        return settings, log4j2


@pytest.fixture(scope="module")
def proxied(tmp_path_factory) -> Iterator[TcpProxy]:
    with tcp_proxy(Random(7)) as proxy, ProxiedBroker(tmp_path_factory.mktemp("kafka"), proxy):
        yield proxy


@pytest.fixture
def proxy(proxied) -> Iterator[TcpProxy]:
    yield proxied
    proxied.cuts_left, proxied.delay_secs = 0, 0.0


@pytest.fixture(scope="module")
def sent(proxied) -> tuple[str, list[bytes]]:
    topic, chance = f"cut-{uuid4().hex[:8]}", Random(1)
    create_topic(f"127.0.0.1:{proxied.port}", topic, 1)
    records = [b"%d " % number + chance.randbytes(RECORD_BYTES) for number in range(RECORDS)]
    producer = KafkaProducer(bootstrap_servers=f"127.0.0.1:{proxied.port}", acks="all")
    for record in records:
        producer.send(topic, record)
    producer.flush()
    producer.close()
    return topic, records


def settings_of(proxy: TcpProxy, topic: str) -> KafkaReadSettings:
    return KafkaReadSettings.from_options({"bootstrap.servers": f"127.0.0.1:{proxy.port}", "topicName": topic})


def read(proxy: TcpProxy, topic: str) -> list[bytes | None]:
    reader = KafkaTaskReader(settings_of(proxy, topic))
    wanted = SourceRange("kafka", topic, uuid4().hex, "0", 0, RECORDS)  # an id of its own: no consumer is kept for it
    return [value for raw in reader.read(wanted) for value in raw.values]


def test_a_range_is_read_once_and_in_order_though_connections_are_cut(proxy, sent):
    topic, records = sent
    proxy.cuts, proxy.cuts_left = 0, CUTS
    assert read(proxy, topic) == records
    assert proxy.cuts == CUTS


def test_a_range_is_read_whole_from_a_slow_broker(proxy, sent):
    topic, records = sent
    proxy.delay_secs = 0.005
    assert read(proxy, topic) == records


def test_a_leader_that_says_nothing_is_not_taken_for_an_empty_partition(proxy, sent):
    topic, _ = sent
    broker = Broker(settings_of(proxy, topic), LOOKUP_SECS)
    now = broker.bounds()
    assert now.latest == {(topic, 0): RECORDS}
    proxy.delay_secs = SILENT_SECS
    with pytest.raises(TransientError, match=rf"asking for the offsets of {topic}-0 .*check that it runs"):
        broker.resolve(AtTime(0), now)
    proxy.delay_secs = 0.0
    assert broker.resolve(AtTime(0), now).ends() == {(topic, 0): 0}


def test_a_lookup_gives_a_connection_up_that_went_silent(proxy, sent):
    topic, _ = sent
    broker = Broker(settings_of(proxy, topic), LOOKUP_SECS)
    ids = broker.topic_ids([topic])
    proxy.delay_secs = SILENT_SECS
    Timer(FIRST_SHARE * LOOKUP_SECS / 2, lambda: setattr(proxy, "delay_secs", 0.0)).start()
    assert broker.topic_ids([topic]) == ids  # long before the answer of the first connection arrives
