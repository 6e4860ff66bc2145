from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.streaming.progress import BatchStats, duration_quantile, input_rate, process_rate, window_ratio

BATCH = BatchStats(
    query="clicks",
    batch_id=7,
    window_secs=10.0,
    started_epoch=1_000.0,
    duration_secs=4.0,
    previous_started_epoch=980.0,
    rows_in=1_000,
)


def lasting(*secs):
    return [replace(BATCH, duration_secs=s) for s in secs]


def test_input_rate_is_rows_over_time_since_the_previous_batch_began():
    assert input_rate(BATCH) == 50.0


def test_input_rate_of_the_first_batch_is_zero_as_in_spark():
    assert input_rate(replace(BATCH, previous_started_epoch=None)) == 0.0


def test_process_rate_is_rows_over_batch_time():
    assert process_rate(BATCH) == 250.0


def test_rates_over_no_time_are_zero():
    instant = replace(BATCH, duration_secs=0.0, previous_started_epoch=BATCH.started_epoch)
    assert (input_rate(instant), process_rate(instant)) == (0.0, 0.0)


def test_window_ratio_is_batch_time_over_window():
    assert window_ratio(BATCH) == 0.4


def test_window_ratio_without_a_window_is_zero():
    assert window_ratio(replace(BATCH, window_secs=0.0)) == 0.0


def test_a_batch_is_committed_at_its_end():
    assert BATCH.committed_epoch == 1_004.0


@pytest.mark.parametrize(("quantile", "secs"), [(0.5, 2.0), (0.95, 4.0), (0.25, 1.0), (1.0, 4.0)])
def test_quantiles_are_nearest_ranks(quantile, secs):
    assert duration_quantile(lasting(4.0, 1.0, 3.0, 2.0), quantile) == secs


def test_an_empty_history_has_no_quantile():
    assert duration_quantile([], 0.5) is None


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0.001, 1))
def test_at_least_the_quantiles_share_of_batches_took_no_longer(secs, quantile):
    bound = duration_quantile(lasting(*secs), quantile)
    assert bound in secs
    assert sum(s <= bound for s in secs) >= quantile * len(secs)
