from __future__ import annotations

import json
import os
import socket
import threading
from dataclasses import dataclass, replace

import pytest

from gluepot.core.clock import FakeClock, SystemClock
from gluepot.core.errors import CheckpointError, LeaseHeld, TransientError
from gluepot.core.storage import LocalStorage, Storage
from gluepot.streaming.checkpoints.lease import (
    Beat,
    Free,
    Lease,
    Owner,
    Taken,
    Unclear,
    holder,
    judge,
    next_owner,
    take,
)

HERE, THERE = "here", "there"
OWNER = Owner(number=3, token=30, host=HERE, pid=7, locked=True)


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
        (Beat(86.0), False, Unclear()),
        (Beat(80.0), False, Unclear()),  # stopped for longer than the lease, or the clock was set forward
        (Beat(500.0), False, Unclear()),  # the clock was set back
        (None, True, Free()),
        (None, False, Unclear()),
    ],
)
def test_an_owner_on_this_machine_is_judged_by_its_lock_then_by_its_beat(beat, lock_is_free, verdict):
    assert judge(OWNER, beat, HERE, 101.0, 15.0, lock_is_free=lock_is_free) == verdict


def test_an_owner_without_a_lock_may_be_an_earlier_pod_of_the_same_name():
    assert judge(replace(OWNER, locked=False), Beat(100.0), HERE, 101.0, 15.0, lock_is_free=False) == Unclear()


def test_clocks_of_two_machines_are_not_compared():
    assert judge(OWNER, Beat(100.0), THERE, 9e9, 15.0, lock_is_free=True) == Unclear()


def test_tokens_follow_the_clock_and_grow_even_when_it_does_not():
    assert next_owner(None, HERE, 1, 2.0, "nonce", locked=True).token == 2000
    assert next_owner(OWNER, HERE, 1, 0.001, "nonce", locked=True).token == 31
    assert next_owner(OWNER, HERE, 1, 0.001, "nonce", locked=True).number == 4


def test_an_owner_names_its_machine_and_process(storage):
    with take(storage, FakeClock(1.0)):
        owner = json.loads(storage.get("gluepot/lease/1.json"))
        assert (owner["host"], owner["pid"]) == (socket.gethostname(), os.getpid())
        assert holder(storage, FakeClock(1.0)) is not None


def test_a_second_driver_is_refused_with_the_name_of_the_first(storage):
    with take(storage, SystemClock(), host=HERE), pytest.raises(LeaseHeld, match=r"belongs to process \d+ on here"):
        take(storage, SystemClock(), host=HERE)


def test_a_later_owner_is_refused_to_others_as_the_first_one_is(storage):
    for _ in range(2):
        with take(storage, SystemClock(), host=HERE), pytest.raises(LeaseHeld, match=r"process \d+ on here"):
            take(storage, SystemClock(), host=HERE)


def test_a_lease_that_was_left_is_taken_at_once_with_a_higher_token(storage):
    clock = FakeClock(1.0)
    with take(storage, clock, host=HERE) as first:
        pass
    with take(storage, clock, host=THERE) as second:
        assert second.token > first.token
    assert clock.waits == []


def test_a_lease_that_was_left_keeps_no_lock(storage):
    lease = take(storage, FakeClock(1.0), host=HERE)
    assert storage.lock("gluepot/lease/1.lock") is None
    lease.__exit__()
    assert storage.lock("gluepot/lease/1.lock") is not None


def test_a_renewal_that_is_under_way_does_not_take_back_that_the_lease_was_left(tmp_path):
    begun, left = threading.Event(), threading.Event()

    class Slow(LocalStorage):
        def put(self, key: str, data: bytes) -> None:
            if threading.current_thread() is not threading.main_thread():
                begun.set()
                left.wait(0.02)  # in vain, because an owner that leaves waits for its renewal
            super().put(key, data)
            if json.loads(data)["released"]:
                left.set()

    others = threading.enumerate()
    lease = take(Slow(tmp_path), FakeClock(1.0), host=HERE, ttl_secs=0.003)
    (renewer,) = (one for one in threading.enumerate() if one not in others)
    assert renewer.daemon  # so it keeps no process alive
    assert begun.wait(5)
    lease.__exit__()
    renewer.join(5)
    assert json.loads((tmp_path / "gluepot/lease/1.beat").read_text())["released"]


