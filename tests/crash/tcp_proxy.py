"""A TCP proxy that breaks connections in the middle of an answer, and slows them down."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from random import Random

CHUNK_BYTES = 8192


@dataclass
class TcpProxy:
    """A running proxy; its trouble is with what the server answers.

    Args:
        port: what clients connect to.
        target: the server, once it is known.
        chance: decides after how many bytes a connection is cut.
        cuts_left: how many connections are still to be cut.
        cut_within_bytes: each after an amount of the server's answers up to this.
        delay_secs: each piece of an answer waits so long.
        cuts: connections that were cut.
    """

    port: int
    chance: Random
    target: tuple[str, int] | None = None
    cuts_left: int = 0
    cut_within_bytes: int = 1 << 20
    delay_secs: float = 0.0
    cuts: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def serve(self, client: socket.socket) -> None:
        assert self.target is not None
        try:
            server = socket.create_connection(self.target, timeout=5)
        except OSError:
            _reset(client)
            return
        server.settimeout(None)
        threading.Thread(target=self._pass_on, args=(client, server, lambda _: True), daemon=True).start()
        self._pass_on(server, client, self._whether_to_go_on())

    def _whether_to_go_on(self) -> Callable[[int], bool]:
        with self._lock:
            left = self.chance.randrange(self.cut_within_bytes)

        def go_on(size: int) -> bool:
            nonlocal left
            if self.delay_secs:
                time.sleep(self.delay_secs)
            left -= size
            with self._lock:
                if left > 0 or not self.cuts_left:
                    return True
                self.cuts_left -= 1
                self.cuts += 1
                return False

        return go_on

    def _pass_on(self, source: socket.socket, sink: socket.socket, go_on: Callable[[int], bool]) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK_BYTES):
                if not go_on(len(data)):
                    sink.sendall(data[: len(data) // 2])
                    break
                sink.sendall(data)
        _reset(source)
        _reset(sink)


def _reset(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # Closing alone would not wake the thread that waits for data on the same socket.
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


@contextmanager
def tcp_proxy(chance: Random) -> Iterator[TcpProxy]:
    """Listen on a free port of loopback for as long as the context lasts."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = TcpProxy(listener.getsockname()[1], chance)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    threading.Thread(target=proxy.serve, args=(client,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
