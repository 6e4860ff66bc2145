"""The rule keeps what the benchmark showed, on a few of its streams; a change that makes it worse fails here."""

import pytest

from benchmarks.autoscaling.judge import ALL, HELD_OUT, TUNED, judge
from benchmarks.autoscaling.loads import FAMILIES, GOAL_BROKEN_SHARE, GOAL_OVER_ORACLE, JUDGED_SEEDS, TUNING_SEEDS
from benchmarks.autoscaling.plant import Outcome, simulate, world
from benchmarks.autoscaling.rivals import OURS, Rule, ours, static
from gluepot.bench.svg_chart import Axis, Line, chart

SHORT = [family for family in FAMILIES if family.secs <= 6 * 3600 and family.name not in HELD_OUT]
STEP = next(family for family in FAMILIES if family.name == "step x4")


@pytest.fixture(scope="module")
def judged():
    return judge(SHORT, TUNING_SEEDS[:1], [Rule(OURS.name, OURS.published, {OURS.published: ours()})])


@pytest.mark.slow
def test_the_advisor_stays_close_to_the_oracle(judged):
    assert judged.summary(OURS.name, OURS.published, [family.name for family in SHORT]).cost <= GOAL_OVER_ORACLE


@pytest.mark.slow
def test_the_advisor_keeps_the_slo(judged):
    assert judged.summary(OURS.name, OURS.published, [family.name for family in SHORT]).broken <= GOAL_BROKEN_SHARE


@pytest.mark.slow
def test_the_oracle_keeps_the_slo_too(judged):
    assert judged.oracle_summary([family.name for family in SHORT]).broken <= GOAL_BROKEN_SHARE


def test_a_run_is_the_same_every_time():
    one, other = (simulate(world(STEP, 1), ours()(world(STEP, 1))) for _ in range(2))
    assert one == other


def test_workers_that_never_change_cost_their_number_times_the_time():
    stream = world(STEP, 1)
    outcome: Outcome = simulate(stream, lambda history: history[-1].ordered_workers)
    workers = outcome.trace[0][1]
    assert outcome.worker_secs == pytest.approx(workers * outcome.secs)
    assert outcome.changes == 0


def test_workers_for_the_peak_never_break_the_slo_and_half_of_them_do():
    stream = world(STEP, 1)
    peak, half = (simulate(stream, static(share, peak=True)(stream)) for share in (1.2, 0.5))
    assert peak.broken_secs == 0.0
    assert half.broken_secs > 0.1 * half.secs


def test_what_is_judged_was_not_tuned_on():
    assert not set(TUNING_SEEDS) & set(JUDGED_SEEDS)
    assert set(HELD_OUT) | set(TUNED) == set(ALL)
    assert len(HELD_OUT) == 2


def test_a_chart_draws_a_point_at_the_end_of_both_axes_in_its_corner():
    axis = Axis("rows & seconds", 0.0, 10.0, [(0.0, "0")])
    drawn = chart("title", axis, axis, [Line("one", [(0.0, 0.0), (10.0, 10.0)])])
    assert 'points="66.0,368.0 670.0,34.0"' in drawn
    assert "rows &amp; seconds" in drawn
