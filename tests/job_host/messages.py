"""Messages between the processes of the job host: one JSON object each, on one connection at a time."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from typing import Any

MOST_BYTES = 1 << 20


def send(connection: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send a message, and files with it."""
    socket.send_fds(connection, [json.dumps(message).encode()], descriptors)


def receive(connection: socket.socket, files: int = 0) -> tuple[dict[str, Any] | None, list[int]]:
    """Return the next message and the files that came with it; no message if the other side has ended."""
    content, descriptors, _, _ = socket.recv_fds(connection, MOST_BYTES, files)
    return (json.loads(content) if content else None), list(descriptors)
