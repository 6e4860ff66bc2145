"""The server itself, on loopback."""

from __future__ import annotations

import resource
import socket
import threading
import time
from contextlib import ExitStack, suppress
from http.client import HTTPConnection

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from gluepot.core.errors import ConfigError
from gluepot.ops import server as ops
from gluepot.ops.allowance import Allowance
from gluepot.ops.server import serve


async def answer(_):
    return PlainTextResponse("here")


APP = Starlette(routes=[Route(path, answer) for path in ("/metrics", "/livez", "/readyz")])


@pytest.fixture
def server():
    server = serve(APP)
    yield server
    server.stop()


def get(port: int, path: str = "/metrics") -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_it_answers_on_a_free_loopback_port_and_does_not_say_what_it_is(server):
    assert server.url == f"http://127.0.0.1:{server.port}/metrics"
    assert get(server.port) == (200, b"here")


def test_a_stopped_server_gives_its_port_back():
    first = serve(APP)
    first.stop()
    again = serve(APP, port=first.port)
    again.stop()
    assert again.port == first.port


def test_a_taken_port_is_named_with_the_remedy(server):
    with pytest.raises(ConfigError, match=rf"metrics port {server.port} on 127\.0\.0\.1.*--metrics-port, or 0"):
        serve(APP, port=server.port)


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("192.0.2.1", 0)])
def test_an_address_that_cannot_be_is_a_config_error(host, port):
    with pytest.raises(ConfigError, match="cannot be used"):
        serve(APP, host, port)


def test_many_silent_sockets_neither_keep_others_out_nor_take_threads(server):
    threads = threading.active_count()
    silent = [socket.create_connection(("127.0.0.1", server.port), timeout=5) for _ in range(200)]
    try:
        assert get(server.port) == (200, b"here")
        assert threading.active_count() == threads
    finally:
        for one in silent:
            one.close()


@pytest.fixture
def many_descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_descriptors")
def test_the_probes_are_answered_beside_2000_idle_sockets(server):
    with ExitStack() as idle:
        for _ in range(2000):
            idle.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=5))
        for path in ("/livez", "/readyz") * 10:
            assert get(server.port, path) == (200, b"here")


@pytest.mark.usefixtures("many_descriptors")
def test_sockets_with_half_a_request_do_not_keep_the_probes_out(server):
    with ExitStack() as halves:
        for _ in range(ops.MOST_SOCKETS + 100):
            half = halves.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=5))
            half.sendall(b"GET /livez HTTP/1.1\r\nHost")
        assert get(server.port, "/livez") == (200, b"here")


def test_a_socket_that_sends_no_request_is_closed(monkeypatch):
    monkeypatch.setattr(ops, "REQUEST_SECS", 0.2)
    server = serve(APP)
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as dawdling:
            dawdling.sendall(b"GET /metrics HTTP/1.1\r\n")
            began = time.monotonic()
            with suppress(ConnectionResetError):  # instead of the end, where bytes were left unread
                assert dawdling.recv(1) == b""
            assert time.monotonic() - began < 3
    finally:
        server.stop()


class Spent:
    """A thread that has spent so much processor time."""

    secs = 0.0

    def __call__(self):
        return self.secs


def test_scrapes_beyond_the_allowance_are_refused_and_the_probes_of_health_are_not(monkeypatch):
    monkeypatch.setattr(ops, "REFUSE_SECS", 0.05)
    spent = Spent()
    server = serve(APP, allowance=Allowance(spent=spent, answers_per_sec=0))
    try:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=5)
        answers = []
        for path in ("/metrics", "/metrics", "/livez", "/metrics"):
            connection.request("GET", path)
            answer = connection.getresponse()
            answers.append((answer.status, answer.read()))
            spent.secs += 2.0
        connection.close()
        assert answers == [(200, b"here"), (503, b""), (200, b"here"), (503, b"")]
    finally:
        server.stop()


def test_a_scrape_that_comes_in_pieces_is_put_together(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as slow:
        for piece in (b"GET /metrics HT", b"TP/1.1\r\nHost: here\r\n", b"Connection: close\r\n\r\n"):
            slow.sendall(piece)
            time.sleep(0.05)
        assert slow.makefile("rb").read().endswith(b"here")


def test_a_refusal_is_held_back_and_others_are_answered_meanwhile(monkeypatch):
    monkeypatch.setattr(ops, "REFUSE_SECS", 0.5)
    spent = Spent()
    server = serve(APP, allowance=Allowance(spent=spent, answers_per_sec=0))
    try:
        assert get(server.port) == (200, b"here")
        spent.secs = 2.0
        refused, health = (HTTPConnection("127.0.0.1", server.port, timeout=5) for _ in range(2))
        began = time.monotonic()
        refused.request("GET", "/metrics")
        health.request("GET", "/livez")
        assert health.getresponse().status == 200
        assert refused.getresponse().status == 503
        assert time.monotonic() - began >= 0.5
        refused.close()
        health.close()
    finally:
        server.stop()
