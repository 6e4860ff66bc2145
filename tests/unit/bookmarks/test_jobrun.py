"""The run of a job: what its beginning takes, and what each of its ends saves and releases."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from gluepot.bookmarks import jobrun
from gluepot.bookmarks.jobrun import JobRun
from gluepot.bookmarks.ledger import Change, LedgerWrite, Run, open_ledger
from gluepot.bookmarks.ledger.owner_lock import OwnerLock, lock_folder
from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError, TransientError


class Job:
    """A job, and a look at its ledger from outside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "ledger"
        self.folder.mkdir()
        self.url = f"sqlite:///{self.folder}/ledger.db"
        self.environ = {"GLUEPOT_LEDGER": self.url, "GLUEPOT_STATE": str(folder / "state")}
        self.clock = FakeClock(1_700_000_000.0)

    def begin(self, run_id: str, option: str | None = jobrun.ENABLE, limits: tuple[str, ...] = ()) -> JobRun:
        return jobrun.begin("copy", run_id, None, option, limits, self.environ, self.clock)

    def seen(self, look: Callable[[Any], Any]) -> Any:
        ledger = open_ledger(self.url, self.clock)
        try:
            return look(ledger)
        finally:
            ledger.close()

    def run(self, run_id: str) -> Run:
        return self.seen(lambda ledger: ledger.run("copy", run_id))

    def is_locked(self) -> bool:
        with OwnerLock(lock_folder(self.environ), self.url, "copy") as lock:
            return not lock.is_ours


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    yield Job(tmp_path)
    jobrun.end("the test is over")


def fail() -> None:
    raise TransientError("the target is away", 1.0)


def commit(run: JobRun) -> None:
    jobrun.commit()


def end(run: JobRun) -> None:
    jobrun.end("the script failed")


def fail_to_commit(run: JobRun) -> None:
    run.bookmarks.before_commit(fail)
    with suppress(TransientError):
        jobrun.commit()


@pytest.mark.parametrize("leave", [commit, end, fail_to_commit])
def test_whatever_way_a_run_ends_it_keeps_nothing(job, leave):
    run = job.begin("jr_1")
    left = []

    @contextmanager
    def needed() -> Iterator[str]:
        yield "a snapshot"
        left.append("a snapshot")

    assert run.bookmarks.until_end(needed()) == "a snapshot"
    assert job.is_locked()
    assert left == []
    leave(run)
    assert left == ["a snapshot"]
    assert not job.is_locked()
    assert "gluepot-job-lease" not in {thread.name for thread in threading.enumerate()}
    assert jobrun.current() is None
    # SQLite removes the files beside the database when the last connection is closed.
    assert [file.name for file in job.folder.iterdir()] == ["ledger.db"]


def test_a_commit_saves_changes_and_writes_after_what_had_to_be_done_before(job):
    run = job.begin("jr_1")
    seen = []
    run.bookmarks.before_commit(lambda: seen.append(job.run("jr_1").status))
    run.bookmarks.planned(run.bookmarks.next_read("source0"), "a", Change("1"))
    run.bookmarks.planned(run.bookmarks.next_read("source1"), "b", None)
    run.bookmarks.wrote(LedgerWrite("sink0", "/out", 10, 2))
    jobrun.commit()
    assert seen == ["running"]
    assert job.run("jr_1").status == "committed"
    assert job.seen(lambda ledger: ledger.contexts("copy", 1)) == ["source0"]
    assert job.seen(lambda ledger: ledger.writes(ledger.run("copy", "jr_1"))) == [LedgerWrite("sink0", "/out", 10, 2)]


def test_a_run_whose_last_act_before_the_commit_fails_has_failed_for_that_reason(job):
    run = job.begin("jr_1")
    run.bookmarks.planned(run.bookmarks.next_read("source0"), "a", Change("1"))
    run.bookmarks.before_commit(fail)
    with pytest.raises(TransientError, match="the target is away"):
        jobrun.commit()
    failed = job.run("jr_1")
    assert (failed.status, failed.error, failed.state) == ("failed", "the target is away", None)
    again = job.begin("jr_2")
    assert (again.bookmarks.run.job.attempt, again.bookmarks.bodies("source0")) == (1, [])


def test_a_commit_stands_although_something_cannot_be_released(job):
    @contextmanager
    def stubborn() -> Iterator[None]:
        yield
        fail()

    job.begin("jr_1").bookmarks.until_end(stubborn())
    jobrun.commit()
    assert job.run("jr_1").status == "committed"


def test_the_next_beginning_in_the_same_process_ends_the_run_before(job):
    job.begin("jr_1")
    job.begin("jr_2")
    before = job.run("jr_1")
    assert (before.status, before.error) == ("failed", "another Job.init followed")
    assert job.clock.waits == []


def test_a_run_without_bookmarks_has_no_ledger(job):
    run = job.begin("jr_1", None)
    assert (run.bookmarks, jobrun.current()) == (None, run)
    jobrun.commit()
    assert jobrun.current() is None
    job.begin("jr_2", None)
    jobrun.end("the script failed")
    assert jobrun.current() is None
    jobrun.commit()
    assert list(job.folder.iterdir()) == []


def test_a_range_of_runs_needs_runs_that_saved_bookmarks(job):
    job.begin("jr_1")
    jobrun.commit()
    job.begin("jr_2")
    jobrun.end("the script failed")
    with pytest.raises(ConfigError, match="Run 'jr_2' of job 'copy' saved no bookmarks; choose one that did"):
        job.begin("jr_3", jobrun.PAUSE, ("jr_1", "jr_2"))
    assert jobrun.current() is None
    assert not job.is_locked()


def test_a_bookmark_can_be_asked_for_at_an_earlier_state(job):
    for n in (1, 2):
        run = job.begin(f"jr_{n}")
        run.bookmarks.planned("source0", str(n), Change(str(n)))
        jobrun.commit()
    marks = job.begin("jr_3").bookmarks
    assert [marks.bodies("source0", at) for at in (None, 0, 1, 2)] == [["1", "2"], [], ["1"], ["1", "2"]]


def test_a_read_after_a_commit_begins_another_run_of_the_job(job):
    job.begin("jr_1")
    jobrun.commit()

    again = jobrun.for_read("source0")
    again.bookmarks.planned("source0", "digest", Change("body"))
    jobrun.commit()

    assert again.bookmarks.run.job.run == 2
    assert job.seen(lambda ledger: ledger.state("copy", "source0", 2)) == ["body"]


def test_threads_that_read_after_a_commit_share_one_run(job):
    job.begin("jr_1")
    jobrun.commit()

    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(jobrun.for_read, ["a", "b", "c", "d"]))

    assert len({id(run) for run in runs}) == 1


@pytest.mark.parametrize(
    ("option", "leave", "ctx"),
    [
        (jobrun.ENABLE, jobrun.commit, ""),
        (jobrun.ENABLE, lambda: jobrun.end("the script failed"), "source0"),
        (None, jobrun.commit, "source0"),
    ],
    ids=["read without a bookmark", "run that was not committed", "job without bookmarks"],
)
def test_no_other_read_begins_a_run(job, option, leave, ctx):
    job.begin("jr_1", option)
    leave()

    assert jobrun.for_read(ctx) is None
    assert not job.is_locked()
