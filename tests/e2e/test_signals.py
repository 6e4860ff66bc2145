"""SIGTERM and SIGINT: the first one ends a stream between two batches, the second one at once."""

from __future__ import annotations

import os
import random
import signal
import time

import psutil
import pytest

from tests.e2e.jobs import SCRIPTS, arguments, column


@pytest.fixture
def numbers_job(launch, topic, tmp_path):
    """Start the job over 300 records in batches of 100, and wait until it is within its first batch."""
    topic.send_numbers(range(300))
    (tmp_path / "temp").mkdir()

    def start(pause_secs: float, *options: str):
        job = launch.gluepot(
            "run", SCRIPTS / "number_stream.py", *options, "--master", "local[2]", "--",
            *arguments(JOB_NAME="numbers", TempDir=tmp_path / "temp", output_path=tmp_path / "table"),
            *arguments(bootstrap=topic.bootstrap, topic=topic.name, pause=pause_secs),
        )  # fmt: skip
        job.wait_until((tmp_path / "temp/in-batch-0").exists, "the first batch")
        return job

    return start


def test_a_sigterm_in_mid_batch_ends_the_job_with_0_and_the_next_start_completes_the_table(numbers_job, tmp_path):
    job = numbers_job(3)

    job.signal(signal.SIGTERM)

    assert job.exit_code() == 0, job.err
    assert "committed" in job.out
    assert len(column(tmp_path / "table", "n")) == 100

    again = numbers_job(0, "--until-caught-up")

    assert again.exit_code() == 0, again.err
    assert column(tmp_path / "table", "n") == list(range(300))


# A SIGTERM to the driver alone and one to every process are the tests before and after this one.
@pytest.mark.parametrize("number", [pytest.param(signal.SIGTERM, marks=pytest.mark.long), signal.SIGINT])
def test_a_signal_to_the_whole_group_finishes_the_batch(numbers_job, tmp_path, number):
    job = numbers_job(3)

    os.killpg(job.process.pid, number)

    assert job.exit_code() == 0, job.err
    assert "Traceback" not in job.err
    assert len(column(tmp_path / "table", "n")) == 100


def test_a_sigterm_to_every_process_of_the_job_finishes_the_batch(numbers_job, tmp_path):
    job = numbers_job(3, "--batch-option", "smallBatchRecords=0")
    job.wait_until((tmp_path / "temp/in-batch-1").exists, "a batch after the first one has started workers")
    driver = psutil.Process(job.process.pid)
    started = [one for one in driver.children(recursive=True) if one.status() != psutil.STATUS_ZOMBIE]
    processes = [driver, *started]
    assert any("worker_daemon" in " ".join(one.cmdline()) for one in processes)

    for one in processes:
        one.terminate()

    assert job.exit_code() == 0, job.err
    assert "Traceback" not in job.err
    assert len(column(tmp_path / "table", "n")) == 200
    _, left = psutil.wait_procs(processes, timeout=20)
    assert left == []


@pytest.mark.long
def test_signals_to_the_whole_group_at_any_moment_lose_nothing(launch, topic, tmp_path):
    topic.send_numbers(range(2_000))
    (tmp_path / "temp").mkdir()
    seed = random.randrange(1_000_000)
    chance = random.Random(seed)

    def start(*options: str):
        return launch.gluepot(
            "run", SCRIPTS / "number_stream.py", *options, "--master", "local[2]", "--",
            *arguments(JOB_NAME="numbers", TempDir=tmp_path / "temp", output_path=tmp_path / "table"),
            *arguments(bootstrap=topic.bootstrap, topic=topic.name, pause=0),
        )  # fmt: skip

    for _ in range(20):
        job, number = start(), chance.choice([signal.SIGTERM, signal.SIGINT])
        time.sleep(chance.uniform(0, 12))
        os.killpg(job.process.pid, number)
        # Before the stream runs, a signal ends the job at once.
        assert job.exit_code(secs=60) in {0, 128 + number}, (seed, job.err)
        assert "Traceback" not in job.err, (seed, job.err)
    last = start("--until-caught-up")
    assert last.exit_code() == 0, (seed, last.err)
    assert column(tmp_path / "table", "n") == list(range(2_000)), seed


# Both signals have one handler, and a first SIGINT is that of the group above: twice the same one is tried with SIGTERM.
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.long)]
)
def test_a_second_signal_ends_the_job_at_once_and_leaves_no_process_behind(numbers_job, number, code):
    job = numbers_job(60)
    started_by_it = psutil.Process(job.process.pid).children(recursive=True)

    job.signal(number)
    job.wait_until(lambda: job.said("stopping"), "the answer to the first signal")
    job.signal(number)

    assert job.exit_code(secs=5) == code
    _, left = psutil.wait_procs(started_by_it, timeout=20)
    assert (len(started_by_it) > 0, left) == (True, [])
