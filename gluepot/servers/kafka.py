"""A real Apache Kafka broker on this machine, for development and tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from base64 import urlsafe_b64encode
from pathlib import Path
from random import SystemRandom
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from etlcore.clock import Clock, SystemClock
from etlcore.disk import GIB_BYTES, require_free
from etlcore.errors import PermanentError
from etlcore.java import ensure_java
from gluepot.servers import jars, ports, supervisor
from gluepot.servers.kafka_settings import LOG4J2, broker_settings, java_command, properties
from gluepot.servers.process import ProcessId, identify, is_alive, terminate

JAR_SET = "kafka-broker"
NEEDED_BYTES = 2 * GIB_BYTES
READY_SECS = 60.0
STOP_SECS = 20.0
POLL_SECS = 0.05


class KafkaBroker:
    """One broker with its own folder; started by us, it ends with us.

    The broker ends when the process that started it ends, however that happens, unless `outlives_us`. It keeps port
    and data over a restart.

    Args:
        folder: everything of this broker: data, settings, `server.log`. Made where missing; one broker at a time.
        port: the port clients connect to; 0 for a free one.
        outlives_us: leave the broker running when this process ends.
        clock: for waits.
    """

    def __init__(
        self,
        folder: Path,
        *,
        port: int = 0,
        outlives_us: bool = False,
        clock: Clock | None = None,
    ) -> None:
        self.folder = folder.absolute()
        self.log = self.folder / "server.log"
        self._asked_port = port
        self._port = 0
        self._outlives_us = outlives_us
        self._clock = clock or SystemClock()
        self._process: subprocess.Popen[bytes] | None = None
        self._id: ProcessId | None = None

    @property
    def port(self) -> int:
        """Where clients connect; 0 before the first start."""
        return self._port

    @property
    def bootstrap(self) -> str:
        """`host:port`, for `bootstrap.servers`."""
        return f"{ports.LOOPBACK}:{self._port}"

    @property
    def process(self) -> ProcessId | None:
        """The process that leads the broker's group, or None before the first start."""
        return self._id

    def start(self) -> None:
        """Start the broker and return once it answers a metadata request.

        Raises:
            ConfigError: no Java, port in use, or less than 2 GiB free.
            TransientError: the archives are not cached and cannot be fetched.
            PermanentError: the broker ended or was not ready in time; the message has the end of its log.
        """
        if self._id and is_alive(self._id):
            return
        require_free(self.folder, NEEDED_BYTES)
        self._port = self._port or self._asked_port or ports.free_port(SystemRandom())
        ports.require_free(self._port)
        java, archives = ensure_java(os.environ).java, jars.ensure(JAR_SET)
        settings, log4j2 = self._write_settings()
        if not (self.folder / "data" / "meta.properties").exists():
            self._format(java_command(java, archives, log4j2, "kafka.tools.StorageTool", "format"), settings)
        self._launch(java_command(java, archives, log4j2, "kafka.Kafka", str(settings)))
        try:
            self._wait_ready()
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Shut the broker down in order; returns when it has ended."""
        if self._id:
            terminate(self._id, STOP_SECS, self._clock)
            self._reap()

    def kill(self) -> None:
        """End the broker at once, as a power cut would."""
        if self._id and is_alive(self._id):
            os.killpg(self._id.pid, signal.SIGKILL)
            self._reap()
            # The supervisor is gone, its child may take a moment longer; nothing but its port tells us.
            while not ports.is_free(self._port):
                self._clock.sleep(POLL_SECS)

    def restart(self) -> None:
        """Stop, then start on the same port with the same data."""
        self.stop()
        self.start()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _write_settings(self) -> tuple[Path, Path]:
        self.folder.mkdir(parents=True, exist_ok=True)
        settings, log4j2 = self.folder / "server.properties", self.folder / "log4j2.xml"
        controller_port = ports.free_port(SystemRandom())
        settings.write_text(properties(broker_settings(self._port, controller_port, self.folder / "data")))
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

    def _launch(self, command: list[str]) -> None:
        if not self._outlives_us:
            command = [sys.executable, "-I", supervisor.__file__, str(os.getpid()), *command]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._id = identify(self._process.pid)

    def _wait_ready(self) -> None:
        # librdkafka would write every refused connection to stderr; the broker's log tells more.
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0, "reconnect.backoff.max.ms": 100})
        deadline = self._clock.monotonic() + READY_SECS
        while self._clock.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                raise self._failure("ended while starting")
            try:
                if admin.list_topics(timeout=1.0).brokers:
                    return
            except KafkaException:
                self._clock.sleep(POLL_SECS)
        raise self._failure(f"did not answer within {READY_SECS:.0f} s")

    def _reap(self) -> None:
        if self._process is not None:
            self._process.wait()

    def _failure(self, what: str) -> PermanentError:
        end_of_log = "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])
        return PermanentError(f"The Kafka broker {what}; its log is {self.log} and ends:\n{end_of_log}")
