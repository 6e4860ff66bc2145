from __future__ import annotations

from dataclasses import dataclass

import pytest

from gluepot.ops.allowance import Allowance


@dataclass
class Thread:
    now: float = 0.0
    spent: float = 0.0


@pytest.fixture
def thread():
    return Thread()


@pytest.fixture
def allowance(thread):
    made = Allowance(0.1, 1.0, lambda: thread.now, lambda: thread.spent, answers_per_sec=0)
    assert made.is_left()
    return made


def test_a_reserve_may_be_spent_at_once(allowance, thread):
    thread.spent = 0.99
    assert allowance.is_left()
    thread.spent = 1.01
    assert not allowance.is_left()


def test_a_tenth_of_the_time_is_earned(allowance, thread):
    thread.spent = 1.5
    assert not allowance.is_left()
    thread.now = 4.9
    assert not allowance.is_left()
    thread.now = 5.1
    assert allowance.is_left()


def test_a_long_rest_earns_no_more_than_the_reserve(allowance, thread):
    thread.now = 1_000.0
    assert allowance.is_left()
    thread.spent = 1.01
    assert not allowance.is_left()


def test_no_more_is_owed_than_the_reserve(allowance, thread):
    thread.spent = 100.0
    assert not allowance.is_left()
    thread.now = 10.1
    assert allowance.is_left()


def test_so_many_answers_a_second_are_given_whatever_was_spent(thread):
    allowance = Allowance(0.1, 1.0, lambda: thread.now, lambda: thread.spent, answers_per_sec=2)
    assert allowance.is_left()
    thread.spent = 100.0

    assert [allowance.is_left() for _ in range(3)] == [True, True, False]

    thread.now += 0.5
    assert [allowance.is_left() for _ in range(2)] == [True, False]
    thread.now += 10.0
    thread.spent += 100.0
    assert [allowance.is_left() for _ in range(3)] == [True, True, False]
