"""Decides which connection gives way when too many are open."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


@dataclass(slots=True)
class OpenConnections(Generic[T]):
    """The connections of a server, at most so many of them. Not thread-safe.

    A connection is waiting until a whole request has arrived, and again once that request is answered. When there is
    no room for a new connection, the one that has waited longest gives way. If none is waiting, the one that has been
    answered for the longest time does. A new connection is therefore always let in.

    Args:
        most: the largest number of open connections.
    """

    most: int
    # Dictionaries keep the order of insertion: the first key is the oldest.
    _waiting: dict[T, None] = field(default_factory=dict)
    _answering: dict[T, None] = field(default_factory=dict)

    def opened(self, one: T) -> T | None:
        """Let a connection in, and return the one that must be closed for it; None while there is room."""
        gone = None
        if len(self._waiting) + len(self._answering) >= self.most:
            gone = next(iter(self._waiting or self._answering))
            self.closed(gone)
        self._waiting[one] = None
        return gone

    def asked(self, one: T) -> None:
        """Note that a whole request has arrived on a connection."""
        if one in self._waiting:
            del self._waiting[one]
            self._answering[one] = None

    def answered(self, one: T) -> None:
        """Note that a connection waits for its next request."""
        if one in self._answering:
            del self._answering[one]
            self._waiting[one] = None

    def closed(self, one: T) -> None:
        """Forget a connection; one that is not known is no error, because it may have given way before."""
        self._waiting.pop(one, None)
        self._answering.pop(one, None)
