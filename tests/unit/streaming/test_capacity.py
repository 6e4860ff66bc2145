from __future__ import annotations

import pytest

from gluepot.streaming.observe.capacity import Capacity, capacity, local_slots


@pytest.mark.parametrize(
    ("master", "slots"), [("local", 1), ("local[3]", 3), ("local[*]", 8), ("local[4,2]", 4), ("local[*,2]", 8)]
)
def test_a_local_master_has_the_slots_that_it_says(master, slots):
    assert local_slots(master, cpus=8) == slots


@pytest.mark.parametrize("master", ["local", "local[4]"])
def test_a_local_master_is_one_worker_and_nobody_is_asked(master):
    assert capacity(master, _nobody, cpus=8).workers == 1


def test_slots_of_a_cluster_are_those_of_its_executors():
    assert capacity("spark://somewhere:7077", lambda: (3, 4), cpus=8) == Capacity(3, 12)


def test_a_cluster_without_executors_has_no_worker():
    assert capacity("yarn", lambda: (0, 4), cpus=8) == Capacity(0, 0)


def _nobody():
    raise AssertionError
