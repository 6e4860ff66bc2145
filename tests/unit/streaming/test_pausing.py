from __future__ import annotations

from gluepot.core.clock import FakeClock
from gluepot.streaming.query.pausing import Pauses, rest


def test_a_query_pauses_from_when_it_is_asked_until_it_may_go_on():
    pauses = Pauses()
    pauses.ask("clicks")
    assert (pauses.hold("clicks"), pauses.hold("orders")) == (True, False)
    pauses.resume("clicks")
    assert not pauses.hold("clicks")


def test_resuming_what_does_not_pause_changes_nothing():
    pauses = Pauses()
    pauses.resume("clicks")
    assert not pauses.hold("clicks")


def test_a_rest_lasts_as_long_as_the_pause():
    clock = FakeClock()
    assert 60.0 <= rest(lambda: clock.now < 60.0, lambda: False, clock) < 61.0


def test_no_pause_puts_off_the_end():
    clock = FakeClock()
    assert 5.0 <= rest(lambda: True, lambda: clock.now >= 5.0, clock) < 6.0
