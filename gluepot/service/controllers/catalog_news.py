"""Tells changes of the Data Catalog as events.

The catalog has a database of its own. A change is noted there, in its own transaction. Here it is told, and in the same
transaction of the service's database is noted that it was told. Then the first note is removed. So a change is told
once, wherever the service is killed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gluepot.catalog.connect import catalog_url, shared_catalog
from gluepot.core.clock import Clock
from gluepot.core.failpoints import reach
from gluepot.service.controllers.publishing import publish
from gluepot.service.controllers.workers import Repeating
from gluepot.service.events.catalog_news import news_of
from gluepot.service.events.envelopes import Origin
from gluepot.service.store.database import Store

_WAIT_SECS = 1.0
_AT_ONCE = 100
_DAY_MS = 24 * 3600 * 1000
# Longer than any service takes from reading a note to telling it, and than SQS hides a message that was not deleted.
_TOLD_KEPT_MS = _DAY_MS


class CatalogNews(Repeating):
    """Tells changes of the catalog.

    Args:
        store: the service's database.
        environ: says where the catalog is.
        origin: of events.
        arn: returns the ARN of a resource, given its kind and its name.
        clock: tells the time.
        told: each is called when there are new events.
    """

    def __init__(
        self,
        store: Store,
        environ: Mapping[str, str],
        origin: Origin,
        arn: Callable[[str, str], str],
        clock: Clock,
        told: Sequence[Callable[[], None]] = (),
    ) -> None:
        super().__init__(clock, 0.0, _WAIT_SECS)
        self._store = store
        self._environ = environ
        self._origin = origin
        self._arn = arn
        self._told = told

    def step(self) -> bool:
        """Tell what was noted; return whether there may be more. Without rules nothing is noted."""
        with self._store.changes() as changes:
            if not changes.events.has_rules():
                return False
        catalog, now_ms = shared_catalog(catalog_url(self._environ), self._clock), self._now_ms()
        noted = catalog.noted_changes(_AT_ONCE)
        if not noted:
            with self._store.changes() as changes:
                changes.events.forget_told(now_ms - _TOLD_KEPT_MS)
            return False
        ids = [one.id for one in noted]
        with self._store.changes() as changes:
            changes.alone()
            told = changes.events.told(ids)
            new = [one for one in noted if one.id not in told]
            for change in new:
                if change.at_ms > now_ms - _DAY_MS:
                    for news in news_of(change, self._arn):
                        publish(changes, news, self._origin, now_ms)
            changes.events.note_told([one.id for one in new], now_ms)
            reach("service.telling_catalog_changes")
        reach("service.catalog_changes_told")
        catalog.forget_changes(ids)
        for one in self._told:
            one()
        return len(noted) == _AT_ONCE
