"""Some tries of `make threads`: threads that open streams, make views and write at the same time."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.threads.plan import new_try
from tests.threads.run import judged, new_world, run


@pytest.fixture
def faults_of(glue_context, kafka, tmp_path, monkeypatch):
    world = new_world(glue_context, kafka, tmp_path, f"threads-{uuid4().hex[:8]}")

    def faults_of(seed):
        planned, folder = new_try(seed), tmp_path / str(seed)
        monkeypatch.setenv("GLUEPOT_STATE", str(folder / "state"))
        return judged(planned, run(world, planned, folder))

    return faults_of


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("seed", range(44, 54))
def test_threads_that_read_at_once_lose_nothing(faults_of, seed):
    assert faults_of(seed) == ""
