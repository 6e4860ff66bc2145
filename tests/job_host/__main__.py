"""python -m tests.job_host SOCKET: take jobs at a socket until standard input closes."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from gluepot.spark import early_jvm, lazy_pandas
from tests.job_host.jvms import FreeJvms, Jvm
from tests.job_host.messages import receive, send

READY = b"ready\n"
LOADED = (
    "awsglue.context",
    "awsglue.dynamicframe",
    "awsglue.job",
    "awsglue.transforms",
    "awsglue.utils",
    "gluepot.cli.main",
    "gluepot.connectors.kafka.reader",
    "gluepot.connectors.streams.datasource",
    "gluepot.job.run",
    "pyspark.sql",
)
"""What most jobs load."""


@dataclass
class Running:
    """A job that runs: its process, the connections to its relay and to itself, and its JVM once it has one."""

    pid: int
    relay: socket.socket
    job: socket.socket
    jvm: Jvm | None = None
    is_released: bool = False
    is_abandoned: bool = False


class Host:
    """Forks jobs and lends them JVMs; one thread does all of it."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        self._selector.register(sys.stdin, selectors.EVENT_READ, self._end)
        self._jvms = FreeJvms()
        self._running: dict[int, Running] = {}
        self._is_ending = False

    def serve(self) -> None:
        """Serve until standard input closes; then end all jobs and JVMs."""
        while not self._is_ending:
            for selected, _ in self._selector.select():
                selected.data()
        for running in self._running.values():
            os.kill(running.pid, signal.SIGKILL)
            if running.jvm:
                running.jvm.started.stop()
        self._jvms.stop()

    def _end(self) -> None:
        self._is_ending = True

    def _accept(self) -> None:
        relay, _ = self._listener.accept()
        request, outputs = receive(relay, files=2)
        if request is None:
            relay.close()
            return
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            self._selector.close()
            self._become(request, outputs, theirs)
        theirs.close()
        for descriptor in outputs:
            os.close(descriptor)
        running = self._running[pid] = Running(pid, relay, ours)
        self._selector.register(ours, selectors.EVENT_READ, lambda: self._hear(running))
        self._selector.register(relay, selectors.EVENT_READ, lambda: self._abandon(running))

    def _become(self, request: dict[str, Any], outputs: list[int], host: socket.socket) -> None:
        """Become the process of a job. It closes the connections of the others, so that their ends are seen."""
        code = 1
        try:
            for other in self._running.values():
                other.relay.close()
                other.job.close()
            self._listener.close()
            os.setsid()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            for descriptor, standard in zip(outputs, (1, 2), strict=True):
                os.dup2(descriptor, standard)
                os.close(descriptor)
            os.chdir(request["folder"])
            os.environ.clear()
            os.environ.update(request["environ"])
            from tests.job_host import hosted_job

            code = hosted_job.run(request["arguments"], host)
        finally:
            os._exit(code)

    def _hear(self, running: Running) -> None:
        """Answer a job that wants a JVM or gives one back, or see that it has ended."""
        message, _ = receive(running.job)
        if message is None:
            self._ended(running)
        elif "released" in message:
            running.is_released = True
        else:
            running.jvm = self._jvms.take(message["key"]) or self._started(message)
            send(running.job, running.jvm.lease())

    def _started(self, message: dict[str, Any]) -> Jvm:
        return Jvm(message["key"], early_jvm.start(message["environ"], is_local=True))

    def _abandon(self, running: Running) -> None:
        """Kill a job whose relay was killed."""
        self._selector.unregister(running.relay)
        running.is_abandoned = True
        os.kill(running.pid, signal.SIGKILL)

    def _ended(self, running: Running) -> None:
        self._selector.unregister(running.job)
        if not running.is_abandoned:
            self._selector.unregister(running.relay)
        running.job.close()
        _, status = os.waitpid(running.pid, 0)
        del self._running[running.pid]
        if running.jvm and running.is_released:
            self._jvms.put_back(running.jvm)
        elif running.jvm:
            running.jvm.started.stop()
        code = os.waitstatus_to_exitcode(status)
        with suppress(OSError):  # nobody waits for it
            send(running.relay, {"exit_code": code if code >= 0 else 128 - code})
        running.relay.close()


def main() -> None:
    """Load what jobs load, and serve."""
    lazy_pandas.for_pyarrow()
    lazy_pandas.for_pyspark()
    for name in LOADED:
        import_module(name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(sys.argv[1])
        listener.listen()
        os.write(1, READY)
        Host(listener).serve()


if __name__ == "__main__":
    main()
