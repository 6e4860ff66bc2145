from __future__ import annotations

import socket
from random import Random

import pytest

from gluepot.core.errors import ConfigError
from gluepot.core.sockets import LOOPBACK
from gluepot.servers.ports import FIRST, LAST, free_port, is_free, require_free


@pytest.fixture
def taken():
    with socket.socket() as server:
        server.bind((LOOPBACK, 0))
        server.listen()
        yield server.getsockname()[1]


def test_port_with_a_listener_is_not_free(taken):
    assert not is_free(taken)


def test_taken_port_is_named_with_the_remedy(taken):
    with pytest.raises(ConfigError, match=f"Port {taken} on 127.0.0.1 is in use; .*choose another port"):
        require_free(taken)


def test_free_port_lies_below_the_range_of_outgoing_connections():
    assert FIRST <= free_port(Random(1)) <= LAST < 32768
