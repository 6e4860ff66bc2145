from __future__ import annotations

import pytest

from gluepot.streaming.micro_batch.shuffles import SETTING, shuffle_partitions


@pytest.mark.parametrize(
    ("master", "partitions"), [("local", 4), ("local[2]", 8), ("local[*]", 64), ("local[4,2]", 16)]
)
def test_a_machine_shuffles_a_batch_into_four_pieces_a_slot(master, partitions):
    assert shuffle_partitions(master, 16, {"spark.app.name": "job"}) == partitions


def test_what_the_session_was_told_stays():
    assert shuffle_partitions("local[2]", 16, {SETTING: "200"}) is None


@pytest.mark.parametrize("master", ["spark://somewhere:7077", "k8s://somewhere", "yarn", "local-cluster[2,1,1024]"])
def test_a_cluster_keeps_sparks_own(master):
    assert shuffle_partitions(master, 16, {}) is None
