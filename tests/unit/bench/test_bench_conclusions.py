"""What follows from the runs."""

import json

import pytest

from gluepot.bench.conclude import Goal, Impossible, Settings, fits, scaling, settings_for
from gluepot.bench.measured import Run, models
from gluepot.bench.report import as_json, as_text
from tests.unit.bench.made import LIMITS, all_runs, chance, linear, report, run_on

PLANT = linear(0.3, 30_000, efficiency=0.8)


@pytest.fixture(scope="module")
def done():
    return all_runs(PLANT, LIMITS)


def test_fixed_cost_and_rate_are_found_of_each_number_of_cores(done):
    known = models(done)
    assert known[1].fixed_secs == pytest.approx(0.3, rel=0.1)
    assert known[1].worker_rate == pytest.approx(30_000, rel=0.05)
    assert known[2].worker_rate == pytest.approx(24_000, rel=0.05)


def test_a_core_beside_another_is_told_as_a_share_of_one_alone(done):
    assert scaling(models(done)) == {1: 1.0, 2: pytest.approx(0.8, rel=0.1)}


def test_the_model_is_close_to_every_run_also_to_those_it_did_not_see(done):
    found = fits(done)
    assert len(found) == 8
    assert all(one.is_close for one in found)
    assert all(one.left_out_secs == pytest.approx(one.measured.p50_secs, rel=0.25) for one in found)


def test_a_script_that_is_not_linear_fails_the_fit_check():
    bent = all_runs(lambda rows, cores: 0.05 + (rows / 30_000) ** 2 / cores, LIMITS)
    assert not all(one.is_close for one in fits(bent))


def test_one_core_is_enough_where_its_batch_fits_the_window(done):
    found = settings_for(Goal(sla_secs=10, rate=20_000), done, chance())
    assert isinstance(found, Settings)
    assert (found.cores, found.window_secs, found.measured, found.keeps_sla) == (1, 5.0, True, True)
    assert found.batch_secs == pytest.approx(0.3 + 20_000 * 5 / 30_000, rel=0.05)
    assert 20_000 * 5 <= found.limit_rows <= 30_000 * 5


def test_the_cores_are_those_of_the_plant_beyond_what_was_measured(done):
    found = settings_for(Goal(sla_secs=10, rate=200_000), done, chance())
    assert isinstance(found, Settings)
    least = 200_000 * 5 / (24_000 * (0.85 * 5 - 0.3))
    assert least <= found.cores <= least * 1.1 + 1
    assert not found.measured
    assert found.partitions == found.cores


def test_latency_is_the_wait_for_the_window_and_the_batch(done):
    found = settings_for(Goal(sla_secs=10, rate=20_000), done, chance())
    assert found.p50.value == pytest.approx(2.5 + found.batch_secs, rel=0.05)
    assert found.p99.value == pytest.approx(4.95 + found.batch_secs * 1.05, rel=0.05)
    for one in (found.p50, found.p99):
        assert one.low <= one.value <= one.high
        assert one.high - one.low < 0.2 * one.value


def test_without_a_rate_the_settings_are_for_what_the_measured_cores_take(done):
    found = settings_for(Goal(sla_secs=10), done, chance())
    assert found.cores == 2
    assert found.rate == pytest.approx(2 * 24_000 * (0.85 * 5 - 0.3) / 5, rel=0.05)


def test_without_an_sla_the_window_is_that_of_the_best_rate(done):
    found = settings_for(Goal(rate=20_000), done, chance())
    assert found.window_secs == 5.0
    assert found.keeps_sla is None


def test_fixed_cost_that_fills_the_window_is_no_matter_of_cores():
    slow = all_runs(linear(2.0, 5_000), LIMITS)
    found = settings_for(Goal(sla_secs=2, rate=1000), slow, chance())
    assert isinstance(found, Impossible)
    assert "fixed cost" in found.sentence


def test_a_person_reads_the_runs_the_fit_the_answer_and_what_to_paste(done):
    text = as_text(report(done, Goal(10, 20_000)))
    assert text.count("█") > 40
    assert "every run is predicted within 15% at p50" in text
    assert "For 20,000 rows/s within 10 s: 1 core (measured), as many partitions or more" in text
    assert 'connection_options: "maxOffsetsPerTrigger": "' in text
    assert 'forEachBatch options: "windowSize": "5 seconds"' in text
    assert "2 G.1X, one of them the driver" in text
    assert "1 more runs were planned" in text
    assert "Run at 20,000 rows/s for 300 s: it holds." in text
    assert "latency p50 3.5 s, p99 6.5 s, worst 7.0 s, the SLA is 10 s" in text
    assert "the lag stood still: 21,000 records behind early batches, 20,000 behind late ones" in text


def test_a_program_gets_the_same(done):
    plain = json.loads(json.dumps(as_json(report(done, Goal(10, 20_000)))))
    assert plain["model_is_close"]
    assert plain["held"]["holds"]
    assert [run["cores"] for run in plain["runs"]] == [1] * 5 + [2] * 3
    assert (plain["settings"]["cores"], plain["settings"]["glue"]["workers"]) == (1, 2)
    assert plain["settings"]["here_usd_per_day"] == pytest.approx(1.2)


def test_what_is_not_possible_is_said_to_both():
    slow = report(all_runs(linear(2.0, 5_000), LIMITS), Goal(2, 1000))
    assert "fixed cost" in as_text(slow)
    assert "fixed cost" in as_json(slow)["settings"]["impossible"]


def test_a_single_run_claims_no_accuracy():
    one = [run_on(PLANT, Run(1, 50_000))]
    found = report(one, Goal(10, 10_000))
    text = as_text(found)
    assert "job.py: 1 of 2 runs" in text
    assert "predicted within" not in text
    assert "1 core: not checked; that takes 3 runs" in text
    assert "interval)" in text
    assert "90% interval" not in text
    assert "not measured: only 1 run on 1 core of the 3 that an interval needs" in text
    assert "p99 may be above the SLA of 10 s" in text
    plain = as_json(found)
    assert plain["model_is_close"] is None
    assert (plain["settings"]["p99"]["high"], plain["settings"]["keeps_sla"]) == (None, None)


def test_what_is_beyond_the_runs_is_said(done):
    assert "not measured" not in as_text(report(done, Goal(10, 15_000)))
    little = as_text(report(done, Goal(10, 20_000)))
    assert "90% interval" in little
    assert "not measured: batches of 100,000 rows for each core; the largest that was run had " in little
    far = settings_for(Goal(sla_secs=60, rate=20_000), done, chance())
    assert far.p99.high is None, "batches of half a minute are far from those that were run"
    many = as_text(report(done, Goal(10, 200_000)))
    assert "cores, in a straight line from 2 cores" in many
    assert "90% interval" not in many
