"""Looks schemas up once a process, and waits for a registry that is away."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from gluepot.core.clock import Clock
from gluepot.core.errors import TransientError
from gluepot.core.logging import get_logger
from gluepot.frames.registered import WrittenSchema

log = get_logger(__name__)

# How long a task waits for a registry that does not answer, as it waits for a broker.
DEADLINE_SECS: Final = 300.0
_FIRST_WAIT_SECS, _LONGEST_WAIT_SECS = 0.5, 10.0


class Lookup:
    """The schemas of one registry that this process has met. Safe to use from several threads.

    A schema never changes, so a found one is kept. One that is missing is asked for again the next time, because it may
    have been registered since.

    Args:
        fetch: asks the registry for a schema; None if it has no such schema.
        clock: waits between two tries.
    """

    def __init__(self, fetch: Callable[[str], WrittenSchema | None], clock: Clock) -> None:
        self._fetch = fetch
        self._clock = clock
        self._known: dict[str, WrittenSchema] = {}
        self._lock = threading.Lock()

    def schema(self, schema_id: str) -> WrittenSchema | None:
        """Return a schema; see `SchemaRegistry.schema`."""
        with self._lock:
            if schema_id in self._known:
                return self._known[schema_id]
            found = self._patiently(schema_id)
            if found is not None:
                self._known[schema_id] = found
            return found

    def _patiently(self, schema_id: str) -> WrittenSchema | None:
        deadline, wait_secs = self._clock.monotonic() + DEADLINE_SECS, _FIRST_WAIT_SECS
        while True:
            try:
                return self._fetch(schema_id)
            except TransientError as away:
                if self._clock.monotonic() + wait_secs > deadline:
                    raise
                log.warning("schema_registry_away", schema=schema_id, error=str(away), retry_secs=wait_secs)
                self._clock.sleep(wait_secs)
                wait_secs = min(2 * wait_secs, _LONGEST_WAIT_SECS)
