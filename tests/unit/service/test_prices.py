"""What a run would have cost on AWS Glue."""

import pytest

from gluepot.service.decisions.prices import dpu_secs, execution_secs, usd_on_glue
from gluepot.service.decisions.states import Run, State

TEN = {"WorkerType": "G.2X", "NumberOfWorkers": 5}


@pytest.mark.parametrize(
    ("definition", "secs", "dpus", "usd"),
    [
        (TEN, 3600, 36_000, 4.40),
        ({**TEN, "ExecutionClass": "FLEX"}, 3600, 36_000, 2.90),
        (TEN, 6, 60, 0.44 / 6),
        ({"Command": {"Name": "pythonshell"}}, 3600, 225, 0.0275),
        ({}, 360, 3600, 0.44),
    ],
)
def test_a_run_costs_by_its_size_and_time_but_for_a_minute_at_least(definition, secs, dpus, usd):
    run = Run(1, "jr_1", "daily", State.SUCCEEDED, definition, running_ms=1000, completed_ms=1000 + secs * 1000)
    assert (execution_secs(run, 0), dpu_secs(run, 0)) == (secs, dpus)
    assert usd_on_glue(run, 0) == pytest.approx(usd)


def test_a_run_that_has_not_begun_costs_nothing():
    run = Run(1, "jr_1", "daily", State.FAILED, TEN, completed_ms=5000)
    assert (execution_secs(run, 9000), dpu_secs(run, 9000), usd_on_glue(run, 9000)) == (0, 0, 0)
