"""What power cuts have found, each fault by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gluepot.bookmarks.ledger import Change, RunStart
from gluepot.bookmarks.ledger.connect import open_ledger
from gluepot.bookmarks.ledger.lease import this_process
from gluepot.core.clock import SystemClock
from tests.power import machine as machines
from tests.power.disk import STRICT
from tests.power.machine import Machine

pytestmark = pytest.mark.skipif(bool(machines.missing()), reason=machines.missing())
CUTS = 12


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Machine]:
    with machines.machine(tmp_path / "disk", STRICT) as mounted:
        yield mounted


@pytest.mark.parametrize("made_before", [False, True])
def test_a_commit_to_a_new_ledger_survives_with_the_folders_that_hold_it(strict, made_before):
    for number in range(CUTS):
        folder = strict.folder / str(number) / "state"
        if made_before:
            folder.mkdir(parents=True)
        url = f"sqlite:///{folder / 'ledger.db'}"
        ledger = open_ledger(url, SystemClock())
        run = ledger.begin(RunStart("copy", "jr_1", "enable"), this_process(), None)
        ledger.commit(run, {"read": Change("seen")})
        ledger.close()
        strict.cut()
        strict.restart(str(number))
        again = open_ledger(url, SystemClock())
        assert again.state("copy", "read", 1) == ["seen"]
        again.close()
