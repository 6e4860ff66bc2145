"""Shortens a plan that fails until nothing can be left out any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace

from tests.simulate.objects import Network
from tests.simulate.plan import Plan


def shrink(plan: Plan, fails: Callable[[Plan], bool], most_plays: int = 200) -> Plan:
    """Return a plan that still fails, with as little in it as can be found.

    Args:
        plan: fails.
        fails: plays a plan, and tells whether a promise was broken.
        most_plays: how often `fails` may be called.
    """
    plays = 0
    smaller = True
    while smaller and plays < most_plays:
        smaller = False
        for candidate in _smaller(plan):
            plays += 1
            if fails(candidate):
                plan, smaller = candidate, True
                break
            if plays >= most_plays:
                break
    return plan


def _smaller(plan: Plan) -> Iterator[Plan]:
    """Yield plans with less in them, those with much less first."""
    events = plan.events
    size = len(events)
    while size > 0:
        for first in range(0, len(events), size):
            yield replace(plan, events=(*events[:first], *events[first + size :]))
        size //= 2
    for n, event in enumerate(events):
        if event.changes:
            yield replace(plan, events=(*events[:n], replace(event, changes=0), *events[n + 1 :]))
    if plan.network.total:
        yield replace(plan, network=Network())
        for one in fields(Network):
            if getattr(plan.network, one.name):
                yield replace(plan, network=replace(plan.network, **{one.name: 0.0}))
    if plan.fails:
        yield replace(plan, fails=0.0)
    for group in plan.groups if len(plan.groups) > 1 else ():
        yield replace(plan, groups=tuple(one for one in plan.groups if one != group))
    if plan.partitions > 1:
        yield replace(plan, partitions=1)
    end_secs = max((one.at_secs for one in events), default=0.0) + 5 * plan.window_secs
    if end_secs < plan.lasts_secs:
        yield replace(plan, lasts_secs=end_secs)
