"""A plan that fails is shortened to what makes it fail; nothing is simulated here."""

from __future__ import annotations

from dataclasses import replace

from tests.simulate.objects import Network
from tests.simulate.plan import Event, draw
from tests.simulate.shrink import shrink

PLAN = replace(
    draw(3),
    events=tuple(
        Event(float(n), kind) for n, kind in enumerate(["kill", "stop", "rewind", "compact", "verify", "purge"])
    ),
    groups=("all", "split"),
    network=Network(late=0.01, twice=0.01),
    fails=0.5,
    partitions=3,
)


def test_only_what_is_needed_is_left():
    def fails(plan):
        kinds = [one.kind for one in plan.events]
        return "stop" in kinds and "purge" in kinds and plan.network.late > 0 and "split" in plan.groups

    short = shrink(PLAN, fails)
    assert [one.kind for one in short.events] == ["stop", "purge"]
    assert (short.network, short.groups, short.fails, short.partitions) == (Network(late=0.01), ("split",), 0.0, 1)


def test_a_plan_that_always_fails_ends_empty():
    short = shrink(PLAN, lambda _: True)
    assert (short.events, short.network.total) == ((), 0.0)


def test_it_ends_after_so_many_plays():
    plays = []
    shrink(PLAN, lambda plan: bool(plays.append(plan)), most_plays=5)
    assert len(plays) == 5


def test_equal_seeds_draw_equal_plans():
    assert draw(7) == draw(7) != replace(draw(8), seed=7)
