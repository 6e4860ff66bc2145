"""How many notes of a stream's positions stay in the ledger."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.bookmarks.ledger import Ledger, Owner, RunStart, open_ledger, tables
from gluepot.bookmarks.ledger.edit import rewind
from gluepot.bookmarks.ledger.ledger import add_version
from gluepot.bookmarks.ledger.thinning import DAY_MS, HOUR_MS, MINUTE_MS, MOST_NOTES, superfluous
from gluepot.bookmarks.ledger.values import STREAM, StateChange
from gluepot.core.clock import FakeClock

NOW_MS = 1_700_000_000_000
YEARS = 3


def test_a_stream_that_runs_for_years_keeps_few_notes():
    notes = [(n, NOW_MS - n * MINUTE_MS) for n in range(YEARS * 366 * 24 * 60)]
    notes = [(-n, at_ms) for n, at_ms in notes]
    kept = len(notes) - len(superfluous(notes, NOW_MS))
    assert kept <= MOST_NOTES == 1_441 + 721 + 367


@given(st.lists(st.integers(0, 400 * DAY_MS), max_size=300))
def test_a_time_that_is_asked_for_is_met_as_closely_as_its_age_allows(ages_ms):
    """What is noted first has the lowest number; the newest note stays, and each time keeps an earlier one near."""
    notes = list(enumerate(sorted(NOW_MS - age_ms for age_ms in ages_ms), 1))
    gone = set(superfluous(notes, NOW_MS))
    kept_ms = [at_ms for state, at_ms in notes if state not in gone]
    for state, at_ms in notes:
        age_ms = NOW_MS - at_ms
        every_ms = MINUTE_MS if age_ms <= DAY_MS else HOUR_MS if age_ms <= 30 * DAY_MS else DAY_MS
        if age_ms <= 366 * DAY_MS:
            assert any(abs(one_ms - at_ms) < every_ms for one_ms in kept_ms), state


def test_the_newest_note_of_an_interval_stays_and_the_others_are_named_newest_first():
    notes = [(n, NOW_MS - 3 * DAY_MS + n) for n in (1, 2, 3)]
    assert superfluous(notes, NOW_MS) == [2, 1]


def test_notes_older_than_a_year_go():
    assert superfluous([(1, NOW_MS - 367 * DAY_MS), (2, NOW_MS - 366 * DAY_MS), (3, NOW_MS)], NOW_MS) == [1]


def test_thinning_again_takes_nothing_more():
    notes = [(n, NOW_MS - (5_000 - n) * 7 * MINUTE_MS) for n in range(5_000)]
    gone = set(superfluous(notes, NOW_MS))
    assert superfluous([one for one in notes if one[0] not in gone], NOW_MS) == []


@pytest.fixture
def clock():
    return FakeClock(NOW_MS / 1000)


@pytest.fixture
def ledger(tmp_path, clock):
    opened = open_ledger(f"sqlite:///{tmp_path}/ledger.db", clock)
    yield opened
    opened.close()


def noted(ledger: Ledger, ctx: str = "clicks") -> list[int]:
    return [change.state for change in ledger.history("job", ctx) if change.cause == STREAM][::-1]


def test_a_stream_that_goes_on_for_ever_does_not_fill_the_ledger(ledger, clock):
    run = ledger.begin(RunStart("job", "jr_1", "enable"), Owner("h", 1), None)
    for hour in range(48):
        ledger.mirror(run, "clicks", f'{{"hour": {hour}}}')
        clock.sleep(600)
        ledger.mirror(run, "clicks", f'{{"hour": {hour}, "late": true}}')
        clock.sleep(3000)
    assert len(noted(ledger)) <= 24 * 2 + 24 + 2
    assert ledger.state("job", "clicks", ledger.job("job").state) == ['{"hour": 47, "late": true}']


def test_the_notes_that_an_older_gluepot_left_go_too(ledger, clock):
    run = ledger.begin(RunStart("job", "jr_1", "enable"), Owner("h", 1), None)
    with ledger.transaction() as connection:
        for n in range(3_000):  # a note a minute, the newest one 400 days ago
            at_ms = NOW_MS - 400 * DAY_MS - n * MINUTE_MS
            add_version(connection, "job", StateChange("clicks", 3_000 - n, None, STREAM, "jr_0", at_ms, "{}"))
        connection.execute(tables.jobs.update().values(state=3_000))
    ledger.mirror(run, "clicks", "{}")
    assert noted(ledger) == [3_001]


def test_old_notes_are_looked_for_with_the_first_note_of_an_hour(ledger, clock):
    run = ledger.begin(RunStart("job", "jr_1", "enable"), Owner("h", 1), None)
    clock.sleep(HOUR_MS / 1000 - clock.epoch() % (HOUR_MS / 1000))
    ledger.mirror(run, "clicks", "{}")
    with ledger.transaction() as connection:
        old = StateChange("clicks", 0, None, STREAM, "jr_0", NOW_MS - 400 * DAY_MS, "{}")
        add_version(connection, "job", old)
    clock.sleep(1800)
    ledger.mirror(run, "clicks", "{}")
    assert noted(ledger) == [0, 1, 2]
    clock.sleep(1800)
    ledger.mirror(run, "clicks", "{}")
    assert noted(ledger) == [1, 2, 3]


def test_what_a_rewind_rests_on_stays_and_so_do_the_bookmarks_of_others(ledger, clock):
    run = ledger.begin(RunStart("job", "jr_1", "enable"), Owner("h", 1), None)
    old_ms = NOW_MS - 500 * DAY_MS
    with ledger.transaction() as connection:
        for n, (ctx, cause) in enumerate(
            [("clicks", STREAM), ("clicks", STREAM), ("orders", STREAM), ("files", "commit")], 1
        ):
            add_version(connection, "job", StateChange(ctx, n, None, cause, "jr_0", old_ms, f'{{"n": {n}}}'))
        connection.execute(tables.jobs.update().values(state=4))
    rewind(ledger, "job", "ada@here", 1, "clicks")
    ledger.mirror(run, "clicks", "{}")
    assert noted(ledger) == [1, 6]
    assert ledger.state("job", "clicks", 5) == ['{"n": 1}']
    assert noted(ledger, "orders") == [3]
    assert [change.state for change in ledger.history("job", "files")] == [4]
