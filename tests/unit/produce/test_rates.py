"""Shapes of load: how many records are due, and when."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError
from gluepot.produce import Burst, Ramp, Sine, Steady, Unpaced, produce, records
from gluepot.produce.rates import shape

SHAPES = [Steady(100), Ramp(100, 400, 60), Sine(100, 400, 60), Burst(100, 400, 60, 5)]
times = st.floats(0, 500, allow_nan=False)


@pytest.mark.parametrize("one", SHAPES, ids=lambda one: type(one).__name__)
@given(at=times, later_secs=times)
def test_the_rate_stays_between_its_lowest_and_its_highest(one, at, later_secs):
    sent = one.due_by(at + later_secs) - one.due_by(at)
    assert 100 * later_secs - 1e-6 <= sent <= 400 * later_secs + 1e-6


@pytest.mark.parametrize(
    ("one", "per_minute"),
    [
        (Steady(100), 100 * 60),
        (Ramp(100, 400, 60), 250 * 60),
        (Sine(100, 400, 60), 250 * 60),
        (Burst(100, 400, 60, 5), 100 * 55 + 400 * 5),
    ],
)
def test_a_period_brings_what_its_mean_says(one, per_minute):
    assert one.due_by(60) == pytest.approx(per_minute)


def test_a_ramp_stays_at_its_peak():
    ramp = Ramp(100, 400, 60)
    assert ramp.due_by(70) - ramp.due_by(60) == pytest.approx(4000)


def test_a_burst_comes_at_the_end_of_each_period():
    burst = Burst(100, 400, 60, 5)
    assert burst.due_by(120) - burst.due_by(115) == pytest.approx(2000)
    assert burst.due_by(115) - burst.due_by(110) == pytest.approx(500)


def test_shapes_are_found_by_name_and_peak_at_four_times_the_rate():
    assert shape("steady", 5, None, 60, 5) == Steady(5)
    assert shape("steady", 0, None, 60, 5) == Unpaced()
    assert shape("ramp", 5, None, 60, 5) == Ramp(5, 20, 60)
    assert shape("sine", 5, 10, 4, 5) == Sine(5, 10, 4)
    assert shape("burst", 5, 10, 60, 5) == Burst(5, 10, 60, 5)


@pytest.mark.parametrize(
    "given_values", [("steady", -1, None, 60, 5), ("sine", 5, 4, 60, 5), ("burst", 5, 9, 3, 5), ("saw", 5, 9, 60, 5)]
)
def test_numbers_out_of_range_are_refused(given_values):
    with pytest.raises(ConfigError):
        shape(*given_values)


class Kept:
    def __init__(self, slow_secs=0.0, clock=None):
        self.records, self._slow_secs, self._clock = [], slow_secs, clock

    def send(self, made):
        for one in made:
            self.records.append(one)
            if self._slow_secs:
                self._clock.now += self._slow_secs

    def finish(self):
        return len(self.records)


def test_so_many_are_sent_as_are_due_in_the_time():
    target = Kept()
    told = produce(records([b"a"]), Steady(100), target, FakeClock(), secs=3)
    assert told.acknowledged == 300
    assert told.late_secs <= 0.02
    assert told.secs == pytest.approx(3, abs=0.05)


def test_it_ends_after_so_many_or_when_there_are_no_more():
    assert produce(records([b"a"]), Unpaced(), Kept(), FakeClock(), most=25_000).acknowledged == 25_000
    assert produce(iter([(b"a", None)] * 7), Steady(100), Kept(), FakeClock(), secs=3).acknowledged == 7


def test_a_slow_target_gets_all_that_was_due_and_the_delay_is_told():
    clock = FakeClock()
    told = produce(records([b"a"]), Steady(100), Kept(0.02, clock), clock, secs=10)
    assert told.acknowledged == 1000
    assert told.late_secs == pytest.approx(10, abs=0.5)


def test_ctrl_c_ends_in_order():
    class Interrupted(Kept):
        def send(self, made):
            super().send(made)
            if len(self.records) >= 100:
                raise KeyboardInterrupt

    told = produce(records([b"a"]), Steady(100), Interrupted(), FakeClock())
    assert told.acknowledged >= 100
    assert told.late_secs == 0
