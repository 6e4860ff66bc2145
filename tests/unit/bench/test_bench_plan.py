"""Which runs are done."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.bench.job import measured
from gluepot.bench.measured import Run
from gluepot.bench.plan import FIRST_ROWS, Bounds, bounds, is_enough, remaining, within
from gluepot.streaming.advisor.history import Observation
from tests.unit.bench.made import LIMITS, START_SECS, all_runs, linear, run_on


def test_five_rising_sizes_on_one_partition_come_before_three_on_two():
    runs = [one.run for one in all_runs(linear(0.3, 30_000), LIMITS)]
    assert [run.cores for run in runs] == [1] * 5 + [2] * 3
    sizes = [run.limit_rows for run in runs[:5]]
    assert sizes[:2] == [FIRST_ROWS, 8 * FIRST_ROWS]
    assert sizes == sorted(sizes)
    assert [run.limit_rows for run in runs[5:]] == [2 * sizes[0], 2 * sizes[2], 2 * sizes[4]]


def test_the_largest_batches_take_about_as_long_as_they_should():
    done = all_runs(linear(0.3, 30_000), LIMITS)
    assert done[4].p50_secs == pytest.approx(3.0, rel=0.15)


def test_a_slow_script_gets_fewer_sizes():
    done = all_runs(linear(2.0, 5_000), LIMITS)
    assert [one.run.limit_rows for one in done if one.run.cores == 1] == [1000, 8000]


def test_cores_are_doubled_up_to_the_most():
    assert sorted({one.run.cores for one in all_runs(linear(0.3, 30_000), Bounds(8, 3.0, 2_000_000))}) == [1, 2, 4, 8]


@given(fixed=st.floats(0.01, 5), rate=st.floats(100, 1e6), most=st.integers(1, 10**6), cores=st.integers(1, 8))
def test_no_run_is_done_twice_none_is_above_the_bounds_and_they_end(fixed, rate, most, cores):
    runs = [one.run for one in all_runs(linear(fixed, rate), Bounds(cores, 3.0, 20 * most))]
    assert len(runs) == len(set(runs)) <= 5 + 3 * 3
    assert all(run.limit_rows <= run.cores * most and run.cores <= cores for run in runs)
    assert all(before.limit_rows < after.limit_rows for before, after in pairwise(runs) if before.cores == after.cores)


def test_what_is_left_is_foretold_within_a_quarter_after_two_runs():
    plant = linear(0.3, 30_000)
    done = [run_on(plant, Run(1, rows)) for rows in (1000, 8000)]
    foretold = sum(one.secs for one in remaining(done, LIMITS))
    runs = all_runs(plant, LIMITS)[2:]
    took = sum(START_SECS + LIMITS.batches(one.run, one.p50_secs) * one.p50_secs for one in runs)
    assert foretold == pytest.approx(took, rel=0.25)


def test_the_room_for_records_bounds_a_batch():
    found = bounds(2, None, 20_000_000, 100.0)
    assert found == Bounds(2, 3.0, 200_000)
    assert found.most_rows == 10_000
    assert bounds(2, 4.0, 20_000_000, 100.0).largest_secs == 2.0


def test_short_batches_are_run_until_the_machine_is_warm():
    assert LIMITS.batches(Run(1, 1000), 0.2) == 60 + 10
    assert LIMITS.batches(Run(1, 100_000), 6.0) == 3 + 10


def test_there_are_records_for_a_run_that_is_faster_than_foretold():
    """After one size the model knows no fixed cost, and says too long a time for larger batches."""
    plant = linear(0.25, 200_000)
    done = [run_on(plant, run) for run in (Run(1, 1000), Run(1, 8000), Run(1, 22_000), Run(1, 150_000), Run(2, 2000))]
    following = remaining(done, LIMITS)[-1]
    assert following.batches < following.most_batches
    assert following.most_batches >= 12 / plant(following.run.limit_rows, 2) + 10


@pytest.mark.parametrize(
    ("batch_secs", "enough"),
    [([1.0] * 22, True), ([1.0] * 21, False), ([5.0] * 13, True), ([5.0] * 12, False), ([], False), ([0.3] * 50, True)],
)
def test_ten_batches_come_after_warming_up(batch_secs, enough):
    assert is_enough(batch_secs) == enough


@pytest.mark.parametrize("cores", [1, 2])
def test_warming_up_ends_where_the_records_do(cores):
    assert Bounds(2, 3.0, 200_000).batches(Run(cores, cores * 10_000), 0.1) == 20
    assert Bounds(2, 3.0, 5).batches(Run(cores, cores), 0.1) == 13


def test_the_last_ten_batches_count():
    batches = [Observation(float(at), 1.0 if at < 40 else 0.2, 5.0, 1000, 1, 1) for at in range(50)]
    assert [one.secs for one in measured(Run(1, 1000), batches, 50.0).batches] == [0.2] * 10


def test_with_time_for_all_of_it_the_plan_is_kept():
    plan = remaining([run_on(linear(0.3, 30_000), Run(1, 1000))], LIMITS)
    assert within(plan, sum(one.secs for one in plan)) == plan


def test_with_less_time_the_largest_batches_stay_and_the_order_too():
    plan = remaining([run_on(linear(0.3, 30_000), Run(1, rows)) for rows in (1000, 8000)], LIMITS)
    largest, smallest_of_two, largest_of_two = plan[2], plan[3], plan[5]
    three = [largest, smallest_of_two, largest_of_two]
    assert within(plan, sum(one.secs for one in three) + 1) == three
    assert within(plan, largest.secs) == [largest]
    assert within(plan, 1.0) == []
