"""What a development broker is told: one node, broker as well as controller, on loopback, one copy of everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gluepot.core.sockets import LOOPBACK

NODE_ID = 1
TEN_YEARS_MS = 10 * 365 * 24 * 3_600_000
LARGEST_MESSAGE_BYTES = 16 << 20

# INFO: at a start Kafka prints its settings in full, which helps when reading a log.
LOG4J2 = """\
<Configuration status="warn">
  <Appenders>
    <Console name="out" target="SYSTEM_OUT"><PatternLayout pattern="%d{ISO8601} %-5p %c{1}: %m%n"/></Console>
  </Appenders>
  <Loggers>
    <Root level="info"><AppenderRef ref="out"/></Root>
  </Loggers>
</Configuration>
"""


def broker_settings(port: int, controller_port: int, data: Path) -> dict[str, str]:
    """Return the broker's properties; the meaning of each is in Kafka's own reference of broker settings."""
    return {
        "process.roles": "broker,controller",
        "node.id": str(NODE_ID),
        "controller.quorum.voters": f"{NODE_ID}@{LOOPBACK}:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://{LOOPBACK}:{port},CONTROLLER://{LOOPBACK}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{LOOPBACK}:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(data),
        "auto.create.topics.enable": "false",
        "default.replication.factor": "1",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "4",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        # Records carry time stamps of the test's or demo's choosing; none of them may expire under the reader.
        "log.retention.ms": str(TEN_YEARS_MS),
        "message.max.bytes": str(LARGEST_MESSAGE_BYTES),
        "replica.fetch.max.bytes": str(LARGEST_MESSAGE_BYTES),
        # A broker that was killed may register again only when its last session is over; Kafka's 9 s are long to wait.
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
    }


def properties(settings: Mapping[str, str]) -> str:
    """Return settings in the format of Java's `Properties`, one a line, in the order given."""
    return "".join(f"{name}={_escaped(value)}\n" for name, value in settings.items())


def java_command(
    java: Path, jars: Sequence[Path], log4j2: Path, main: str, *arguments: str, options: Sequence[str] = ()
) -> list[str]:
    """Return the command that runs one of Kafka's main classes, with options of the JVM that follow ours.

    The heap is small, as one machine runs broker, Spark and workers side by side.
    """
    return [
        str(java),
        "-Xms128m",
        "-Xmx512m",
        "-XX:+ExitOnOutOfMemoryError",
        "-Djava.awt.headless=true",
        f"-Dlog4j2.configurationFile={log4j2}",
        *options,
        "-cp",
        ":".join(str(jar) for jar in jars),
        main,
        *arguments,
    ]


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\")
