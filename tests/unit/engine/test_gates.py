from __future__ import annotations

import pytest

from gluepot.bookmarks.ledger import Owner, RunStart, open_ledger
from gluepot.bookmarks.upstream_jobs import POLL_SECS, wait_for
from gluepot.core.clock import FakeClock
from gluepot.core.errors import TransientError

HERE = Owner("here", 1)


class Gated:
    def __init__(self, folder):
        self.clock = FakeClock(1_000.0)
        self.ledger = open_ledger(f"sqlite:///{folder}/ledger.db", self.clock)

    def begin(self, job):
        self.clock.sleep(10)
        return self.ledger.begin(RunStart(job, f"jr_{self.clock.now}", "enable"), HERE, None)

    def run(self, job):
        begun = self.begin(job)
        self.clock.sleep(10)
        self.ledger.commit(begun, {})

    def wait(self, most_secs=0.0):
        before = self.clock.now
        self.ages_secs = wait_for(self.ledger, "report", ["load"], self.clock, most_secs)
        return self.clock.now - before


@pytest.fixture
def jobs(tmp_path):
    made = Gated(tmp_path)
    yield made
    made.ledger.close()


def test_a_job_waits_for_one_that_never_committed(jobs):
    jobs.begin("load")
    with pytest.raises(TransientError, match="job load has committed nothing yet, after 12 s of waiting"):
        jobs.wait(12)
    assert jobs.clock.now >= 1_022


def test_a_job_that_never_ran_goes_on_after_the_others_first_commit(jobs):
    jobs.run("load")
    assert jobs.wait() == 0


def test_a_job_that_has_seen_the_last_commit_waits_for_the_next(jobs):
    jobs.run("load")
    jobs.run("report")
    with pytest.raises(TransientError, match="nothing since the last run began"):
        jobs.wait(POLL_SECS)
    jobs.run("load")
    assert jobs.wait() == 0


def test_what_was_committed_while_the_job_ran_counts_as_not_seen(jobs):
    jobs.run("load")
    running = jobs.begin("report")
    jobs.run("load")
    jobs.ledger.commit(running, {})
    assert jobs.wait() == 0


def test_a_failed_run_is_no_progress(jobs):
    jobs.ledger.fail(jobs.begin("load"), "no room")
    with pytest.raises(TransientError, match="has committed nothing yet"):
        jobs.wait()


def test_a_stream_makes_progress_while_it_runs(jobs):
    jobs.ledger.mirror(jobs.begin("load"), "clicks", "{}")
    assert jobs.wait() == 0


def test_the_age_of_the_upstream_commit_is_known(jobs):
    jobs.run("load")
    jobs.clock.sleep(90)
    jobs.wait()
    assert jobs.ages_secs == {"load": 90.0}
