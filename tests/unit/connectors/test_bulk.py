"""Entries of bulk calls: each is taken or refused once, in order where the order means something."""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gluepot.connectors.aws.errors import Throttled
from gluepot.connectors.documents import bulk
from gluepot.connectors.documents.bulk import Answer, Entry, Limits, Refused, calls, send_all
from gluepot.connectors.values import Refusal
from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError, TransientError

LIMITS = Limits(entries=5, size_bytes=50, at_once=1)


def entries(count, key=lambda at: ""):
    return [Entry(at, f"body {at}", 9, key(at)) for at in range(count)]


def sent(given, send, clock=None, limits=LIMITS):
    return send_all(given, send, limits, "the shelf", clock or FakeClock(), lambda: 1.0)


@given(some.lists(some.tuples(some.sampled_from(["", "a", "b"]), some.integers(1, 60)), max_size=40))
def test_calls_keep_order_size_and_keys(given):
    made = [Entry(at, None, size, key) for at, (key, size) in enumerate(given)]
    found = list(calls(made, LIMITS))
    assert [one for call in found for one in call] == made
    for call in found:
        assert len(call) <= LIMITS.entries
        assert sum(one.size_bytes for one in call) <= LIMITS.size_bytes or len(call) == 1
        assert max(Counter(one.key for one in call if one.key).values(), default=0) <= 1


def test_what_is_left_is_sent_again_with_growing_waits():
    taken, clock, tries = [], FakeClock(), Counter()

    def send(part):
        again = []
        for one in part:
            tries[one.index] += 1
            if tries[one.index] <= one.index % 3:
                again.append(one)
            else:
                taken.append(one.index)
        return Answer(again, said="busy")

    assert sent(entries(12), send, clock) == []
    assert sorted(taken) == list(range(12))
    assert clock.waits[:2] == [0.1, 0.2]


def test_refused_entries_are_told_in_order():
    def send(part):
        return Answer(refused=[Refusal(one.index, "odd", "Odd.") for one in part if one.index % 2])

    assert [one.index for one in sent(entries(8), send)] == [1, 3, 5, 7]


def test_the_entry_for_which_a_whole_call_is_refused_is_found():
    taken = []

    def send(part):
        if any(one.index == 3 for one in part):
            raise Refused("The call is wrong.", "ValidationException: too large")
        taken.extend(one.index for one in part)
        return Answer()

    (refusal,) = sent(entries(5), send)
    assert (refusal.index, refusal.message) == (3, "the shelf refuses it (ValidationException: too large).")
    assert taken == [0, 1, 2, 4]


def test_an_outage_is_waited_out():
    clock = FakeClock()

    def send(part):
        if clock.now < 60:
            raise Throttled("slow down")
        return Answer()

    assert sent(entries(3), send, clock) == []
    assert max(clock.waits) <= bulk.BACKOFF_CAP_SECS
    assert clock.now - 60 <= bulk.BACKOFF_CAP_SECS


def test_an_outage_that_does_not_end_is_told():
    clock = FakeClock()

    def send(part):
        raise TransientError("nobody answers")

    with pytest.raises(TransientError, match=r"the shelf has not accepted 3 of 3 rows yet \(nobody answers\)"):
        sent(entries(3), send, clock)
    assert clock.now >= bulk.DEADLINE_SECS


def test_what_no_retry_mends_ends_at_once():
    clock = FakeClock()

    def send(part):
        raise ConfigError("no such shelf")

    with pytest.raises(ConfigError):
        sent(entries(3), send, clock)
    assert not clock.waits


def test_calls_without_keys_are_made_side_by_side():
    from threading import Barrier

    together = Barrier(2, timeout=10)

    def send(part):
        together.wait()
        return Answer()

    assert sent(entries(10), send, limits=Limits(5, 500, at_once=2)) == []


@given(some.integers(0, 10_000))
def test_under_random_faults_every_entry_is_taken_once_and_keys_stay_in_order(seed):
    chance, taken, refused = Random(seed), defaultdict(list), set()
    keys = {at: chance.choice(["", "a", "b"]) for at in range(30)}

    def send(part):
        fate = chance.random()
        if fate < 0.2:
            raise Throttled("slow down")
        again, told = [], []
        for one in part:
            fate = chance.random()
            if fate < 0.3:
                again.append(one)
            elif fate < 0.4:
                refused.add(one.index)
                told.append(Refusal(one.index, "odd", "Odd."))
            else:
                taken[keys[one.index]].append(one.index)
        return Answer(again, told, "busy")

    told = sent(entries(30, keys.__getitem__), send)
    assert {one.index for one in told} == refused
    assert sorted([at for found in taken.values() for at in found] + list(refused)) == list(range(30))
    for key in "ab":
        assert taken[key] == sorted(taken[key])
