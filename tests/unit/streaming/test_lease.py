from __future__ import annotations

import json

import pytest

from etlcore.clock import FakeClock, SystemClock
from etlcore.errors import CheckpointError, LeaseHeld
from etlcore.storage import LocalStorage, Storage
from streaming.lease import Beat, Free, Lease, Owner, Taken, Unclear, holder, judge, next_owner, take

HERE, THERE = "here", "there"
OWNER = Owner(number=3, token=30, host=HERE, pid=7)


@pytest.fixture
def storage(tmp_path) -> Storage:
    return LocalStorage(tmp_path)


def owned_elsewhere(storage: Storage, beat: Beat | None) -> None:
    """Leave what a driver on another machine leaves that is alive, or died."""
    storage.put("gluepot/lease/1.json", json.dumps({"number": 1, "token": 5, "host": THERE, "pid": 1}).encode())
    if beat:
        storage.put("gluepot/lease/1.beat", json.dumps({"epoch": beat.epoch, "released": beat.released}).encode())


@pytest.mark.parametrize(
    ("beat", "lock_is_free", "verdict"),
    [
        (Beat(100.0, released=True), False, Free()),
        (Beat(100.0), True, Free()),  # the kernel says that the process ended
        (Beat(100.0), False, Taken()),
        (Beat(80.0), False, Free()),  # stopped for longer than the lease
        (Beat(500.0), False, Free()),  # a clock that was set back
        (None, True, Free()),
        (None, False, Unclear()),
    ],
)
def test_an_owner_on_this_machine_is_judged_by_its_lock_then_by_its_beat(beat, lock_is_free, verdict):
    assert judge(OWNER, beat, HERE, 101.0, 15.0, lock_is_free=lock_is_free) == verdict


def test_clocks_of_two_machines_are_not_compared():
    assert judge(OWNER, Beat(100.0), THERE, 9e9, 15.0, lock_is_free=True) == Unclear()


def test_tokens_follow_the_clock_and_grow_even_when_it_does_not():
    assert next_owner(None, HERE, 1, 2.0).token == 2000
    assert next_owner(OWNER, HERE, 1, 0.001).token == 31
    assert next_owner(OWNER, HERE, 1, 0.001).number == 4


def test_a_second_driver_is_refused_with_the_name_of_the_first(storage):
    with take(storage, SystemClock(), host=HERE), pytest.raises(LeaseHeld, match=r"belongs to process \d+ on here"):
        take(storage, SystemClock(), host=HERE)


def test_a_lease_that_was_left_is_taken_at_once_with_a_higher_token(storage):
    clock = FakeClock(1.0)
    with take(storage, clock, host=HERE) as first:
        pass
    with take(storage, clock, host=THERE) as second:
        assert second.token > first.token
    assert clock.waits == []


def test_a_driver_elsewhere_whose_beat_stands_still_is_taken_over_after_a_lease_time(storage):
    owned_elsewhere(storage, Beat(100.0))
    clock = FakeClock(1.0)
    with take(storage, clock, host=HERE, ttl_secs=15.0) as lease:
        assert lease.token == 16_000  # the time it is then
    assert sum(clock.waits) == pytest.approx(15.0)


def test_a_driver_elsewhere_whose_beat_moves_is_left_alone(storage):
    class Beats(FakeClock):
        def sleep(self, secs: float) -> None:
            super().sleep(secs)
            owned_elsewhere(storage, Beat(self.now))

    owned_elsewhere(storage, Beat(0.0))
    with pytest.raises(LeaseHeld, match="process 1 on there"):
        take(storage, Beats(1.0), host=HERE)


def test_of_two_that_come_in_the_same_instant_one_is_refused(storage):
    class Overtaken(LocalStorage):
        def create(self, key: str, data: bytes) -> bool:
            return super().create(key, data) and super().create(key, data)

    with pytest.raises(LeaseHeld, match="at this moment"):
        take(Overtaken(storage.root), FakeClock(1.0), host=HERE)


def test_an_owner_learns_that_another_one_came(storage):
    lease: Lease = take(storage, SystemClock(), host=HERE, ttl_secs=0.06)
    lease.check()
    storage.put("gluepot/lease/2.json", json.dumps({"number": 2, "token": 9**20, "host": THERE, "pid": 1}).encode())
    lease._renewer.join(5)
    with pytest.raises(LeaseHeld, match="another driver took over"):
        lease.check()
    lease.__exit__()
    assert not json.loads(storage.get("gluepot/lease/1.beat"))["released"]


def test_only_the_last_owners_are_kept(storage):
    for _ in range(5):
        with take(storage, FakeClock(1.0), host=HERE):
            pass
    assert {key.split("/")[-1].split(".")[0] for key in storage.list("gluepot/lease")} == {"4", "5"}


def test_a_command_can_ask_who_holds_a_checkpoint(storage):
    assert holder(storage, FakeClock(1.0), host=HERE) is None
    with take(storage, SystemClock(), host=HERE):
        held = holder(storage, SystemClock(), host=HERE)
        assert held is not None
        assert held.number == 1
    assert holder(storage, SystemClock(), host=HERE) is None


def test_a_torn_owner_file_names_itself(storage):
    storage.put("gluepot/lease/1.json", b'{"num')
    with pytest.raises(CheckpointError, match=r"gluepot/lease/1\.json cannot be read"):
        take(storage, FakeClock(1.0))
