"""Spends a table's capacity evenly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from gluepot.core.clock import Clock

BURST_SECS = 1.0
"""So much capacity that was not used may be spent at once."""


def units_per_sec(table: Mapping[str, Any], kind: str, share: float, tasks: int) -> float | None:
    """Return the capacity that one task may use; None if the table has no limit of its own.

    Args:
        table: `Table` of DescribeTable.
        kind: `Read` or `Write`.
        share: the part that all tasks use together.
        tasks: number of tasks.
    """
    if table.get("BillingModeSummary", {}).get("BillingMode") == "PAY_PER_REQUEST":
        return None
    units = float(table.get("ProvisionedThroughput", {}).get(f"{kind}CapacityUnits", 0))
    return units * share / tasks if units else None


@dataclass(slots=True)
class Budget:
    """What one task may spend. Threads may share it.

    Args:
        per_sec: capacity units; None for no limit.
        clock: for waits.
    """

    per_sec: float | None
    clock: Clock
    _free_at: float = 0.0
    _changing: Lock = field(default_factory=Lock)

    def spend(self, call: Callable[[], tuple[float, Any]]) -> Any:
        """Wait until the budget allows another call, make it, and return its result.

        Args:
            call: returns the capacity units that it has used, and a result.
        """
        if self.per_sec is None:
            return call()[1]
        wait_secs = self._free_at - self.clock.monotonic()
        if wait_secs > 0:
            self.clock.sleep(wait_secs)
        units, result = call()
        with self._changing:
            earliest = self.clock.monotonic() - BURST_SECS
            self._free_at = max(self._free_at, earliest) + units / self.per_sec
        return result
