"""The side without guarantees still has whatever a driver asks of its lease."""

from __future__ import annotations

from benchmarks.drain.unsafe import unsafe
from gluepot.streaming.checkpoints import lease


def test_its_lease_can_be_asked_what_a_real_one_can():
    asked = {name for name in vars(lease.Lease) if not name.startswith("_")}
    with unsafe():
        held = lease.take("anything", asked=True)

    assert asked <= set(dir(held))
