"""Listening sockets and the URLs of what listens on them."""

import socket

import pytest

from gluepot.core.sockets import LOOPBACK, listen, origin_of


def test_clients_that_come_before_they_are_accepted_wait():
    with listen(LOOPBACK, 0, 5) as listening, socket.create_connection(listening.getsockname()) as client:
        accepted, _ = listening.accept()
        with accepted:
            client.sendall(b"x")
            assert accepted.recv(1) == b"x"


def test_a_port_that_is_taken_or_is_none_is_refused():
    with listen(LOOPBACK, 0, 5) as listening, pytest.raises(OSError, match="in use"):
        listen(LOOPBACK, listening.getsockname()[1], 5)
    with pytest.raises(OverflowError):
        listen(LOOPBACK, 70_000, 5)


def test_an_address_of_ipv6_stands_in_brackets():
    assert origin_of("::1", 80) == "http://[::1]:80"
    assert origin_of(LOOPBACK, 80) == "http://127.0.0.1:80"


@pytest.mark.parametrize("host", [LOOPBACK, "::1"])
def test_a_connection_sends_each_piece_at_once(host):
    with listen(host, 0, 5) as listening, socket.create_connection(listening.getsockname()[:2]):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
