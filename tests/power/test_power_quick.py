"""A few power cuts, so that each run of the tests has some: nothing lost, doubled, invented. `make power` has many."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gluepot.core.storage.filesystem import OsFileSystem, OsNewFile
from tests.crash.checker import Verdict
from tests.crash.servers import new_streams
from tests.crash.world import COPY
from tests.power import machine as machines
from tests.power import postgres
from tests.power.code import cut_code
from tests.power.disk import LIKE_EXT4, STRICT
from tests.power.jobs import cut_stream

pytestmark = pytest.mark.skipif(bool(machines.missing()), reason=machines.missing())
SEED = os.environ.get("GLUEPOT_CRASH_SEED", "20261126")
CODE_CUTS, POSTGRESQL_CUTS, JOB_CUTS = 6, 2, 2

# With the flushes removed a fault shows after a few cuts.
MOST_CUTS = 60


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the user of PostgreSQL may enter, as the folders of pytest are not."""
    with tempfile.TemporaryDirectory(prefix="gluepot-power-", ignore_cleanup_errors=True) as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.mark.parametrize("mode", [STRICT, LIKE_EXT4])
def test_cuts_of_the_code_that_keeps_state_lose_and_double_nothing(folder, mode):
    outcome = cut_code("quick", mode, "sqlite", SEED, CODE_CUTS, folder / "disk", math.inf)
    assert (outcome.faults, outcome.cuts) == ([], CODE_CUTS)
    assert outcome.batches > 0
    assert outcome.runs > 0


@pytest.mark.skipif(bool(postgres.missing()), reason=postgres.missing())
def test_cuts_of_a_ledger_on_postgresql_lose_and_double_nothing(folder):
    outcome = cut_code("quick", STRICT, "postgresql", SEED, POSTGRESQL_CUTS, folder / "disk", math.inf)
    assert (outcome.faults, outcome.cuts) == ([], POSTGRESQL_CUTS)


@pytest.mark.parametrize(
    ("owner", "method", "instead"),
    [
        (OsFileSystem, "sync_folder", lambda *_: None),
        (OsNewFile, "sync", lambda file: file.file.flush()),
    ],
    ids=["folders", "files"],
)
def test_the_product_without_its_flushes_is_noticed(folder, monkeypatch, owner, method, instead):
    monkeypatch.setattr(owner, method, instead)
    outcome = cut_code("wrong", STRICT, "sqlite", SEED, MOST_CUTS, folder / "disk", math.inf)
    assert outcome.faults != []


def test_cuts_of_a_stream_lose_and_double_nothing(folder):
    with new_streams({"kafka"}, folder) as new_stream:
        outcome = cut_stream(
            "quick", LIKE_EXT4, COPY, SEED, JOB_CUTS, new_stream["kafka"](), folder / "job", math.inf, print
        )
    assert (outcome.crash.faults, outcome.remedies) == ([], [])
    assert outcome.crash.by_folder == outcome.crash.by_manifest == Verdict(outcome.crash.records, 0, 0, 0)
    assert len(outcome.crash.kills) == JOB_CUTS
