"""When the advice for workers is followed."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError
from gluepot.core.job_parameters import JobParameters
from gluepot.job.scaling import advisor, cluster_slots
from gluepot.streaming.advisor import Advice, AdviceLog, AdvisorSettings, Limit
from gluepot.streaming.observe.status import JobStatus
from gluepot.streaming.progress import BatchStats
from gluepot.streaming.scaling import Keep, Scaler, ScaleTo, decide
from gluepot.streaming.scaling.cluster import newest
from gluepot.streaming.side_tasks import side_task

SETTINGS = AdvisorSettings(min_workers=1, max_workers=8, cool_down_secs=60)
workers = st.integers(1, 50)


@dataclass
class Farm:
    """Workers that come at once, and a memory of what was asked for."""

    there: int = 1
    asked: list[int] = field(default_factory=list)

    def workers(self):
        return self.there

    def ordered(self):
        return self.there

    def scale_to(self, count):
        self.asked.append(count)
        self.there = count


def advice(wanted, confidence=1.0, now=1):
    return Advice(0.0, now, wanted, Limit.WORKERS, "because", confidence=confidence)


@given(ordered=workers, wanted=workers, low=workers, more=st.integers(0, 50), sure=st.floats(0, 1))
def test_no_decision_is_outside_the_bounds(ordered, wanted, low, more, sure):
    settings = AdvisorSettings(min_workers=low, max_workers=low + more)
    match decide(ordered, wanted, sure, None, settings):
        case ScaleTo(count):
            assert low <= count <= low + more
            assert count != ordered
        case Keep(reason):
            assert reason


def test_more_workers_come_on_the_first_word_and_go_on_a_sure_one():
    assert decide(1, 4, 0.1, None, SETTINGS) == ScaleTo(4)
    assert isinstance(decide(4, 1, 0.1, None, SETTINGS), Keep)
    assert decide(4, 1, 0.9, None, SETTINGS) == ScaleTo(1)


def test_nothing_changes_in_the_cool_down():
    assert isinstance(decide(1, 4, 1.0, 59.0, SETTINGS), Keep)
    assert decide(1, 4, 1.0, 60.0, SETTINGS) == ScaleTo(4)


def test_the_cool_down_begins_with_a_change():
    farm, clock = Farm(), FakeClock()
    scaler = Scaler(farm, SETTINGS, clock)
    scaler.follow("clicks", advice(3))
    clock.sleep(30)
    scaler.follow("clicks", advice(5))
    assert farm.asked == [3]
    clock.sleep(30)
    scaler.follow("clicks", advice(5))
    assert farm.asked == [3, 5]


def test_the_wish_of_a_query_that_has_ended_no_longer_counts():
    farm, status = Farm(), JobStatus()
    scaler = Scaler(farm, AdvisorSettings(max_workers=8, cool_down_secs=0), FakeClock(), status.ended)
    scaler.follow("backfill", advice(6))
    scaler.follow("clicks", advice(2))
    status.tell("backfill", ended=True)

    scaler.follow("clicks", advice(2))

    assert farm.asked == [6, 2]


def test_queries_share_the_workers_so_the_largest_wish_counts():
    farm, clock = Farm(), FakeClock()
    scaler = Scaler(farm, SETTINGS, clock)
    scaler.follow("large", advice(6))
    clock.sleep(100)
    scaler.follow("small", advice(1))
    assert farm.asked == [6]


def test_the_advice_of_each_batch_is_followed_where_somebody_follows(tmp_path):
    farm, followed = Farm(2), []
    log = AdviceLog(
        None,
        farm.workers,
        SETTINGS,
        ordered=lambda: 3,
        followers=[lambda query, one: followed.append((query, one.workers))],
    )
    log.update(BatchStats("clicks", 0, 60.0, 0.0, 5.0, rows_in=100))
    assert followed == [("clicks", 3)]


def test_a_follower_that_fails_keeps_the_advice_from_nobody(tmp_path):
    @side_task("dashboard")
    def fail(query, advice):
        raise RuntimeError("away")

    followed, failures = [], []
    log = AdviceLog(
        tmp_path,  # a folder, which nothing can be appended to
        Farm(2).workers,
        SETTINGS,
        followers=[fail, lambda query, _: followed.append(query)],
        failed=lambda *told: failures.append(told[:2]),
    )
    with pytest.raises(IsADirectoryError):
        log.update(BatchStats("clicks", 0, 60.0, 0.0, 5.0, rows_in=100))
    assert (followed, failures) == (["clicks"], [("clicks", "dashboard")])


def test_the_newest_executors_are_given_back():
    assert newest(["2", "0", "10", "1"], keep=2) == ["2", "10"]
    assert newest(["0", "1"], keep=2) == []


def test_cores_of_a_clusters_workers_must_be_known():
    assert cluster_slots(JobParameters.parse(["job.py", "--executor-cores", "4"])) == 4
    assert cluster_slots(JobParameters.parse(["job.py", "--conf", "spark.executor.cores=2"])) == 2
    with pytest.raises(ConfigError, match="--executor-cores"):
        cluster_slots(JobParameters.parse(["job.py"]))


def test_auto_scaling_is_glues_own_switch():
    assert JobParameters.parse(["job.py", "--enable-auto-scaling", "true"]).enable_auto_scaling
    assert not JobParameters.parse(["job.py", "--enable-auto-scaling", "false"]).enable_auto_scaling


@pytest.mark.parametrize("wrong", [{"max_workers": "0"}, {"hold": "5"}, {"min_workers": "9", "max_workers": "2"}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ConfigError, match="--advisor"):
        advisor("local[2]", JobParameters.parse(["job.py"]), None, wrong, FakeClock())
