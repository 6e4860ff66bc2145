"""Two drivers on one checkpoint: the second is refused; one that was paused and wakes up publishes no more.

GLUEPOT_DRIVER_ROUNDS=10 does all of it ten times.
"""

from __future__ import annotations

import os
import signal

import psutil
import pytest

from tests.e2e.jobs import SCRIPTS, arguments, column

each_round = pytest.mark.parametrize("round_number", range(int(os.environ.get("GLUEPOT_DRIVER_ROUNDS", "1"))))


@pytest.fixture
def start(launch, topic, tmp_path):
    """Start the job over 300 records in batches of 100, on the checkpoint that all of a test's jobs share."""
    topic.send_numbers(range(300))
    (tmp_path / "temp").mkdir()

    def started(*options: str, **env: str):
        command = [
            "run", SCRIPTS / "number_stream.py", *options, "--master", "local[2]", "--",
            *arguments(JOB_NAME="numbers", TempDir=tmp_path / "temp", output_path=tmp_path / "table"),
            *arguments(bootstrap=topic.bootstrap, topic=topic.name, pause=0),
        ]  # fmt: skip
        return launch.gluepot(*command, env=env)

    return started


@each_round
def test_a_second_driver_is_refused_with_its_own_exit_code_and_the_first_goes_on(start, tmp_path, round_number):
    hold = tmp_path / "temp/hold"
    hold.touch()
    first = start("--until-caught-up")
    first.wait_until((tmp_path / "temp/in-batch-0").exists, "the first batch")

    second = start()

    assert second.exit_code() == 4, second.err
    assert f"belongs to process {first.process.pid} on" in second.sentences()[-1]
    hold.unlink()
    assert first.exit_code() == 0, first.err
    assert column(tmp_path / "table", "n") == list(range(300))


# The places are before anything is published, and just before all of it is: in between a batch is seen as before. That a
# driver may be paused before each single action is shown by tests/unit/commit/test_commit_model.py for the same code.
@each_round
@pytest.mark.parametrize(
    "places",
    [
        pytest.param(["batch.staged", "publish.manifest_temp"], id="first and last"),
        pytest.param(
            ["batch.staged", "publish.intent", "storage.moved", "publish.manifest_temp"],
            id="all",
            marks=pytest.mark.long,
        ),
    ],
)
def test_paused_drivers_that_wake_up_after_their_lease_publish_nothing(start, tmp_path, round_number, places):
    zombies = []
    # Each driver takes the checkpoint over from the one before it, runs the open batch anew, and is paused in it.
    for place in places:
        zombie = start("--lease-secs", "2", GLUEPOT_FAILPOINT=place, GLUEPOT_FAILPOINT_ACTION="stop")
        python = psutil.Process(zombie.process.pid)
        zombie.wait_until(lambda python=python: python.status() == psutil.STATUS_STOPPED, f"the pause at {place}")
        zombies.append(zombie)

    heir = start("--until-caught-up", "--lease-secs", "2")
    assert heir.exit_code() == 0, heir.err
    assert column(tmp_path / "table", "n") == list(range(300))

    for zombie in zombies:
        zombie.signal(signal.SIGCONT)
        assert zombie.exit_code() == 4, zombie.err
        assert column(tmp_path / "table", "n") == list(range(300))
