"""Jobs with tables in MariaDB are killed, and PyMySQL counts: nothing lost, doubled, invented.

Both are a part of `make test-long`. In `make test`, tests/contract/test_table_sinks.py stops writes to MariaDB at each
step, and tests/e2e/test_jdbc_crashes.py kills jobs with tables in PostgreSQL, which go through the same engine.
"""

from __future__ import annotations

import os

import pytest

from tests.crash.campaign import Plan, run
from tests.crash.points import every_point, points_of
from tests.crash.servers import new_streams
from tests.crash.suite import run_all
from tests.crash.world import ANY_ORDER

LANE = "mariadb"
COMMITTED = [point for point in points_of(LANE, ANY_ORDER) if point.failpoint == "jdbc.published"]
SEED = int(os.environ.get("GLUEPOT_CRASH_SEED", "20261126"))
KILLS = 20


@pytest.mark.long
def test_a_job_killed_after_its_transaction_writes_every_record_once(tmp_path):
    with new_streams({"kafka"}, tmp_path) as new_stream:
        plan = Plan("sink", LANE, ANY_ORDER, f"{SEED}:sink", COMMITTED)
        outcome = run(plan, new_stream["kafka"](), tmp_path / plan.name, print)

    assert (outcome.right, outcome.faults, outcome.leftovers) == (True, [], 0)
    assert 2 * outcome.records < outcome.by_folder.rows < 3 * outcome.records
    assert [kill.fired for kill in outcome.kills] == [True]


@pytest.mark.long
def test_a_job_killed_at_every_point_and_at_random_moments_writes_every_record_once(tmp_path):
    outcomes = run_all(
        seed=SEED, lanes=[LANE], aims=["mixed"], kills=KILLS, points=every_point, at_once=1, folder=tmp_path, say=print
    )

    assert [(one.name, one.by_folder, one.faults, one.leftovers) for one in outcomes if not one.right] == []
    assert all(one.looks > one.starts and one.leftovers == 0 for one in outcomes)
    fired = [kill for one in outcomes for kill in one.kills if kill.fired]
    assert len(fired) == KILLS + len(points_of(LANE, ANY_ORDER))
