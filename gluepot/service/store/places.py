"""Keeps the places at which services work, and when each of them was seen, in the service's database."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select

from gluepot.service.store.rows import save_named
from gluepot.service.store.tables import places


class PlaceRows:
    """The places of services, in one transaction.

    Args:
        connection: of the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def seen_ms(self) -> dict[str, int]:
        """Return when each place was seen last, by its own clock, in milliseconds since 1970."""
        query = select(places.c.name, places.c.seen_ms)
        return {name: seen_ms for name, seen_ms in self._connection.execute(query)}  # noqa: C416  rows are no pairs to mypy

    def note(self, name: str, now_ms: int) -> None:
        """Note that a place is there."""
        save_named(self._connection, places, name, {"seen_ms": now_ms})

    def forget(self, name: str) -> None:
        """Forget a place. If it is there after all, it notes itself again."""
        self._connection.execute(delete(places).where(places.c.name == name))