@pytest.mark.parametrize("beat", [Beat(100.0), None], ids=["it stopped", "it died at once"])
def test_a_driver_elsewhere_whose_beat_stands_still_is_taken_over_after_a_lease_time(storage, beat):
    owned_elsewhere(storage, beat)
    clock = FakeClock(1.0)
    with take(storage, clock, host=HERE, ttl_secs=15.0) as lease:
        assert lease.token == 16_000  # the time it is then
    assert sum(clock.waits) == pytest.approx(15.0)


@dataclass(slots=True)
class OwnerBeats(FakeClock):
    """A clock during whose sleeps the first owner renews its lease."""

    storage: Storage | None = None

    def sleep(self, secs: float) -> None:
        FakeClock.sleep(self, secs)
        self.storage.put("gluepot/lease/1.beat", json.dumps({"epoch": self.now}).encode())


def test_a_driver_elsewhere_whose_beat_moves_is_left_alone(storage):
    owned_elsewhere(storage, Beat(0.0))
    with pytest.raises(LeaseHeld, match="process 1 on there"):
        take(storage, OwnerBeats(1.0, storage=storage), host=HERE)


def test_a_driver_on_this_machine_that_has_ended_is_taken_over_at_once(storage):
    owner = {"number": 1, "token": 5, "host": HERE, "pid": 1, "locked": True}
    storage.put("gluepot/lease/1.json", json.dumps(owner).encode())
    storage.put("gluepot/lease/1.beat", json.dumps({"epoch": 1.0}).encode())
    clock = FakeClock(1.0)
    with take(storage, clock, host=HERE) as lease:
        assert lease.token > owner["token"]
    assert clock.waits == []


class WithoutLocks(LocalStorage):
    """Stores files without locks, as S3 does."""

    def lock(self, key: str) -> None:
        return None


def test_a_restarted_pod_that_kept_its_host_name_waits_for_the_lease_and_then_goes_on(tmp_path):
    storage = WithoutLocks(tmp_path)
    killed = take(storage, FakeClock(100.0), host=HERE)
    clock = FakeClock(101.0)
    with take(storage, clock, host=HERE, ttl_secs=15.0) as heir:
        assert heir.token > killed.token
    assert sum(clock.waits) == pytest.approx(15.0)
    killed.__exit__()


def test_a_clock_that_was_set_evicts_no_driver_that_holds_its_lock_and_renews_its_lease(storage):
    with (
        take(storage, FakeClock(1000.0), host=HERE, ttl_secs=15.0),
        pytest.raises(LeaseHeld, match=r"belongs to process \d+ on here"),
    ):
        take(storage, OwnerBeats(1020.0, storage=storage), host=HERE, ttl_secs=15.0)


def test_a_stopped_driver_that_holds_its_lock_is_taken_over_after_a_lease_time(storage):
    stopped = take(storage, FakeClock(1000.0), host=HERE, ttl_secs=15.0)
    clock = FakeClock(1020.0)
    with take(storage, clock, host=HERE, ttl_secs=15.0) as heir:
        assert heir.token > stopped.token
    assert sum(clock.waits) == pytest.approx(15.0)
    stopped.__exit__()


def test_a_lost_reply_to_our_own_creation_is_no_other_driver(storage):
    class LostReply(LocalStorage):
        def create(self, key: str, data: bytes) -> bool:
            return super().create(key, data) and super().create(key, data)

    with take(LostReply(storage.root), FakeClock(1.0), host=HERE) as lease:
        assert lease.token == 1000


@pytest.mark.parametrize("kind", [LocalStorage, WithoutLocks])
def test_of_two_that_come_in_the_same_instant_one_is_refused_and_keeps_no_lock(storage, kind):
    class Overtaken(kind):
        def create(self, key: str, data: bytes) -> bool:
            return super().create(key, data.replace(b"ours", b"theirs")) and super().create(key, data)

    with pytest.raises(LeaseHeld) as refused:
        take(Overtaken(storage.root), FakeClock(1.0), host=HERE, nonce="ours")
    assert storage.lock("gluepot/lease/1.lock") is not None
    assert "at this moment" in str(refused.value)  # it is kept until here, with the lock if that was not released


