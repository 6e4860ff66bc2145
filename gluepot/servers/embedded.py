"""A server process on this machine: its folder, port, log, start and end. Subclasses say which program it runs."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from http import HTTPStatus
from pathlib import Path
from random import SystemRandom
from types import TracebackType
from typing import ClassVar, Self

from gluepot.core.clock import Clock, SystemClock
from gluepot.core.disk import require_free
from gluepot.core.errors import PermanentError
from gluepot.core.sockets import LOOPBACK
from gluepot.servers import ports, supervisor
from gluepot.servers.process import ProcessId, identify, is_alive, terminate

READY_SECS = 60.0
STOP_SECS = 20.0
POLL_SECS = 0.05


class EmbeddedServer(ABC):
    """One server with its own folder; started by us, it ends with us.

    It ends when the process that started it ends, however that happens, unless `outlives_us`. It keeps its port over a
    restart.

    Args:
        folder: everything of this server: data, settings, `server.log`. Made where missing; one server at a time.
        port: the port clients connect to; 0 for a free one.
        outlives_us: leave the server running when this process ends.
        clock: for waits.
    """

    TITLE: ClassVar[str]
    """What messages call it."""
    NEEDED_BYTES: ClassVar[int]
    """Least free disk space it starts with."""

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
        """`host:port`."""
        return f"{LOOPBACK}:{self._port}"

    @property
    def process(self) -> ProcessId | None:
        """The process that leads the server's group, or None before the first start."""
        return self._id

    def start(self) -> None:
        """Start the server and return once it answers.

        Raises:
            ConfigError: what runs it is missing, the port is in use, or the disk is nearly full.
            TransientError: its program is not cached and cannot be fetched.
            PermanentError: it ended or was not ready in time; the message has the end of its log.
        """
        if self._id and is_alive(self._id):
            return
        require_free(self.folder, self.NEEDED_BYTES)
        self._port = self._port or self._asked_port or ports.free_port(SystemRandom())
        ports.require_free(self._port)
        self._launch(*self._prepared())
        try:
            self._wait_ready()
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Shut the server down in order; returns when it has ended."""
        if self._id:
            terminate(self._id, STOP_SECS, self._clock)
            self._reap()

    def kill(self) -> None:
        """End the server at once, as a power cut would."""
        if self._id and is_alive(self._id):
            os.killpg(self._id.pid, signal.SIGKILL)
            self._reap()
            # The supervisor is gone, its child may take a moment longer; nothing but its port tells us.
            while not ports.is_free(self._port):
                self._clock.sleep(POLL_SECS)

    def restart(self) -> None:
        """Stop, then start on the same port."""
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

    @abstractmethod
    def _prepared(self) -> tuple[list[str], dict[str, str]]:
        """Return the command that runs the server on `port`, and what it needs in its environment."""

    @abstractmethod
    def _answers(self) -> bool:
        """Ask the server something, for a second at most; False if it did not answer."""

    def _launch(self, command: list[str], environ: dict[str, str]) -> None:
        if not self._outlives_us:
            command = [sys.executable, "-I", supervisor.__file__, str(os.getpid()), *command]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                env={**os.environ, **environ},
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._id = identify(self._process.pid)

    def _wait_ready(self) -> None:
        deadline = self._clock.monotonic() + READY_SECS
        while self._clock.monotonic() < deadline:
            code = self._process.poll() if self._process else None
            if code is not None:
                told = code if code >= 0 else 128 - code  # as a shell tells a signal
                raise self._failure(f"ended with exit code {told} while starting")
            if self._answers():
                return
            self._clock.sleep(POLL_SECS)
        raise self._failure(f"did not answer within {READY_SECS:.0f} s")

    def _reap(self) -> None:
        if self._process is not None:
            self._process.wait()

    def _failure(self, what: str) -> PermanentError:
        end_of_log = "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])
        return PermanentError(f"The {self.TITLE} {what}; its log is {self.log} and ends:\n{end_of_log}")


class HttpServer(EmbeddedServer):
    """A server that is spoken to by HTTP."""

    READY_PATH: ClassVar[str]
    """A path that it answers with 200 when it is ready."""

    @property
    def url(self) -> str:
        """The URL that clients connect to."""
        return f"http://{self.bootstrap}"

    def _answers(self) -> bool:
        asked = http.client.HTTPConnection(LOOPBACK, self._port, timeout=1.0)
        try:
            asked.request("GET", self.READY_PATH)
            return asked.getresponse().status == HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            asked.close()
