"""What DetectAnomalies expects of a metric."""

import pytest

from gluepot.quality.anomalies import LEAST, MOST, forecast


@pytest.mark.parametrize("earlier", [[], [5.0], [5.0, 6.0], [float("nan"), 5.0, 6.0]])
def test_too_few_values_let_us_expect_nothing(earlier):
    assert forecast(earlier) is None


def test_steady_values_let_us_expect_their_mean():
    found = forecast([100.0, 102.0, 98.0, 100.0, 101.0])
    assert found.expected == pytest.approx(100.2)
    assert found.values == 5
    assert found.contains(103)
    assert not found.contains(120)
    assert not found.contains(80)


def test_equal_values_leave_one_per_cent():
    found = forecast([200.0] * LEAST)
    assert (found.lower, found.expected, found.upper) == (198.0, 200.0, 202.0)


def test_a_trend_goes_on():
    rising = [100.0 + 10 * at + (1 if at % 2 else -1) for at in range(10)]
    found = forecast(rising[::-1])
    assert found.expected == pytest.approx(200, abs=2)
    assert not found.contains(150)  # the mean is no value that one would expect


def test_a_slope_that_could_be_chance_is_no_trend():
    found = forecast([3.0, 9.0, 1.0, 8.0, 2.0, 9.0, 4.0])
    assert found.expected == pytest.approx(sum([3, 9, 1, 8, 2, 9, 4]) / 7)


def test_old_values_do_not_count():
    found = forecast([10.0] * MOST + [1_000_000.0] * 5)
    assert found.expected == 10.0
