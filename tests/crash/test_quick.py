"""Every kill point with tables on the local disk and in S3, and twenty random kills: nothing lost, doubled, invented."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from tests.crash.outcome import Outcome
from tests.crash.points import POINTS
from tests.crash.suite import run_all

KILLS = 20
SEED = int(os.environ.get("GLUEPOT_CRASH_SEED", "20261121"))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Outcome]:
    print(f"seed {SEED}; GLUEPOT_CRASH_SEED=N runs another one")
    folder = tmp_path_factory.mktemp("crash")
    return run_all(
        seed=SEED, lanes=["local", "s3"], aims=["mixed"], kills=KILLS, points=True, at_once=2, folder=folder, say=print
    )


def test_nothing_was_lost_doubled_or_invented_and_nothing_else_went_wrong(outcomes):
    assert [(one.name, one.by_folder, one.by_manifest, one.faults) for one in outcomes if not one.right] == []
    assert all(one.records > 0 and one.by_folder.rows > 0 for one in outcomes)


@pytest.mark.parametrize("lane", ["local", "s3"])
def test_every_kill_point_fired(outcomes, lane):
    fired = {kill.what for one in outcomes if one.lane == lane for kill in one.kills if kill.fired and kill.where}
    assert fired == {f"{point.number} {point.what}" for point in POINTS}


def test_every_random_kill_hit_somebody(outcomes):
    assert sum(kill.fired for one in outcomes for kill in one.kills if not kill.where) == KILLS


def test_a_reader_of_manifests_looked_while_jobs_were_killed(outcomes):
    assert all(one.looks > one.starts for one in outcomes)


def test_nothing_of_a_dead_attempt_is_left_in_the_tables(outcomes):
    assert sum(one.leftovers for one in outcomes) == 0
