"""Each kind of trouble is called by its name, with a number to act on."""

import pytest

from gluepot.streaming.advisor import AdvisorSettings, Limit, Measure, Observation, advise


def batches(
    count=30, *, window=60.0, fixed=5.0, rate=4000.0, workers=4, load=10_000.0, shares=(1,) * 12, swing=0.2, **changes
):
    """Batches of a stream whose load goes up and down; those that do not fit the window leave rows behind."""
    history, waiting, end = [], 0.0, 0.0
    for index in range(count):
        waiting += load * window * (1.0, 1.0 + swing, 1.0 - swing)[index % 3]
        rows = waiting if window <= fixed else min(waiting, (window - fixed) * workers * rate)
        waiting -= rows
        secs = fixed + rows / (workers * rate)
        end += window
        one = {"waiting_rows": split(waiting, shares), "task_secs": rows / rate}
        one |= {name: change(index) if callable(change) else change for name, change in changes.items()}
        history.append(Observation(end, secs, window, int(rows), workers, workers, **one))
    return history


def split(rows, shares):
    return {f"clicks-{number}": int(rows * share / sum(shares)) for number, share in enumerate(shares)}


def measures(advice):
    return {one.measure: one for one in advice.recommendations}


def backlog_in_one_partition(index):
    return {f"clicks-{number}": 90_000 * (index + 1) if number == 7 else 2_000 for number in range(12)}


def test_a_skewed_topic_is_named_with_its_partition_and_no_worker_is_advised():
    advice = advise(batches(waiting_rows=backlog_in_one_partition), AdvisorSettings())
    assert advice.limit is Limit.SKEW
    assert "clicks-7" in advice.reason
    assert advice.wanted_workers <= advice.workers
    assert measures(advice)[Measure.KEYS].sentence.endswith("in the producer.")
    assert measures(advice)[Measure.REPARTITION].wanted == 4


def test_a_partition_that_several_tasks_read_is_no_limit():
    skewed = advise(batches(waiting_rows=backlog_in_one_partition, divisible=True), AdvisorSettings())
    few = batches(load=30_000.0, shares=(1,))

    assert skewed.limit is Limit.WORKERS
    assert skewed.wanted_workers > skewed.workers
    assert advise(few, AdvisorSettings()).limit is Limit.PARTITIONS
    assert advise(batches(load=30_000.0, shares=(1,), divisible=True), AdvisorSettings()).limit is Limit.WORKERS


def test_a_backlog_that_all_partitions_share_is_no_skew():
    history = batches(waiting_rows=lambda index: split(90_000.0 * (index + 1), (1,) * 12))
    advice = advise(history, AdvisorSettings())
    assert advice.limit is Limit.WORKERS
    assert advice.wanted_workers > advice.workers


def test_one_partition_of_two_that_holds_the_backlog_for_one_batch_is_no_skew():
    history = batches(waiting_rows=lambda index: {"a-0": 5_000_000 if index == 29 else 0, "a-1": 0})
    assert advise(history, AdvisorSettings()).limit is not Limit.SKEW


def test_a_throttled_stream_is_named_and_told_how_many_shards_it_needs():
    advice = advise(batches(task_secs=200.0, throttled_secs=80.0), AdvisorSettings())
    assert advice.limit is Limit.THROTTLING
    assert "40%" in advice.reason
    assert advice.wanted_workers <= advice.workers
    assert measures(advice)[Measure.SOURCE].wanted == 20  # 12 shards give 60 % of what is asked for


def test_waits_that_are_a_few_percent_of_the_time_of_tasks_are_no_throttling():
    assert advise(batches(task_secs=200.0, throttled_secs=5.0), AdvisorSettings()).limit is Limit.NOTHING


def test_a_window_that_the_fixed_cost_fills_is_named_and_a_longer_one_advised():
    advice = advise(batches(window=5.0, fixed=5.2, load=4000.0, swing=0.6), AdvisorSettings())
    assert advice.limit is Limit.WINDOW
    assert advice.wanted_workers == advice.workers
    longer = measures(advice)[Measure.WINDOW]
    assert (longer.current, longer.wanted) == (5.0, 15.0)


