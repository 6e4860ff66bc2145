"""The operations of the service of this state folder, whether it runs or not."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from gluepot.core.clock import Clock
from gluepot.service.context import Service
from gluepot.service.operations import operations_of
from gluepot.service.operations.schema_versions import keep_version
from gluepot.service.server import ACCOUNT, DEFAULT_REGION, served_region, service_folder
from gluepot.service.store.database import open_store, store_url
from gluepot.service.transfer.importing import Target
from gluepot.service.wire.app import call


class _SetClock:
    """A clock that may be told which time it is, because things were created when a dump says so."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._epoch: float | None = None

    def set(self, epoch: float | None) -> None:
        """Stop at a time; go on at the present time if it is None."""
        # A quarter of a millisecond more, because some cut what others round.
        self._epoch = None if epoch is None else (round(epoch * 1000) + 0.25) / 1000

    def epoch(self) -> float:
        return self._clock.epoch() if self._epoch is None else self._epoch

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def sleep(self, secs: float) -> None:
        self._clock.sleep(secs)


def local_target(environ: Mapping[str, str], clock: Clock) -> Target:
    """Return the service of this state folder.

    Args:
        environ: says where the databases are.
        clock: tells the time.

    Raises:
        ConfigError: a database is of another kind, or its driver is not installed.
        TransientError: it cannot be reached.
    """
    told = _SetClock(clock)
    region = served_region(environ) or DEFAULT_REGION
    runs = service_folder(environ) / "runs"
    # A service that runs looks at its triggers by itself, every few seconds.
    service = Service(open_store(store_url(environ)), told, lambda: None, runs.joinpath, environ, ACCOUNT, region)
    operations = operations_of(service)

    def operate(name: str, request: Mapping[str, Any]) -> dict[str, Any]:
        return call(operations, f"AWSGlue.{name}", request)

    return Target(operate, partial(keep_version, service), told.set)
