"""How much memory this process may use."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


def memory_bytes() -> int:
    """Return how much memory this process may use at most: the machine's, or that of its container."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):  # no limit is called `max`
        return min(machine, int(_CONTAINER_LIMIT.read_text()))
    return machine
