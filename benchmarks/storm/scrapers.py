"""Scrapes without mercy: `python -m benchmarks.storm.scrapers PORT SCRAPES_PER_SEC SLOW_SOCKETS SECS`.

Some sockets ask for `/metrics` at a steady rate, as many servers with kept connections would; others send their request
one byte a second and never end it. Prints one JSON object: answers by status, bytes, and how many scrapes fell out
because the ones before them were not answered yet.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections import Counter
from contextlib import suppress

ASKING_SOCKETS = 50
ANSWER_SECS = 10.0
HOST = "127.0.0.1"
REQUEST = b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
DRIP = b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: " + b"x" * 1000


class Asker:
    """One kept connection.

    Args:
        port: port of the server.
        every_secs: time between two scrapes.
        until: by the clock that only grows.
    """

    def __init__(self, port: int, every_secs: float, until: float) -> None:
        self._port = port
        self._every_secs = every_secs
        self._until = until
        self._room = bytearray(1 << 20)
        self._socket: socket.socket | None = None
        self.outcomes: Counter[str] = Counter()
        self.bytes = 0

    def run(self) -> None:
        """Ask until the end."""
        due = time.monotonic()
        while due < self._until:
            time.sleep(max(0.0, due - time.monotonic()))  # noqa: TID251  the pace of a load, not of the product
            try:
                self.outcomes[self._ask()] += 1
            except OSError as failed:
                self.outcomes[type(failed).__name__] += 1
                self._close()
            late = int(max(0.0, time.monotonic() - due) / self._every_secs)
            self.outcomes["not asked"] += late
            due += (1 + late) * self._every_secs
        self._close()

    def _ask(self) -> str:
        if self._socket is None:
            self._socket = socket.create_connection((HOST, self._port), timeout=ANSWER_SECS)
        self._socket.sendall(REQUEST)
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self._socket.recv(4096)
            if not piece:
                raise ConnectionResetError
            head += piece
        lines = head.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in lines[0].split(b"\r\n")[1:])
        left = int(fields[b"content-length"]) - len(lines[2])
        self.bytes += len(lines[2]) + left
        while left > 0:
            received = self._socket.recv_into(self._room, min(left, len(self._room)))
            if not received:
                raise ConnectionResetError
            left -= received
        if fields.get(b"connection") == b"close":
            self._close()
        return head.split(b" ", 2)[1].decode()

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def drip(port: int, sockets: int, until: float) -> None:
    """Keep so many sockets busy that send a byte a second; one that is closed is opened again."""
    slow: list[tuple[socket.socket, int]] = []
    while time.monotonic() < until:
        for n in range(sockets):
            with suppress(OSError):
                if n >= len(slow):
                    slow.append((socket.create_connection((HOST, port), timeout=ANSWER_SECS), 0))
                one, sent = slow[n]
                try:
                    one.sendall(DRIP[sent : sent + 1])
                    slow[n] = one, sent + 1
                except OSError:
                    one.close()
                    slow[n] = socket.create_connection((HOST, port), timeout=ANSWER_SECS), 0
        time.sleep(1.0)  # noqa: TID251  the pace of a load, not of the product
    for one, _ in slow:
        one.close()


def main(port: int, scrapes_per_sec: int, slow_sockets: int, secs: int) -> None:
    """Load a server for a while and print what came back."""
    until = time.monotonic() + secs
    askers = [Asker(port, ASKING_SOCKETS / scrapes_per_sec, until) for _ in range(ASKING_SOCKETS)]
    threads = [threading.Thread(target=one.run) for one in askers]
    threads.append(threading.Thread(target=drip, args=(port, slow_sockets, until)))
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    outcomes: Counter[str] = sum((one.outcomes for one in askers), Counter())
    print(json.dumps({"outcomes": dict(outcomes), "megabytes": round(sum(one.bytes for one in askers) / 1e6)}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
