"""What a run on a cluster asks its master for."""

import pytest

from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError, TransientError
from gluepot.core.glue_workers import WORKER_TYPES
from gluepot.core.job_parameters import JobParameters
from gluepot.job.executors import with_executors
from gluepot.job.options import RunOptions
from gluepot.job.spark_conf import job_conf
from gluepot.spark.master import WAIT_SECS, addresses, require_master

MASTER = "spark://a:7077,b:7078"


def conf(kind, workers, *tokens):
    parameters = with_executors(JobParameters.parse(["job.py", *tokens]), WORKER_TYPES[kind], workers)
    made = job_conf(parameters, MASTER)
    names = ("cores.max", "executor.cores", "executor.instances", "executor.memory")
    return tuple(made[f"spark.{name}"] for name in names)


def test_one_worker_is_the_drivers_and_each_other_one_is_an_executor_of_its_size():
    assert conf("G.1X", 10) == ("36", "4", "9", "10240m")
    assert conf("G.2X", 2) == ("8", "8", "1", "20480m")
    assert conf("G.025X", 1) == ("2", "2", "1", "2560m")


def test_what_the_job_says_of_its_executors_wins():
    assert conf("G.1X", 3, "--executor-cores", "2") == ("4", "2", "2", "10240m")
    assert conf("G.1X", 3, "--conf", "spark.executor.instances=5") == ("20", "4", "5", "10240m")
    sized = "spark.executor.memory=1g --conf spark.executor.cores=3"
    assert conf("G.1X", 3, "--executor-cores", "2", "--conf", sized) == ("6", "3", "2", "1g")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"worker_type": "G.1X"}, "belong together"),
        ({"number_of_workers": 2}, "belong together"),
        ({"worker_type": "G.1x", "number_of_workers": 2}, "'G.1x'"),
        ({"worker_type": "G.1X", "number_of_workers": 0}, "number-of-workers is 0"),
    ],
)
def test_workers_that_do_not_exist_are_refused(options, reason):
    with pytest.raises(ConfigError, match=reason):
        RunOptions(**options)


def test_only_masters_of_standalone_clusters_have_addresses():
    assert addresses(MASTER) == [("a", 7077), ("b", 7078)]
    assert addresses("spark://[::1]:7077") == [("::1", 7077)]
    assert addresses("yarn") == addresses("k8s://https://a:6443") == addresses("local[2]") == []
    with pytest.raises(ConfigError, match=r"'spark://a'; write spark://HOST:PORT"):
        addresses("spark://a")


def test_one_master_that_answers_is_enough_and_a_master_may_take_a_while():
    clock, tried = FakeClock(), []

    def connect(host, _):
        tried.append(host)
        if host == "a" or clock.now < 2:
            raise ConnectionRefusedError("refused")

    require_master(MASTER, clock, connect)
    assert tried[-2:] == ["a", "b"]
    assert clock.now == 2


def test_a_master_that_is_away_is_told():
    def refuse(*_):
        raise ConnectionRefusedError("Connection refused")

    clock = FakeClock()
    with pytest.raises(
        TransientError, match="Spark's master spark://a:7077,b:7078 does not answer: Connection refused"
    ):
        require_master(MASTER, clock, refuse)
    assert clock.now == WAIT_SECS
