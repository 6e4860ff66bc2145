"""Random kills of jobs that write to the local disk and to S3: nothing lost, doubled, invented."""

from __future__ import annotations

import os

import pytest

from tests.crash.points import no_point
from tests.crash.suite import run_all

pytestmark = pytest.mark.long

KILLS = 16
SEED = int(os.environ.get("GLUEPOT_CRASH_SEED", "20261121"))


def test_nothing_was_lost_doubled_or_invented_and_nothing_else_went_wrong(tmp_path):
    print(f"seed {SEED}; GLUEPOT_CRASH_SEED=N runs another one")
    outcomes = run_all(
        seed=SEED,
        lanes=["local", "s3"],
        aims=["mixed"],
        kills=KILLS,
        points=no_point,
        at_once=2,
        folder=tmp_path,
        say=print,
    )
    assert [(one.name, one.by_folder, one.by_manifest, one.faults) for one in outcomes if not one.right] == []
    assert all(one.records > 0 and one.by_folder.rows > 0 and one.looks > one.starts for one in outcomes)
    assert sum(kill.fired for one in outcomes for kill in one.kills) == KILLS
    assert sum(one.leftovers for one in outcomes) == 0
