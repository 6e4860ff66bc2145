"""Random histories of a folder and of a job that reads it, with the real ledger and the real planner.

The world is a dict of files, the sink a dict of what each commit key published, with the rule of `gluepot.commit`: the
same key and equal input change nothing, other input replaces.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gluepot.bookmarks.ledger import BegunRun, Change, Ledger, Owner, RunStart, VersionMismatch, open_ledger
from gluepot.bookmarks.ledger.edit import reset, rewind
from gluepot.connectors.files.source.plan import Plan, PlanOptions, plan
from gluepot.connectors.files.source.versions import FileVersion, state_body, state_of
from gluepot.core.clock import FakeClock

ROOT = "s3://lake/in"
CTX = "source0"
SECOND_US = 1_000_000
HOUR_SECS = 3600.0
UNBOUNDED = PlanOptions()

places = st.tuples(st.sampled_from(["", "/day=1", "/day=2"]), st.sampled_from(["a", "b", "c", "d"]))
ages_secs = st.sampled_from([0, 0, 1, 60, 20 * 60, 24 * 3600, -3600])
crashes = st.sampled_from(["never", "never", "never", "planned", "written", "committed"])
bounds = st.sampled_from([
    UNBOUNDED, UNBOUNDED, PlanOptions(bounded_files=2), PlanOptions(max_files_in_band=1), PlanOptions(bounded_size_bytes=15)
])  # fmt: skip
steps = st.one_of(
    st.tuples(st.just("put"), places, ages_secs),
    st.tuples(st.just("put"), places, ages_secs),
    st.tuples(st.just("overwrite_with_equal_time"), places),
    st.tuples(st.just("delete"), places),
    st.tuples(st.just("run"), bounds, crashes),
    st.tuples(st.just("run"), bounds, crashes),
    st.tuples(st.just("run_paused")),
    st.tuples(st.just("two_runs"), st.booleans()),
    st.tuples(st.just("reset")),
    st.tuples(st.just("rewind"), st.integers(0, 5)),
    st.tuples(st.just("step_clock"), st.sampled_from([60.0, HOUR_SECS, -HOUR_SECS, -24 * HOUR_SECS])),
)


@dataclass
class History:
    ledger: Ledger
    clock: FakeClock
    job: str
    files: dict[tuple[str, str], FileVersion] = field(default_factory=dict)
    published: dict[int, tuple[str, tuple[FileVersion, ...]]] = field(default_factory=dict)
    must_be_there: set[FileVersion] = field(default_factory=set)
    may_be_read_again: Counter[FileVersion] = field(default_factory=Counter)
    made: int = 0
    runs: int = 0

    def step(self, name, *arguments):
        getattr(self, name)(*arguments)

    # -- the folder

    def put(self, place, age_secs):
        self._store(place, int((self.clock.epoch() - age_secs) * SECOND_US))

    def overwrite_with_equal_time(self, place):
        if place in self.files:
            self._store(place, self.files[place].mtime_us)

    def delete(self, place):
        self.files.pop(place, None)

    def step_clock(self, secs):
        self.clock.now += secs

    def _store(self, place, mtime_us):
        self.made += 1
        folder, name = place
        self.files[place] = FileVersion(ROOT, ROOT + folder, name, 10, mtime_us, f"e{self.made}")

    # -- the job

    def run(self, options, crash):
        begun, made = self._begin(options)
        if crash == "planned":
            return
        self._publish(begun, made)
        if crash == "written":
            return
        self._commit(begun, made)
        if options is UNBOUNDED:
            self.must_be_there |= set(self.files.values())

    def run_paused(self):
        begun, made = self._begin(UNBOUNDED, option="pause")
        self.ledger.commit(begun, self._changes(begun, made))

    def two_runs(self, first_publishes):
        slow, planned_by_slow = self._begin(UNBOUNDED)
        if first_publishes:
            self._publish(slow, planned_by_slow)
        quick, planned_by_quick = self._begin(UNBOUNDED)
        self._publish(quick, planned_by_quick)
        self._commit(quick, planned_by_quick)
        self.must_be_there |= set(self.files.values())
        with pytest.raises(VersionMismatch):
            self.ledger.commit(slow, self._changes(slow, planned_by_slow))

    def reset(self):
        self._edit(lambda: reset(self.ledger, self.job, "ada"))

    def rewind(self, back):
        self._edit(lambda: rewind(self.ledger, self.job, "ada", max(0, self.ledger.job(self.job).state - back)))

    def _edit(self, edit):
        self.ledger.fail(
            self.ledger.begin(RunStart(self.job, "r", "enable"), Owner("h", 1), self._dead()), "first there is a job"
        )
        before = self._read_so_far()
        edit()
        self.may_be_read_again.update(before - self._read_so_far())

    def _read_so_far(self) -> set[FileVersion]:
        state = state_of(self.ledger.state(self.job, CTX, self.ledger.job(self.job).state))
        everything = {file for _, files in self.published.values() for file in files}
        return {file for file in everything if state.holds(file)}

    def _dead(self):
        return self.ledger.lease(self.job)

    def _begin(self, options, option="enable") -> tuple[BegunRun, Plan]:
        self.runs += 1
        begun = self.ledger.begin(RunStart(self.job, f"jr_{self.runs}", option), Owner("h", 1), self._dead())
        state = state_of(self.ledger.state(self.job, CTX, begun.base))
        return begun, plan(self.files.values(), state, options, int(self.clock.epoch() * SECOND_US))

    def _publish(self, begun, made):
        before = self.published.get(begun.job.run)
        if before is None or before[0] != made.digest:
            self.published[begun.job.run] = (made.digest, tuple(made.files))

    def _changes(self, begun, made):
        return {CTX: Change(state_body(made.files, int(self.clock.epoch() * SECOND_US), {}))}

    def _commit(self, begun, made):
        self.ledger.commit(begun, self._changes(begun, made))

    # -- the end

    def check(self):
        self.run(UNBOUNDED, "never")
        rows = Counter(file for _, files in self.published.values() for file in files)
        assert self.must_be_there <= set(rows), "a version is missed"
        again = {file: times for file, times in rows.items() if times > 1 + self.may_be_read_again[file]}
        assert not again, "read again without a reset or rewind"
        _, idle = self._begin(UNBOUNDED)
        assert not idle.files, "a run after a run found something"


@pytest.fixture(scope="module")
def clock():
    return FakeClock()


@pytest.fixture(scope="module")
def ledger(clock):
    opened = open_ledger("sqlite://", clock)
    yield opened
    opened.close()


numbered = iter(range(10**9))


@settings(max_examples=2 * settings.default.max_examples, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=st.lists(steps, max_size=25))
def test_no_version_is_missed_and_none_is_read_again(ledger, clock, history):
    clock.now = 1_700_000_000.0
    lived = History(ledger, clock, f"job-{next(numbered)}")
    for name, *arguments in history:
        lived.step(name, *arguments)
    lived.check()
