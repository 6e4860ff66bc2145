"""Bounds the bytes of bodies whose signature has not been verified yet. Pure.

A signature covers the body, so that the whole body must be in memory before it is known who sent it. Anybody who knows
the id of a key can send such bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gluepot.service.errors import ServiceError

MOST_BYTES = 16_000_000
"""The large bodies of all connections together."""
# Nearly all requests are smaller. All connections together have 8 MB of them.
_SMALL_BYTES = 16_384


class UnsignedBodies:
    """Counts the bytes of bodies. One event loop calls it.

    Args:
        most_bytes: of large bodies, together.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self.held_bytes = 0

    @contextmanager
    def reserved(self) -> Iterator[Callable[[int], None]]:
        """Yield a function that reserves bytes for one body, until its signature is verified.

        The function raises ServiceError, `ThrottlingException`, if other bodies hold too many bytes. AWS's clients send
        such a request again.
        """
        size = held = 0

        def reserve(more: int) -> None:
            nonlocal size, held
            size += more
            wanted = size - held if size > _SMALL_BYTES else 0
            if self.held_bytes + wanted > self._most_bytes:
                raise ServiceError("ThrottlingException", "Too many large requests arrive at the same time; retry.")
            self.held_bytes += wanted
            held += wanted

        try:
            yield reserve
        finally:
            self.held_bytes -= held
