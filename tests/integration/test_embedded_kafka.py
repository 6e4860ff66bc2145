from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import uuid
from pathlib import Path
from typing import ClassVar

import psutil
import pytest
from confluent_kafka.admin import AdminClient, ConfigResource
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from gluepot.cli.servers import down, status, up
from gluepot.core.cachedir import cache_root
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.core.sockets import LOOPBACK
from gluepot.servers.jars.fetch import locked_archives
from gluepot.servers.kafka import JAR_SET, KafkaBroker
from gluepot.servers.kafka_settings import NODE_ID
from gluepot.servers.ports import is_free
from gluepot.spark.class_archive import archive_path
from gluepot.spark.java import ensure_java

CLOCK = SystemClock()
DEADLINE_SECS = 20.0


def create_topic(bootstrap: str) -> str:
    topic = f"t-{uuid.uuid4().hex}"
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        admin.create_topics({topic: {"num_partitions": 1, "replication_factor": 1}})
    return topic


def send(bootstrap: str, topic: str, value: bytes) -> None:
    with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap, max_request_size=16 << 20)) as producer:
        producer.send(topic, value).get(timeout=DEADLINE_SECS)


def read_one(bootstrap: str, topic: str) -> bytes:
    with contextlib.closing(
        KafkaConsumer(topic, bootstrap_servers=bootstrap, auto_offset_reset="earliest", consumer_timeout_ms=20000),
    ) as consumer:
        return next(consumer).value


class Patient(KafkaBroker):
    SETTINGS: ClassVar = {"group.initial.rebalance.delay.ms": "250"}


def becomes_free(port: int) -> bool:
    deadline = CLOCK.monotonic() + DEADLINE_SECS
    while not is_free(port) and CLOCK.monotonic() < deadline:
        CLOCK.sleep(0.05)
    return is_free(port)


def test_record_of_ten_megabytes_comes_back_through_another_client(kafka):
    topic = create_topic(kafka)
    record = os.urandom(10 << 20)
    send(kafka, topic, record)
    assert read_one(kafka, topic) == record


def test_restart_keeps_port_and_records(own_kafka):
    bootstrap, topic = own_kafka.bootstrap, create_topic(own_kafka.bootstrap)
    send(bootstrap, topic, b"before")
    own_kafka.restart()
    assert own_kafka.bootstrap == bootstrap
    assert read_one(bootstrap, topic) == b"before"


def test_settings_of_a_subclass_are_the_brokers(tmp_path):
    with Patient(tmp_path / "kafka") as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        asked = ConfigResource(ConfigResource.Type.BROKER, str(NODE_ID))
        told = admin.describe_configs([asked])[asked].result(DEADLINE_SECS)
        assert told["group.initial.rebalance.delay.ms"].value == "250"
        assert told["auto.create.topics.enable"].value == "false"


def test_killed_broker_starts_again_with_its_records(own_kafka):
    topic = create_topic(own_kafka.bootstrap)
    send(own_kafka.bootstrap, topic, b"before")
    own_kafka.kill()
    assert is_free(own_kafka.port)
    own_kafka.start()
    assert read_one(own_kafka.bootstrap, topic) == b"before"


def test_stopped_broker_leaves_port_free_and_log_kept(own_kafka):
    own_kafka.stop()
    assert is_free(own_kafka.port)
    assert "Kafka Server started" in own_kafka.log.read_text()


def test_broker_listens_on_loopback_alone_and_uses_its_archive_of_classes(own_kafka):
    (java,) = psutil.Process(own_kafka.process.pid).children()
    archive = archive_path(ensure_java(os.environ).version, locked_archives(JAR_SET))
    assert not archive.exists() or archive in {Path(one.path) for one in java.memory_maps()}
    listening = subprocess.run(
        [sys.executable, "-c", LISTENERS, str(own_kafka.process.pid)],
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split()
    assert len(listening) == 2
    assert set(listening) == {LOOPBACK}


LISTENERS = """
import psutil, sys
for child in psutil.Process(int(sys.argv[1])).children():
    for connection in child.net_connections():
        if connection.status == psutil.CONN_LISTEN:
            print(connection.laddr.ip.removeprefix("::ffff:"))
"""

OWNER = """
import sys, threading
from pathlib import Path
from typing import ClassVar
from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.kafka_settings import NODE_ID
broker = KafkaBroker(Path(sys.argv[1]))
starter = threading.Thread(target=broker.start)
starter.start()
starter.join()
print(broker.port, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def owner(tmp_path):
    """A process that started a broker from a thread which has ended, and the broker's port."""
    command = [sys.executable, "-c", OWNER, str(tmp_path / "kafka")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process, int(process.stdout.readline())
        process.kill()


def test_broker_outlives_the_thread_that_started_it(owner):
    _process, port = owner
    CLOCK.sleep(1.0)
    assert not is_free(port)


def test_broker_ends_after_kill_9_of_its_owner(owner):
    process, port = owner
    os.kill(process.pid, signal.SIGKILL)
    assert becomes_free(port)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's death; run it there")
def test_broker_ends_after_kill_9_of_its_supervisor(own_kafka):
    os.kill(own_kafka.process.pid, signal.SIGKILL)
    assert becomes_free(own_kafka.port)


def test_used_port_is_refused_before_anything_starts(tmp_path):
    with socket.socket() as server:
        server.bind((LOOPBACK, 0))
        server.listen()
        port = server.getsockname()[1]
        with pytest.raises(ConfigError, match=f"Port {port} on {LOOPBACK} is in use"):
            KafkaBroker(tmp_path / "kafka", port=port).start()
    assert not (tmp_path / "kafka").exists()


def test_broker_that_cannot_start_shows_the_end_of_its_log(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "meta.properties").write_text("version=1\nnode.id=99\ncluster.id=another\n")
    with pytest.raises(
        PermanentError, match=r"ended with exit code 1 while starting; its log is .*server\.log and ends:\n(.*\n)*.*99"
    ):
        KafkaBroker(tmp_path).start()


@pytest.fixture
def own_home(tmp_path, monkeypatch) -> Path:
    """A cache without servers that has the archives of the real one."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "jars").symlink_to(cache_root(os.environ) / "jars")
    monkeypatch.setenv("GLUEPOT_HOME", str(home))
    yield home
    down()


def running(capsys) -> list[dict[str, object]]:
    capsys.readouterr()
    status(output="json")
    return json.loads(capsys.readouterr().out)


def test_up_starts_a_broker_that_status_shows_and_down_ends(kafka, own_home, capsys):
    up()
    (server,) = running(capsys)
    topic = create_topic(server["bootstrap"])
    down()
    assert running(capsys) == []
    up()
    (again,) = running(capsys)
    send(again["bootstrap"], topic, b"the topic is still there")


def test_second_up_leaves_the_first_broker_alone(own_home, capsys):
    up("kafka", topic=["orders"], partitions=2)
    assert "Topic orders is created, with 2 partitions." in capsys.readouterr().out
    before = running(capsys)
    up("kafka", topic=["orders"])
    said = capsys.readouterr().out
    assert "already runs" in said
    assert "Topic orders exists already, with 2 partitions." in said
    assert running(capsys) == before


def test_broker_of_up_outlives_the_process_that_started_it(own_home, capsys):
    subprocess.run([sys.executable, "-c", "from gluepot.cli.servers import up; up()"], check=True)
    CLOCK.sleep(1.0)
    (server,) = running(capsys)
    assert create_topic(server["bootstrap"])


def test_nothing_to_stop_is_said(own_home, capsys):
    down()
    assert capsys.readouterr().out == "No server runs.\n"
