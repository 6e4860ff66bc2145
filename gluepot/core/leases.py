"""The common rules for leases of checkpoints and of jobs: how to prove that an owner has ended, and how to watch one.

A host name and a process number prove nothing. A pod of a StatefulSet keeps its host name when it restarts, while the
earlier pod may still run. Containers with the same host name number their processes separately, and the system uses
process numbers again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from gluepot.core.clock import Clock

TTL_SECS = 15.0
"""After this many seconds without a sign of life another owner may take over a lease."""

_WATCHES = 5
"""How often we look at an owner's sign of life during one lease time."""

SignT = TypeVar("SignT")


@dataclass(frozen=True, slots=True)
class Free:
    """The lease may be taken now."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The owner is alive."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """Neither a lock nor the clock shows whether the owner is alive; watching its sign of life can show it."""


def is_gone(owner_host: str, here: str, *, locked: bool, lock_is_free: bool) -> bool:
    """Return whether an owner's process has certainly ended.

    Args:
        owner_host: name of the owner's machine.
        here: name of this machine.
        locked: whether the owner is known to have locked the same file that we look at, for its whole life.
        lock_is_free: whether we could lock that file. The kernel releases a lock when, and only when, the process ends,
            in whatever way.
    """
    return locked and owner_host == here and lock_is_free


def watch(look: Callable[[], SignT | Free], seen: SignT, clock: Clock, ttl_secs: float) -> Free | Taken:
    """Watch an owner's sign of life for one lease time. Only a change counts, because machines' clocks may differ.

    Args:
        look: returns the present sign, or Free if the owner has left the lease.
        seen: the sign that was read before.
        clock: for waiting.
        ttl_secs: how long a lease is valid without a new sign.
    """
    for _ in range(_WATCHES):
        clock.sleep(ttl_secs / _WATCHES)
        now = look()
        if isinstance(now, Free):
            return now
        if now != seen:
            return Taken()
    return Free()
