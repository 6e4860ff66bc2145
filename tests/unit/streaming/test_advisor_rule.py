"""The rule for the number of workers, and what it is learned from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.core.errors import ConfigError
from gluepot.streaming.advisor import AdvisorSettings, Limit, Observation, advise, observed
from gluepot.streaming.advisor.forecast import forecast
from gluepot.streaming.advisor.history import settled
from gluepot.streaming.advisor.model import fit
from gluepot.streaming.progress import BatchStats

WINDOW = 60.0


def batch(index, rows, secs, workers=4, waiting=0, **other):
    return Observation(
        WINDOW * index + secs,
        secs,
        WINDOW,
        rows,
        workers,
        workers,
        {f"t-{n}": waiting // 24 for n in range(24)},
        **other,
    )


def steady(rates, *, fixed=6.0, rate=4000.0, workers=4, seed=1, noise=0.0):
    """Batches that keep up, one a window; what arrives while one runs waits at its end."""
    rng = np.random.default_rng(seed)
    history = []
    for index, load in enumerate(rates):
        secs = (fixed + load * WINDOW / (workers * rate)) * rng.lognormal(0, noise)
        history.append(batch(index, int(load * WINDOW), secs, workers, int(load * secs)))
    return history


@given(
    fixed=st.floats(1, 20),
    rate=st.floats(500, 50_000),
    sizes=st.lists(st.integers(100_000, 5_000_000), min_size=10, max_size=40).filter(lambda s: max(s) > 2 * min(s)),
    workers=st.integers(1, 16),
)
def test_batch_time_is_predicted_within_15_percent_where_nothing_disturbs(fixed, rate, sizes, workers):
    history = [batch(index, rows, fixed + rows / (workers * rate), workers) for index, rows in enumerate(sizes)]
    model = fit(history)
    expected = [fixed + rows / (workers * rate) for rows in sizes]
    predicted = [model.batch_secs(rows, workers) for rows in sizes]
    errors = sorted(abs(one - other) / other for one, other in zip(predicted, expected, strict=True))
    assert errors[len(errors) // 2] <= 0.15


def test_fixed_cost_and_rate_are_found_through_noise_and_stragglers():
    rng = np.random.default_rng(3)
    history = []
    for index in range(60):
        rows, workers = int(rng.integers(200_000, 1_500_000)), 4 + 4 * (index % 2)
        slow = 3.0 if index % 15 == 7 else 1.0
        history.append(batch(index, rows, (6.0 + rows / (workers * 4000.0)) * rng.lognormal(0, 0.05) * slow, workers))
    model = fit(history)
    assert model.fixed_secs == pytest.approx(6.0, rel=0.25)
    assert model.worker_rate == pytest.approx(4000.0, rel=0.06)


def test_batches_of_one_size_take_a_tenth_as_fixed():
    model = fit([batch(index, 600_000, 40.0) for index in range(20)])
    assert model.fixed_secs == pytest.approx(4.0, rel=0.05)
    assert model.batch_secs(600_000, 4) == pytest.approx(40.0, rel=0.01)


def test_confidence_grows_with_batches_and_falls_with_noise():
    few, many = steady([8_000, 12_000] * 2), steady([8_000, 12_000] * 10)
    wild = steady([8_000, 12_000] * 10, noise=0.5)
    assert fit(few).confidence < fit(many).confidence == 1.0 > fit(wild).confidence


@given(st.lists(st.integers(1, 6), max_size=40), st.integers(0, 4))
def test_the_first_batches_after_a_start_or_a_change_do_not_count(workers, warm_up):
    history = [batch(index, 1000, 10.0, count) for index, count in enumerate(workers)]
    for kept in settled(history, warm_up):
        index = history.index(kept)
        assert index >= warm_up
        assert len(set(workers[index - warm_up : index + 1])) == 1


def test_arrivals_are_what_was_read_and_what_more_waits_since():
    history = [batch(0, 600_000, 30.0, waiting=0), batch(1, 600_000, 30.0, waiting=300_000)]
    assert forecast(history, 0.0, 0.0).now == pytest.approx(15_000)


def test_a_clear_rise_is_followed_to_the_time_a_worker_comes():
    rising = forecast(steady([1000.0 * n for n in range(10, 22)]), 120.0, 300.0)
    assert rising.ahead > rising.now * 1.05


def test_a_steady_load_keeps_the_workers_it_has():
    advice = advise(steady([10_000, 10_200, 9_900] * 10), AdvisorSettings())
    assert advice.limit is Limit.NOTHING
    assert not advice.changes_workers


def test_four_times_the_load_gets_the_workers_that_hold_it():
    advice = advise(steady([10_000, 10_200, 9_900] * 10 + [40_000]), AdvisorSettings(repartitions=True))
    assert advice.limit is Limit.WORKERS
    # 40,000 rows/s are 10 workers without fixed cost, 12 with 6 s of 60; what piles up till they are there takes more.
    assert 11 <= advice.wanted_workers <= 30
    assert advice.worker_hours_per_day == 24 * (advice.wanted_workers - 4)
    assert advice.recommendations[0].wanted == advice.wanted_workers


def test_a_quarter_of_the_load_gives_workers_back_only_after_the_hold_time():
    before, after = [10_000, 10_200, 9_900] * 10, [2_500, 2_550, 2_450] * 4
    settings = AdvisorSettings(hold_secs=300.0)
    assert not advise(steady(before + after[:3]), settings).changes_workers
    assert advise(steady(before + after), settings).wanted_workers == 1


def test_a_backlog_is_caught_up_and_the_time_that_takes_is_told():
    history = steady([10_000, 10_200, 9_900] * 10)
    behind = {"t-0": 3_000_000, "t-1": 3_000_000}
    history[-12:] = [Observation(**{**one.to_json(), "waiting_rows": behind}) for one in history[-12:]]
    advice = advise(history, AdvisorSettings(repartitions=True))
    assert advice.wanted_workers > 4
    assert 0 < advice.catch_up_secs < 7200


@given(
    load=st.floats(1_000, 200_000),
    least=st.integers(1, 8),
    more=st.integers(0, 30),
    partitions=st.integers(1, 64),
    use=st.floats(0.5, 1.0),
)
def test_advice_keeps_to_its_bounds(load, least, more, partitions, use):
    history = [
        Observation(one.ended_epoch, one.secs, WINDOW, one.rows, 4, 4, {f"t-{n}": 0 for n in range(partitions)})
        for one in steady([load, load * 1.1, load * 0.9] * 5)
    ]
    settings = AdvisorSettings(min_workers=least, max_workers=least + more, target_use=use)
    advice = advise(history, settings)
    if advice.changes_workers:
        assert least <= advice.wanted_workers <= max(least, min(least + more, partitions))


@given(load=st.floats(5_000, 50_000), factor=st.floats(1.0, 3.0))
def test_more_load_never_gets_fewer_workers(load, factor):
    pattern = [1.0, 1.1, 0.9] * 6
    settings = AdvisorSettings(repartitions=True)
    one = advise(steady([load * part for part in pattern]), settings)
    other = advise(steady([load * factor * part for part in pattern]), settings)
    assert one.wanted_workers <= other.wanted_workers


def test_sixteen_partitions_get_eight_slots_or_sixteen_rather_than_fourteen():
    shards = {f"t-{n}": 0 for n in range(16)}
    history = [
        Observation(one.ended_epoch, one.secs, WINDOW, one.rows, 8, 8, shards)
        for one in steady([44_000, 46_000, 45_000] * 10, workers=8)
    ]
    assert advise(history, AdvisorSettings()).wanted_workers == 16


def test_the_same_history_gives_the_same_advice():
    history = steady([10_000, 14_000] * 15, noise=0.1)
    assert advise(history, AdvisorSettings()) == advise(list(history), AdvisorSettings())


def test_glues_rules_of_thumb_are_reported_beside():
    rules = advise(steady([10_000, 10_200, 9_900] * 10), AdvisorSettings(sla_secs=60)).rules_of_thumb
    assert rules == {
        "batch below 70 % of the window": False,
        "batch below half of the SLA": False,
        "window at most half of the SLA": False,
    }


def test_a_query_without_a_window_gets_no_number():
    history = [Observation(**{**one.to_json(), "window_secs": 0.0}) for one in steady([10_000, 12_000] * 10)]
    advice = advise(history, AdvisorSettings())
    assert not advice.changes_workers
    assert "no window" in advice.reason


def test_a_finished_batch_becomes_an_observation():
    stats = BatchStats(
        query="clicks",
        batch_id=7,
        window_secs=60.0,
        started_epoch=1000.0,
        duration_secs=42.0,
        phase_secs={"fetch": 10.0, "throttled": 3.0, "parse": 20.0, "publish": 1.0},
        rows_in=500,
        files=2,
        bytes_out=4096,
        lag_records={"clicks-0": 5, "clicks-1": 0},
    )
    assert observed(stats, workers=3, ordered_workers=5) == Observation(
        1042.0, 42.0, 60.0, 500, 3, 5, {"clicks-0": 5, "clicks-1": 0}, 33.0, 3.0, 2, 4096
    )


def test_an_observation_survives_its_plain_form():
    one = steady([10_000])[0]
    assert Observation.from_json(one.to_json()) == one


@pytest.mark.parametrize(
    "change",
    [{"secs": -1.0}, {"workers": 0}, {"rows": "many"}, {"colour": "red"}, {"waiting_rows": {"t-0": -5}}],
)
def test_a_line_that_is_no_observation_is_refused(change):
    with pytest.raises(ConfigError, match="record it again"):
        Observation.from_json({**steady([10_000])[0].to_json(), **change})