def test_a_listing_that_still_names_a_removed_owner_is_not_believed(storage):
    class OutOfDate(LocalStorage):
        def list(self, folder, skip=()):
            return [*super().list(folder, skip), "gluepot/lease/9.json"]

        def get(self, key: str) -> bytes:
            assert asked.count(key) < 3
            asked.append(key)
            return super().get(key)

    asked: list[str] = []
    with take(storage, FakeClock(1.0), host=HERE):
        pass
    with take(OutOfDate(storage.root), FakeClock(2.0), host=THERE):
        assert json.loads(storage.get("gluepot/lease/2.json"))["host"] == THERE


def test_an_owner_learns_that_another_one_came(storage):
    lease: Lease = take(storage, SystemClock(), host=HERE, ttl_secs=0.06)
    lease.check()
    storage.put("gluepot/lease/2.json", json.dumps({"number": 2, "token": 9**20, "host": THERE, "pid": 1}).encode())
    lease._renewer.join(5)
    with pytest.raises(LeaseHeld, match="another driver took over"):
        lease.check()
    lease.__exit__()
    assert not json.loads(storage.get("gluepot/lease/1.beat"))["released"]


def test_an_owner_whose_beats_did_not_go_out_asks_before_it_begins_a_batch(storage):
    clock = FakeClock(1.0)
    with take(storage, clock, host=HERE, ttl_secs=600.0) as lease:
        storage.put("gluepot/lease/2.json", json.dumps({"number": 2, "token": 9**20, "host": THERE, "pid": 1}).encode())
        lease.confirm()  # renewed a moment ago
        clock.sleep(301.0)
        lease.check()
        with pytest.raises(LeaseHeld, match="another driver took over"):
            lease.confirm()
        assert json.loads(storage.get("gluepot/lease/1.beat"))["epoch"] == 1.0


def test_an_owner_that_cannot_ask_begins_no_batch(tmp_path):
    class Gone(LocalStorage):
        def list(self, folder, skip=()):
            if self.url == str(tmp_path) and gone:
                raise TransientError("no answer")
            return super().list(folder, skip)

    gone: list[bool] = []
    clock = FakeClock(1.0)
    with take(Gone(tmp_path), clock, host=HERE, ttl_secs=600.0) as lease:
        clock.sleep(301.0)
        gone.append(True)
        with pytest.raises(TransientError, match="no answer"):
            lease.confirm()
        gone.clear()
        lease.confirm()
        gone.append(True)
        clock.sleep(300.0)
        lease.confirm()  # it was renewed half a lease time ago


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


def test_a_command_that_asks_keeps_no_lock(storage):
    locks = []

    class Remembered(LocalStorage):
        """Keeps each lock, which would else end when it is forgotten."""

        def lock(self, key: str):
            locks.append(super().lock(key))
            return locks[-1]

    owned_elsewhere(storage, None)
    owner = json.loads(storage.get("gluepot/lease/1.json")) | {"host": HERE, "locked": True}
    storage.put("gluepot/lease/1.json", json.dumps(owner).encode())
    clock = FakeClock(1.0)
    for _ in range(2):  # the owner's process has ended
        assert holder(Remembered(storage.root), clock, host=HERE) is None
    assert (len(locks), clock.waits) == (2, [])


def test_a_torn_owner_file_names_itself(storage):
    storage.put("gluepot/lease/1.json", b'{"num')
    with pytest.raises(CheckpointError, match=r"gluepot/lease/1\.json cannot be read"):
        take(storage, FakeClock(1.0))


def test_an_owner_that_leaves_while_it_is_watched_is_followed_at_once(storage):
    class OwnerLeaves(OwnerBeats):
        def sleep(self, secs: float) -> None:
            FakeClock.sleep(self, secs)
            self.storage.put("gluepot/lease/1.beat", json.dumps({"epoch": self.now, "released": True}).encode())

    owned_elsewhere(storage, Beat(100.0))
    clock = OwnerLeaves(1.0, storage=storage)
    with take(storage, clock, host=HERE, ttl_secs=15.0) as lease:
        assert lease.token > 5
    assert len(clock.waits) == 1


def test_an_owner_goes_on_as_long_as_no_other_one_came(storage):
    class Rounds:
        """Lets the renewal go round twice."""

        def __init__(self):
            self.left = [False, False, True]

        def wait(self, secs):
            return self.left.pop(0)

    clock = FakeClock(1.0)
    with take(storage, clock, host=HERE) as lease:
        left, lease._left = lease._left, Rounds()
        clock.now = 7.0
        lease._renew()
        lease._left = left
        lease.check()
        assert json.loads(storage.get("gluepot/lease/1.beat"))["epoch"] == 7.0
