"""Whether the owner of a job's lease has ended: by its lock on this machine, never by its host name or its number."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gluepot.bookmarks.ledger import Held, Owner, RunStart, open_ledger, owner_lock
from gluepot.bookmarks.ledger.lease import begin_run
from gluepot.bookmarks.ledger.owner_lock import OwnerLock, lock_folder
from gluepot.core.clock import FakeClock
from gluepot.core.errors import LeaseHeld

LEDGER, JOB = "sqlite:///ledger.db", "clicks"
HERE = Owner("pod-0", 1)
NO_PROCESS = 2**22 + 1
"""A number that no process has here; one of another pod's may."""


class Beating(FakeClock):
    """A clock during whose sleeps the owner gives signs of life."""

    def sleep(self, secs):
        super().sleep(secs)
        self.ledger.beat(self.run)


@pytest.fixture
def ledger(tmp_path):
    opened = open_ledger(f"sqlite:///{tmp_path}/ledger.db", FakeClock(1_000.0))
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "leases"


@pytest.fixture
def lock(folder):
    def lock(job=JOB, ledger=LEDGER):
        return OwnerLock(folder, ledger, job)

    return lock


def start(run_id):
    return RunStart(JOB, run_id, "enable")


def test_a_pod_of_the_same_name_with_numbers_of_its_own_is_not_taken_for_dead(ledger, lock):
    clock = Beating()
    clock.ledger, clock.run = ledger, ledger.begin(start("jr_1"), Owner(HERE.host, NO_PROCESS), None)
    with lock() as ours, pytest.raises(LeaseHeld, match=f"process {NO_PROCESS} on pod-0"):
        begin_run(ledger, start("jr_2"), HERE, clock, lock=ours)


def test_a_pod_of_the_same_name_that_gives_no_sign_of_life_is_waited_for(ledger, lock):
    ledger.begin(start("jr_1"), Owner(HERE.host, NO_PROCESS), None)
    clock = FakeClock()
    with lock() as ours:
        begin_run(ledger, start("jr_2"), HERE, clock, ttl_secs=10, lock=ours)
    assert sum(clock.waits) == pytest.approx(10)


def test_a_dead_owner_whose_number_is_in_use_again_is_taken_over_at_once(ledger, lock):
    with lock() as dead:
        begin_run(ledger, start("jr_1"), Owner(HERE.host, os.getpid()), FakeClock(), lock=dead)
    clock = FakeClock()
    with lock() as ours:
        begin_run(ledger, start("jr_2"), Owner(HERE.host, os.getpid()), clock, lock=ours)
    assert clock.waits == []


def test_an_owner_that_lives_and_is_stopped_is_waited_for(ledger, lock):
    clock = FakeClock()
    with lock() as stopped:
        begin_run(ledger, start("jr_1"), HERE, FakeClock(), lock=stopped)
        with lock() as ours:
            assert not ours.is_ours
            begun = begin_run(ledger, start("jr_2"), HERE, clock, ttl_secs=10, lock=ours)
    assert sum(clock.waits) == pytest.approx(10)
    with lock() as heir:  # the lock still names the stopped one
        assert heir.is_ours
        assert not heir.was_of(begun.token)


def killed(ledger, lock) -> Held:
    with lock() as dead:
        begin_run(ledger, start("jr_1"), HERE, FakeClock(), lock=dead)
    return ledger.lease(JOB)


def waited_secs(ledger, ours, here=HERE) -> float:
    clock = FakeClock()
    begin_run(ledger, start("jr_2"), here, clock, ttl_secs=10, lock=ours)
    return sum(clock.waits)


def test_a_lock_of_the_time_before_a_restart_of_the_machine_proves_nothing(ledger, lock, tmp_path, monkeypatch):
    boot_id = tmp_path / "boot_id"
    monkeypatch.setattr(owner_lock, "_BOOT_ID", boot_id)
    boot_id.write_text("before")
    killed(ledger, lock)
    boot_id.write_text("now")
    with lock() as ours:
        assert waited_secs(ledger, ours) == pytest.approx(10)


def test_a_lock_on_another_machine_proves_nothing(ledger, lock):
    killed(ledger, lock)
    with lock() as ours:
        assert waited_secs(ledger, ours, Owner("pod-1", 1)) == pytest.approx(10)


def test_jobs_and_ledgers_have_locks_of_their_own(lock):
    with lock() as one, lock("orders") as of_other_job, lock(ledger="sqlite:///other.db") as of_other_ledger:
        assert one.is_ours
        assert of_other_job.is_ours
        assert of_other_ledger.is_ours


def test_a_machine_that_has_no_room_for_locks_waits(ledger, folder, lock):
    folder.write_text("no folder")
    killed(ledger, lock)
    with lock() as ours:
        assert not ours.is_ours
        assert waited_secs(ledger, ours) == pytest.approx(10)


def test_a_user_without_a_home_waits(ledger, monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(owner_lock.Path, "home", homeless)
    assert lock_folder({"GLUEPOT_STATE": "/state"}) == Path("/state/leases")
    with OwnerLock(lock_folder({}), LEDGER, JOB) as dead:
        begin_run(ledger, start("jr_1"), HERE, FakeClock(), lock=dead)
        assert waited_secs(ledger, dead) == pytest.approx(10)


def test_a_mark_is_in_the_file_as_soon_as_it_is_made_and_replaces_the_one_before(lock):
    with lock() as first, lock() as looking:
        first.mark(1_234)
        assert looking.was_of(1_234)
    with lock() as second, lock() as looking:
        second.mark(7)
        assert looking.was_of(7)
        looking.mark(8)  # without the lock
        assert looking.was_of(7)


def test_a_file_that_is_no_mark_proves_nothing(ledger, folder, lock):
    killed(ledger, lock)
    (file,) = folder.iterdir()
    file.write_bytes(b"\xff\x00")
    with lock() as ours:
        assert waited_secs(ledger, ours) == pytest.approx(10)
