from __future__ import annotations

from gluepot.core.clock import FakeClock
from gluepot.streaming.query.throttling import LOOK_SECS, Throttling


def totals(*answers: list[int]) -> list[int | None]:
    """What is seen after each answer of the sources, asked when it is due."""
    clock, left = FakeClock(), list(answers)
    throttling = Throttling(lambda: left.pop(0), clock)
    seen = []
    for _ in answers:
        seen.append(throttling.look())
        clock.sleep(LOOK_SECS)
    return seen


def test_what_planners_count_is_summed_over_sources():
    assert totals([0, 0], [3, 0], [3, 4]) == [0, 3, 7]


def test_a_planner_that_begins_again_at_zero_takes_nothing_away():
    assert totals([5], [2], [4], [0], [1]) == [5, 7, 9, 9, 10]


def test_there_is_no_count_where_no_source_has_a_limit():
    assert totals([], []) == [None, None]


def test_sources_are_not_asked_more_often_than_anybody_wants_to_know():
    clock, asked = FakeClock(), []
    throttling = Throttling(lambda: asked.append(clock.monotonic()) or [len(asked)], clock)
    for _ in range(100):
        throttling.look()
        clock.sleep(LOOK_SECS / 50)
    assert len(asked) == 2
    assert throttling.look(anew=True) == 3
