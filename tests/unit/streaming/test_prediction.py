from __future__ import annotations

from gluepot.streaming.count_ahead.prediction import Prediction


def test_nothing_is_expected_at_first():
    assert Prediction().expected() is None


def test_what_was_seen_last_is_expected():
    prediction = Prediction()
    prediction.learn("a", came=None)
    assert prediction.expected() == "a"

    prediction.learn("b", came=True)
    assert prediction.expected() == "b"

    prediction.learn(None, came=True)
    assert prediction.expected() is None


def test_each_miss_in_a_row_doubles_the_batches_in_which_nothing_is_expected():
    prediction = Prediction()
    prediction.learn("a", came=None)
    assert [batches_of_rest(prediction) for _ in range(4)] == [2, 4, 8, 16]

    prediction.learn("a", came=True)

    assert batches_of_rest(prediction) == 2


def test_the_rest_has_an_end():
    prediction = Prediction()
    for _ in range(50):
        prediction.learn("a", came=False)

    assert batches_of_rest(prediction) == 1_024


def batches_of_rest(prediction):
    prediction.learn("a", came=False)
    rests = 0
    while prediction.expected() is None:
        prediction.learn("a", came=None)
        rests += 1
    return rests
