"""Every kill point of a job with tables in S3, one after the other: nothing lost, doubled, invented."""

from __future__ import annotations

import os

import pytest

from tests.crash.points import every_point, points_of
from tests.crash.suite import run_all
from tests.crash.world import COPY

pytestmark = pytest.mark.long

SEED = int(os.environ.get("GLUEPOT_CRASH_SEED", "20261121"))


def test_nothing_was_lost_doubled_or_invented_and_every_kill_point_fired(tmp_path):
    print(f"seed {SEED}; GLUEPOT_CRASH_SEED=N runs another one")
    (outcome,) = run_all(
        seed=SEED, lanes=["s3"], aims=[], kills=0, points=every_point, at_once=1, folder=tmp_path, say=print
    )
    assert outcome.right, (outcome.by_folder, outcome.by_manifest, outcome.faults)
    assert outcome.by_folder.rows == outcome.records > 0
    assert outcome.looks > outcome.starts
    assert outcome.leftovers == 0
    fired = {kill.what for kill in outcome.kills if kill.fired and kill.where}
    assert fired == {f"{point.number} {point.what}" for point in points_of("s3", COPY)}
