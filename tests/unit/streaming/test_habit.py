from __future__ import annotations

from gluepot.streaming.count_ahead.habit import Habit


def test_nothing_is_expected_at_first():
    assert Habit().expected() is None


def test_what_was_seen_last_is_expected():
    habit = Habit()
    habit.learn("a", came=None)
    assert habit.expected() == "a"

    habit.learn("b", came=True)
    assert habit.expected() == "b"

    habit.learn(None, came=True)
    assert habit.expected() is None


def test_each_miss_in_a_row_doubles_the_batches_in_which_nothing_is_expected():
    habit = Habit()
    habit.learn("a", came=None)
    assert [batches_of_rest(habit) for _ in range(4)] == [2, 4, 8, 16]

    habit.learn("a", came=True)

    assert batches_of_rest(habit) == 2


def test_the_rest_has_an_end():
    habit = Habit()
    for _ in range(50):
        habit.learn("a", came=False)

    assert batches_of_rest(habit) == 1_024


def batches_of_rest(habit):
    habit.learn("a", came=False)
    rests = 0
    while habit.expected() is None:
        habit.learn("a", came=None)
        rests += 1
    return rests
