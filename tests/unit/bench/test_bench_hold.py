"""What a steady load did to latency and backlog, from batches that are written down by hand."""

import pytest

from gluepot.bench.hold import Load, held
from gluepot.streaming.advisor.history import Observation

WINDOW = 5.0


def batches(*ends_and_rows, waiting=0):
    return [Observation(end, 1.0, WINDOW, rows, 1, 1, {"t-0": waiting}) for end, rows in ends_and_rows]


def steady_batches(count, waiting=lambda _: 500):
    return [
        Observation(1000 + WINDOW * n + 1, 1.0, WINDOW, 500, 1, 1, {"t-0": waiting(n)}) for n in range(1, count + 1)
    ]


def test_a_record_waits_from_when_it_was_due_to_the_end_of_its_batch():
    result = held(batches((1006, 500), (1011, 500)), Load(1000, 100.0, 1000), WINDOW, 0.0, None)
    assert result.worst_secs == pytest.approx(6.0)
    assert result.p50_secs == pytest.approx(3.5, abs=0.1)


def test_records_sent_before_the_load_are_read_first_and_do_not_count():
    result = held(batches((900, 3), (1006, 500)), Load(1000, 100.0, 500, before_rows=3), WINDOW, 0.0, None)
    assert result.worst_secs == pytest.approx(6.0)


def test_records_of_the_warm_up_do_not_count():
    slow_start = [*batches((1011, 1000)), *steady_batches(10)[2:]]
    result = held(slow_start, Load(1000, 100.0, 5000), WINDOW, 10.0, 7.0)
    assert result.worst_secs == pytest.approx(6.0)
    assert result.secs == 40.0
    assert result.holds


def test_a_lag_that_grows_does_not_hold_whatever_the_latency():
    growing = held(steady_batches(12, lambda n: 100 * n), Load(1000, 100.0, 6000), WINDOW, 0.0, None)
    assert (growing.lag_grows, growing.holds) == (True, False)
    assert (growing.first_waiting, growing.last_waiting) == (250, 1050)


@pytest.mark.parametrize(("sla_secs", "holds"), [(6.5, True), (5.5, False)])
def test_ninety_nine_of_a_hundred_records_have_to_be_within_the_sla(sla_secs, holds):
    result = held(steady_batches(10), Load(1000, 100.0, 5000), WINDOW, 0.0, sla_secs)
    assert (result.lag_grows, result.holds) == (False, holds)
