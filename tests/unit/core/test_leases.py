from __future__ import annotations

import pytest

from gluepot.core.clock import FakeClock
from gluepot.core.leases import Free, Taken, is_gone, watch


@pytest.mark.parametrize(
    ("owner_host", "locked", "lock_is_free", "gone"),
    [
        ("here", True, True, True),
        ("here", True, False, False),
        ("here", False, True, False),  # another pod of the same name, or none
        ("there", True, True, False),  # a lock that only the other machine knows of
    ],
)
def test_only_a_lock_that_the_owner_had_on_this_machine_proves_its_end(owner_host, locked, lock_is_free, gone):
    assert is_gone(owner_host, "here", locked=locked, lock_is_free=lock_is_free) == gone


@pytest.mark.parametrize(
    ("signs", "verdict", "looks"),
    [
        ([7, 7, 7, 7, 7], Free(), 5),
        ([7, 7, 8], Taken(), 3),
        ([7, Free()], Free(), 2),
        ([None, 7], Taken(), 1),
    ],
)
def test_an_owner_lives_if_its_sign_changes_within_the_lease_time(signs, verdict, looks):
    clock, coming = FakeClock(), iter(signs)
    assert watch(lambda: next(coming), 7, clock, ttl_secs=10.0) == verdict
    assert clock.waits == [2.0] * looks
