"""A lease that another driver takes while no batch runs: the job ends with that error, not as if all was well."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from pathlib import Path

import pytest

from gluepot.core.clock import SystemClock
from gluepot.core.errors import LeaseHeld
from gluepot.streaming.checkpoints.lease import Owner
from gluepot.streaming.query import session
from tests.e2e.jobs import wait_until

HEIR = Owner(number=2, token=2**60, host="elsewhere", pid=1)


class OvertakenAsleep(SystemClock):
    """A clock whose first wait lasts until another driver has taken the lease, and the owner has learnt of it."""

    def __init__(self, checkpoint: Path) -> None:
        self._owners = checkpoint / "gluepot/lease"

    def sleep(self, secs: float) -> None:
        (self._owners / f"{HEIR.number}.json").write_text(json.dumps(asdict(HEIR)))
        wait_until(lambda: "gluepot-lease" not in {one.name for one in threading.enumerate()}, "the loss of the lease")


def fail(frame, batch_id):
    raise RuntimeError("no")


def ask_for_a_pause(frame, batch_id):
    (status,) = session.current().status.queries()
    session.current().pauses.ask(status.query)


@pytest.mark.parametrize("function", [fail, ask_for_a_pause])
def test_a_lease_lost_between_two_attempts_or_in_a_pause_ends_the_job_with_an_error(numbers, function):
    called = []

    def counted(frame, batch_id):
        called.append(batch_id)
        function(frame, batch_id)

    with pytest.raises(LeaseHeld, match="another driver took over"):
        numbers.run(counted, max_batches=None, clock=OvertakenAsleep(numbers.checkpoint), lease_secs=0.3)

    assert called == [0]
    assert [(one.lease, one.ended) for one in session.current().status.queries()] == [("lost", True)]
