"""Keeps crawlers in the service's database. Their crawls are among the runs."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, select

from gluepot.service.decisions.crawls import Crawler
from gluepot.service.store.rows import save_named
from gluepot.service.store.tables import crawlers


class CrawlerRows:
    """Crawlers, in one transaction.

    Args:
        connection: of the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, name: str) -> Crawler | None:
        """Return a crawler; None if there is none of this name."""
        # The lock keeps what others change meanwhile from being lost on PostgreSQL; SQLite has one writer anyway.
        query = select(crawlers).where(crawlers.c.name == name).with_for_update()
        row = self._connection.execute(query).mappings().first()
        return None if row is None else _crawler(row)

    def all(self) -> list[Crawler]:
        """Return all crawlers in the order of their names."""
        rows = self._connection.execute(select(crawlers)).mappings()
        return sorted(map(_crawler, rows), key=lambda one: one.name)  # databases order texts in different ways

    def due(self, now_ms: int) -> list[Crawler]:
        """Return the crawlers whose time has come."""
        query = select(crawlers).where(crawlers.c.next_ms <= now_ms).order_by(crawlers.c.next_ms, crawlers.c.name)
        return [_crawler(row) for row in self._connection.execute(query).mappings()]

    def save(self, crawler: Crawler) -> None:
        """Save a crawler, in the place of one of the same name."""
        save_named(self._connection, crawlers, crawler.name, _columns(crawler))

    def delete(self, name: str) -> None:
        """Delete a crawler. Its crawls stay."""
        self._connection.execute(delete(crawlers).where(crawlers.c.name == name))


def _crawler(row: RowMapping) -> Crawler:
    return Crawler(
        row["name"],
        json.loads(row["definition"]),
        row["schedule"],
        row["is_scheduled"],
        row["version"],
        row["created_ms"],
        row["modified_ms"],
        row["next_ms"],
    )


def _columns(crawler: Crawler) -> dict[str, Any]:
    return {
        "definition": json.dumps(crawler.definition),
        "schedule": crawler.schedule,
        "is_scheduled": crawler.is_scheduled,
        "version": crawler.version,
        "created_ms": crawler.created_ms,
        "modified_ms": crawler.modified_ms,
        "next_ms": crawler.next_ms,
    }
