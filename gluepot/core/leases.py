"""What the leases of checkpoints and of jobs have in common: what proves that an owner is gone, and how one is watched.

A host name and a process number prove nothing. A pod of a StatefulSet keeps its host name when it restarts, while the
earlier pod may still run; containers of one host name have process numbers of their own; and numbers are used again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from gluepot.core.clock import Clock

TTL_SECS = 15.0
"""After so many seconds without a sign of life another owner may take a lease over."""

_WATCHES = 5
"""Looks at an owner's sign of life per lease time."""

SignT = TypeVar("SignT")


@dataclass(frozen=True, slots=True)
class Free:
    """The lease may be taken now."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The owner lives."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """Neither a lock nor the clock can tell: the owner lives if its sign of life changes while we watch."""


def is_gone(owner_host: str, here: str, *, locked: bool, lock_is_free: bool) -> bool:
    """Tell whether an owner's process has surely ended.

    Args:
        owner_host: name of the owner's machine.
        here: name of this one.
        locked: whether the owner is known to have locked the very file that we look at, for as long as it lives.
        lock_is_free: whether we could lock it: the kernel lets go of a lock however a process ends, and not before.
    """
    return locked and owner_host == here and lock_is_free


def watch(look: Callable[[], SignT | Free], seen: SignT, clock: Clock, ttl_secs: float) -> Free | Taken:
    """Watch an owner's sign of life for a lease time. Only that it changes counts: clocks of machines are not compared.

    Args:
        look: returns the sign as it is now, or Free once the lease was left.
        seen: the sign as it was.
        clock: for waiting.
        ttl_secs: how long a lease lives without a new sign.
    """
    for _ in range(_WATCHES):
        clock.sleep(ttl_secs / _WATCHES)
        now = look()
        if isinstance(now, Free):
            return now
        if now != seen:
            return Taken()
    return Free()
