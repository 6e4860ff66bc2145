"""A real Apache Kafka broker on this machine, for development and tests."""

from __future__ import annotations

import os
import shlex
import subprocess
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from pathlib import Path
from random import SystemRandom
from typing import ClassVar

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from gluepot.core.disk import GIB_BYTES
from gluepot.servers import jars, ports
from gluepot.servers.embedded import READY_SECS, EmbeddedServer
from gluepot.servers.kafka_settings import LOG4J2, broker_settings, java_command, properties
from gluepot.spark.class_archive import archive_path, with_archive
from gluepot.spark.java import ensure_java

JAR_SET = "kafka-broker"
JVM_OPTIONS = "KAFKA_JVM_PERFORMANCE_OPTS"
"""The variable by which Kafka's own start script takes options of the JVM."""


class KafkaBroker(EmbeddedServer):
    """One broker; see `EmbeddedServer`. It keeps its data over a restart."""

    TITLE = "Kafka broker"
    NEEDED_BYTES = 2 * GIB_BYTES
    SETTINGS: ClassVar[Mapping[str, str]] = {}
    """Properties of the broker that a subclass wants to differ from `broker_settings`."""

    def _prepared(self) -> tuple[list[str], dict[str, str]]:
        java, archives = ensure_java(os.environ), jars.ensure(JAR_SET)
        settings, log4j2 = self._write_settings()
        options = shlex.split(with_archive(self._jvm_options(), archive_path(java.version, archives)))
        if not (self.folder / "data" / "meta.properties").exists():
            formats = java_command(java.java, archives, log4j2, "kafka.tools.StorageTool", "format", options=options)
            self._format(formats, settings)
        return java_command(java.java, archives, log4j2, "kafka.Kafka", str(settings), options=options), {}

    def _jvm_options(self) -> str:
        return os.environ.get(JVM_OPTIONS, "")

    def _answers(self) -> bool:
        # librdkafka would write every refused connection to stderr; the broker's log tells more.
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0, "reconnect.backoff.max.ms": 100})
        try:
            return bool(admin.list_topics(timeout=1.0).brokers)
        except KafkaException:
            return False

    def _write_settings(self) -> tuple[Path, Path]:
        self.folder.mkdir(parents=True, exist_ok=True)
        settings, log4j2 = self.folder / "server.properties", self.folder / "log4j2.xml"
        controller_port = ports.free_port(SystemRandom())
        values = {**broker_settings(self._port, controller_port, self.folder / "data"), **self.SETTINGS}
        settings.write_text(properties(values))
        log4j2.write_text(LOG4J2)
        return settings, log4j2

    def _format(self, command: list[str], settings: Path) -> None:
        # One in 64 ids would begin with a dash, which the tool takes for an option.
        cluster_id = "G" + urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")[1:]
        with self.log.open("ab") as log:
            ended = subprocess.run(
                [*command, "--config", str(settings), "--cluster-id", cluster_id],
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=READY_SECS,
            )
        if ended.returncode != 0:
            raise self._failure("could not prepare its data folder")
