"""Sources of a script's own: where they go on, and what a commit saves of them."""

from __future__ import annotations

import json

import pytest

from gluepot.bookmarks import jobrun
from gluepot.bookmarks.cursor_input import cursor_input, cursor_of
from gluepot.bookmarks.jobrun import Between, JobRun
from gluepot.core import logging
from gluepot.core.clock import FakeClock
from gluepot.core.errors import CheckpointError, ConfigError


class Script:
    """A job that reads pages of numbers; the cursor is the next number."""

    def __init__(self, folder):
        self.environ = {"GLUEPOT_LEDGER": f"sqlite:///{folder}/ledger.db", "GLUEPOT_HOME": str(folder)}
        self.clock = FakeClock(1_700_000_000.0)
        self.runs = 0
        self.asked = []
        self.pages = lambda cursor: ([{"n": cursor or 0}], (cursor or 0) + 1)

    def begin(self) -> JobRun:
        self.runs += 1
        return jobrun.begin("copy", f"jr_{self.runs}", None, jobrun.ENABLE, [], self.environ, self.clock)

    def read(self, run, ctx="pages"):
        def read_on(cursor):
            self.asked.append(cursor)
            return self.pages(cursor)

        made = cursor_input(read_on, ctx, run)
        return [json.loads(value) for split in made.splits for value in split.values]


@pytest.fixture
def script(tmp_path):
    yield Script(tmp_path)
    jobrun.end("the test is over")


def test_each_run_goes_on_where_the_last_committed_one_ended(script):
    rows = []
    for commits in (True, True, False, True):
        rows += script.read(script.begin())
        if commits:
            jobrun.commit()
    assert script.asked == [None, 1, 2, 2]
    assert rows == [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 2}]


def test_a_cursor_that_stays_where_it_is_saves_nothing_and_is_asked_for_again(script):
    script.read(script.begin())
    jobrun.commit()
    script.pages = lambda cursor: ([], cursor)
    run = script.begin()
    script.read(run)
    assert run.bookmarks._changes == {}
    jobrun.commit()
    script.read(script.begin())
    assert script.asked == [None, 1, 1]


@pytest.mark.parametrize("body", ["", "{", "[1]", "7", '{"kind":"cursor"}'])
def test_a_damaged_bookmark_is_named(body):
    with pytest.raises(CheckpointError, match=r"a bookmark beginning with .* cannot be read; reset it"):
        cursor_of([body])


def test_a_run_between_two_others_knows_their_states(script):
    for _ in range(2):
        script.read(script.begin())
        jobrun.commit()
    run = jobrun.begin("copy", "jr_3", None, jobrun.PAUSE, ["jr_1", "jr_2"], script.environ, script.clock)
    assert run.bookmarks.between == Between(1, 2)


def test_only_the_newest_cursor_is_kept(script):
    for _ in range(3):
        script.read(script.begin())
        jobrun.commit()
    assert [json.loads(one)["cursor"] for one in script.begin().bookmarks.bodies("pages")] == [3]


def test_without_a_run_or_a_context_the_function_begins_anew(script):
    run = script.begin()
    script.read(run)
    jobrun.commit()
    script.read(script.begin(), ctx="")
    script.read(None)
    script.read(JobRun("copy", "jr_9"))
    assert script.asked == [None, None, None, None]


@pytest.mark.parametrize(("with_run", "ctx", "warnings"), [(True, "", 1), (True, "pages", 0), (False, "", 0)])
def test_a_source_that_a_run_with_bookmarks_cannot_remember_is_warned_of(script, with_run, ctx, warnings):
    lines = []
    run = script.begin() if with_run else None
    with logging.heard_by(lines.append):
        script.read(run, ctx)
    assert [line["event"] for line in lines].count("source_not_bookmarked") == warnings


def test_a_cursor_that_json_cannot_hold_is_refused(script):
    script.pages = lambda cursor: ([], {1, 2})
    with pytest.raises(ConfigError, match="The next cursor of ctx 'pages' is a set that JSON cannot hold"):
        script.read(script.begin())


def test_several_reads_of_a_context_have_cursors_of_their_own(script):
    run = script.begin()
    script.read(run)
    script.read(run)
    assert sorted(run.bookmarks._changes) == ["pages", "pages.2"]


def test_equal_records_have_one_digest_and_others_another(script):
    run = script.begin()
    before = run.bookmarks.input_digest
    script.read(run)
    assert run.bookmarks.input_digest != before
    assert run.bookmarks.input_digest.startswith("run:")
    digest = run.bookmarks.input_digest
    jobrun.end("killed")
    again = script.begin()
    script.read(again)
    assert again.bookmarks.input_digest == digest
    jobrun.end("killed")
    script.pages = lambda cursor: ([{"n": 7}], 1)
    other = script.begin()
    script.read(other)
    assert other.bookmarks.input_digest != digest


def test_a_range_of_runs_cannot_be_read_again(script):
    run = script.begin()
    run.bookmarks.between = Between(1, 2)
    with pytest.raises(ConfigError, match="--job-bookmark-from"):
        script.read(run)
    assert script.asked == []


def test_text_beyond_ascii_is_saved_as_it_is(script):
    script.pages = lambda cursor: ([], "Zürich")
    run = script.begin()
    script.read(run)
    assert "Zürich" in run.bookmarks._changes["pages"].body


@pytest.mark.parametrize(
    "body",
    [{"kind": "files", "version": 1}, {"kind": "cursor", "version": 2, "cursor": 1}, {"version": 1, "cursor": 1}],
)
def test_a_bookmark_of_another_kind_or_version_is_refused(body):
    with pytest.raises(CheckpointError, match="needs cursor, version 1: reset it"):
        cursor_of([json.dumps(body)])


def test_a_run_that_ends_without_a_commit_is_told_to_the_ledger(script):
    run = script.begin()
    jobrun.end("the script failed")
    assert jobrun.current() is None
    assert script.begin().bookmarks.run.job.attempt == run.bookmarks.run.job.attempt + 1
