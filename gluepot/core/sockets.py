"""Listening sockets, on loopback unless somebody says otherwise."""

from __future__ import annotations

import ipaddress
import socket

LOOPBACK = "127.0.0.1"


def listen(host: str, port: int, backlog: int) -> socket.socket:
    """Return a socket that listens; clients wait until it accepts them.

    Args:
        host: an address of this machine, of IPv4 or IPv6.
        port: 0 takes a free one.
        backlog: how many clients may wait.

    Raises:
        OSError, OverflowError: the port is taken, may not be used or is none, or the host is not of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=backlog)
    # Connections inherit it. Without it an answer in two pieces waits 40 ms for the client to confirm the first one;
    # asyncio sets it only for sockets that were made for TCP by name.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def origin_of(host: str, port: int) -> str:
    """Return the URL of a server, without a path."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address. Only `localhost` counts among names."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
