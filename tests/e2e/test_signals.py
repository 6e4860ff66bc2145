"""SIGTERM and SIGINT: the first one ends the job between two batches, the second one at once."""

from __future__ import annotations

import os
import signal

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


def test_ctrl_c_in_a_terminal_finishes_the_batch_although_every_process_is_told(numbers_job, tmp_path):
    job = numbers_job(3)

    os.killpg(job.process.pid, signal.SIGINT)

    assert job.exit_code() == 0, job.err
    assert len(column(tmp_path / "table", "n")) == 100


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_second_signal_ends_the_job_at_once_and_leaves_no_process_behind(numbers_job, number, code):
    job = numbers_job(60)
    started_by_it = psutil.Process(job.process.pid).children(recursive=True)

    job.signal(number)
    job.wait_until(lambda: job.said("stopping"), "the answer to the first signal")
    job.signal(number)

    assert job.exit_code(secs=5) == code
    _, left = psutil.wait_procs(started_by_it, timeout=20)
    assert (len(started_by_it) > 0, left) == (True, [])
