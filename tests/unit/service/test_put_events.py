"""Which events of a batch are kept."""

from gluepot.service.decisions.put_events import accepted, spans_too_long, wrong_with

DAY_MS = 24 * 3600 * 1000
NOW_MS = 100 * DAY_MS


def events(*days):
    return [(NOW_MS + round(day * DAY_MS), "x") for day in days]


def test_events_that_are_too_old_or_too_new_are_left_out_and_told():
    kept = accepted(events(-20, -15, -1, 0, 0.05, 0.2, 3), None, NOW_MS)
    assert kept.events == events(-1, 0, 0.05)
    assert kept.rejected == {"tooOldLogEventEndIndex": 2, "tooNewLogEventStartIndex": 5}


def test_events_that_the_group_would_not_keep_are_left_out():
    kept = accepted(events(-5, -2, 0), 3, NOW_MS)
    assert (kept.events, kept.rejected) == (events(-2, 0), {"expiredLogEventEndIndex": 1})


def test_a_batch_is_refused_that_is_too_large_or_not_in_order():
    assert wrong_with(events(-1, 0)) is None
    assert "chronological" in wrong_with(events(0, -1))
    assert wrong_with([(0, "x" * 1_048_550)]) is None
    assert "exceeds limit" in wrong_with([(0, "x" * 1_048_551)])


def test_a_batch_spans_a_day_at_most():
    assert not spans_too_long(events(-1, 0))
    assert spans_too_long(events(-1.1, 0))
