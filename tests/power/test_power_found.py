"""What power cuts have found, each fault by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gluepot.bookmarks.ledger import Change, RunStart
from gluepot.bookmarks.ledger.connect import open_ledger
from gluepot.bookmarks.ledger.lease import this_process
from gluepot.core.checkpoint import Checkpoint
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


SPARKS = {
    "metadata": b'{"id":"7b546c72-661a-4c2f-a048-bc0862edb201"}',
    ".metadata.crc": b"crc\0\0\0\2\0abcd",
    "offsets/0": b"v1\n{}\n-",
    "offsets/.0.crc": b"crc\0\0\0\2\0efgh",
}


def as_spark_does(checkpoint: Path) -> None:
    """Write each file under another name and rename it, without any flush."""
    for key, data in SPARKS.items():
        path = checkpoint / key
        path.parent.mkdir(exist_ok=True)
        temporary = path.with_name(f".{path.name}.tmp")
        temporary.write_bytes(data)
        temporary.rename(path)


@pytest.mark.parametrize("kept", [True, False])
def test_a_planned_batch_survives_from_the_moment_at_which_its_function_is_called(strict, kept):
    whole = []
    for number in range(CUTS):
        checkpoint = Checkpoint(str(strict.folder / str(number)))
        checkpoint.storage.put("gluepot/lease/1.json", b"{}")  # which makes the folder, as a start does
        as_spark_does(strict.folder / str(number))
        if kept:
            checkpoint.keep_planned(0)
        strict.cut()
        strict.restart(str(number))
        paths = {key: strict.folder / str(number) / key for key in SPARKS}
        whole.append({key: path.read_bytes() for key, path in paths.items() if path.exists()} == SPARKS)
    assert all(whole) == kept
