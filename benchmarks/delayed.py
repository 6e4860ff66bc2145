"""A proxy that lets each request wait, as a server does that is far away."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from gluepot.core.clock import SystemClock
from gluepot.core.sockets import LOOPBACK

_CHUNK_BYTES = 1 << 18


@dataclass(slots=True)
class Delay:
    """A running proxy.

    Args:
        url: what clients are given.
        secs: how long each request waits; it can be changed at any time.
    """

    url: str
    secs: float = 0.0


@contextmanager
def delayed(url: str) -> Iterator[Delay]:
    """Yield a proxy in front of a URL of this machine; each request gets there later.

    Of HTTP without pipelining: what a client sends after an answer, or first of all, begins a request. The rest of a
    request and its answer pass at once, so that latency is measured and no bandwidth.
    """
    target = urlsplit(url).port
    assert target is not None
    listening = socket.create_server((LOOPBACK, 0))

    delay = Delay(f"http://{LOOPBACK}:{listening.getsockname()[1]}")

    def accept() -> None:
        with suppress(OSError):  # the listening socket is closed at the end
            while True:
                client, _ = listening.accept()
                threading.Thread(target=_serve, args=(client, target, delay), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield delay
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


def _serve(client: socket.socket, target: int, delay: Delay) -> None:
    server = socket.create_connection((LOOPBACK, target))
    for one in (client, server):
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    clock, answered = SystemClock(), threading.Event()
    answered.set()

    def begin() -> None:
        if answered.is_set():
            answered.clear()
            clock.sleep(delay.secs)

    threading.Thread(target=_pass_on, args=(server, client, answered.set), daemon=True).start()
    _pass_on(client, server, begin)


def _pass_on(source: socket.socket, sink: socket.socket, before: Callable[[], None]) -> None:

    buffer = bytearray(_CHUNK_BYTES)
    with suppress(OSError):
        while size := source.recv_into(buffer):
            before()
            sink.sendall(memoryview(buffer)[:size])
    for one in (source, sink):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
