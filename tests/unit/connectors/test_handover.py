import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from gluepot.connectors.streams.handover import Handover
from gluepot.core.clock import FakeClock
from gluepot.core.errors import CheckpointError, ConfigError, DataLoss, TransientError


@pytest.fixture
def handover():
    return Handover.create()


@pytest.fixture
def in_an_hour():
    return FakeClock(now=time.time() + 3600)


def test_the_checkpoint_is_unknown_until_the_query_begins(handover):
    assert handover.checkpoint() is None
    handover.begin("/ck")
    assert handover.checkpoint() == "/ck"


def test_a_stop_lasts_until_the_next_attempt(handover):
    handover.begin("/ck")
    assert not handover.stop_asked()
    handover.ask_stop()
    assert handover.stop_asked()
    handover.begin("/ck")
    assert not handover.stop_asked()


@pytest.mark.parametrize("kind", [DataLoss, ConfigError, TransientError, CheckpointError])
def test_an_error_comes_back_as_it_was_raised(handover, kind):
    handover.report(kind("one sentence."))

    again = handover.reported()

    assert type(again) is kind
    assert str(again) == "one sentence."


def test_an_error_of_an_earlier_attempt_is_forgotten(handover):
    handover.report(DataLoss("gone"))
    handover.begin("/ck")
    assert handover.reported() is None


CREATE = "from gluepot.connectors.streams.handover import Handover; print(Handover.create().folder, flush=True); {}"
KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


def created_elsewhere(ending):
    return subprocess.Popen(
        [sys.executable, "-c", CREATE.format(ending)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def folder_of(process):
    return Path(process.stdout.readline().decode().strip())


def test_what_a_killed_driver_left_is_removed_by_the_next_one(in_an_hour):
    with created_elsewhere(KILLED) as killed:
        folder = folder_of(killed)
    assert folder.exists()
    Handover.create(in_an_hour)
    assert not folder.exists()


def test_the_folder_of_a_driver_that_lives_stays(in_an_hour):
    own = Handover.create().folder
    with created_elsewhere("input()") as other:
        folder = folder_of(other)
        Handover.create(in_an_hour)
        assert folder.exists()
        assert own.exists()
        other.communicate(b"\n")


def test_a_young_folder_stays_because_its_driver_may_not_own_it_yet():
    with created_elsewhere(KILLED) as killed:
        folder = folder_of(killed)
    Handover.create()
    assert folder.exists()


@pytest.fixture
def planted():
    """A folder in the shared temporary folder that looks like one of ours."""
    folder = Path(tempfile.mkdtemp(prefix="gluepot-stream-"))
    yield folder
    shutil.rmtree(folder)


def test_a_fifo_in_the_shared_temporary_folder_is_not_opened(planted, in_an_hour):
    os.mkfifo(planted / "owner")
    other_end = os.open(planted / "owner", os.O_RDWR)  # or opening it would wait, and a failing test with it
    Handover.create(in_an_hour)
    os.close(other_end)
    assert planted.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder to another user")
def test_the_folder_of_another_user_stays(planted, in_an_hour):
    (planted / "owner").touch()
    os.chown(planted, 12345, 12345)
    Handover.create(in_an_hour)
    assert planted.exists()