def test_a_longer_window_that_breaks_the_sla_is_advised_together_with_that():
    advice = advise(batches(window=5.0, fixed=5.2, load=4000.0, swing=0.6), AdvisorSettings(sla_secs=20))
    assert "more than half of the SLA" in measures(advice)[Measure.WINDOW].sentence


def test_a_topic_with_too_few_partitions_is_named_with_the_number_that_is_enough():
    history = batches(load=30_000.0, shares=(1, 1, 1, 1))
    advice = advise(history, AdvisorSettings(catch_up_secs=86_400.0))
    assert advice.limit is Limit.PARTITIONS
    assert advice.wanted_workers == 4
    assert measures(advice)[Measure.PARTITIONS].current == 4
    assert (
        9 <= measures(advice)[Measure.PARTITIONS].wanted <= 13
    )  # 30,000 rows/s, 4,000 a worker, 77 % of the window for rows
    assert Measure.REPARTITION in measures(advice)


def test_partitions_limit_nothing_where_the_batch_function_repartitions():
    advice = advise(batches(load=30_000.0, shares=(1, 1, 1, 1)), AdvisorSettings(repartitions=True))
    assert advice.limit is Limit.WORKERS
    assert advice.wanted_workers > 4


def test_a_load_for_more_workers_than_allowed_is_split_with_assign():
    advice = advise(batches(load=60_000.0), AdvisorSettings(max_workers=8))
    assert advice.wanted_workers == 8
    assert measures(advice)[Measure.SPLIT].wanted >= 2


def test_without_a_batch_limit_one_that_fits_the_window_is_advised():
    limit = measures(advise(batches(), AdvisorSettings()))[Measure.BATCH_LIMIT]
    assert 5.0 + limit.wanted / (advise(batches(), AdvisorSettings()).wanted_workers * 4000.0) <= 60.0


def test_a_batch_limit_keeps_below_half_of_the_sla():
    advice = advise(batches(), AdvisorSettings(sla_secs=60))
    wanted = measures(advice)[Measure.BATCH_LIMIT].wanted
    assert advice.fixed_secs + wanted / (advice.wanted_workers * advice.worker_rate) <= 30.5


def test_no_batch_limit_is_advised_below_what_arrives():
    advice = advise(batches(), AdvisorSettings(sla_secs=10.1))  # half of it is the fixed cost
    assert Measure.BATCH_LIMIT not in measures(advice)


def test_a_limit_that_is_hit_while_rows_pile_up_is_told():
    history = batches(waiting_rows=lambda index: split(120_000 * index, (1,) * 8))
    limited = [Observation(**{**one.to_json(), "rows": 480_000, "secs": 35.0}) for one in history]
    advice = advise(limited, AdvisorSettings(batch_limit_rows=480_000))
    assert "is hit batch after batch" in measures(advice)[Measure.BATCH_LIMIT].sentence


def test_small_files_are_met_with_a_longer_window():
    advice = advise(batches(files=10, bytes_out=10 * 8 * 1024**2), AdvisorSettings())
    assert measures(advice)[Measure.WINDOW].wanted == 1200  # 128 MiB take 16 windows of 60 s; the next round number


def test_small_files_never_ask_for_a_window_beyond_half_of_the_sla():
    advice = advise(batches(files=10, bytes_out=10 * 8 * 1024**2), AdvisorSettings(sla_secs=300))
    assert measures(advice)[Measure.WINDOW].wanted == 150


def test_a_stream_that_hardly_uses_one_worker_may_share_it():
    advice = advise(batches(workers=1, fixed=0.5, load=100.0), AdvisorSettings())
    assert measures(advice)[Measure.MERGE].wanted >= 5


@pytest.mark.parametrize("history", [batches(1), batches(2), batches(20, load=0.0)])
def test_too_little_to_learn_from_is_said_and_changes_nothing(history):
    advice = advise(history, AdvisorSettings())
    assert (advice.limit, advice.wanted_workers) == (Limit.UNKNOWN, advice.workers)
