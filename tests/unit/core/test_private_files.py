"""What holds state is its owner's alone, whatever the umask."""

from __future__ import annotations

import os
import stat

import pytest

from gluepot.bookmarks.ledger import Owner, RunStart, ledger_url, open_ledger
from gluepot.bookmarks.run_writer import _rejects_root
from gluepot.core.clock import FakeClock
from gluepot.core.private import make_private_file, make_private_folder
from gluepot.service.backup import back_up
from gluepot.service.keys import own_key, own_token
from gluepot.service.launch.drivers import Drivers
from gluepot.service.server import service_folder
from gluepot.service.store.database import open_store, store_url


@pytest.fixture(autouse=True)
def no_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def readable_by_others(root):
    """Return the files that somebody else can reach and read."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if mode(root / folder / name) & 0o077]
        found += [f"{folder}/{name}" for name in files if mode(root / folder / name) & 0o077]
    return found


def test_missing_parents_are_private_and_others_keep_their_mode(tmp_path):
    (tmp_path / "shared").mkdir(mode=0o755)
    make_private_folder(tmp_path / "shared" / "state" / "runs")
    make_private_folder(tmp_path / "shared" / "state" / "runs")
    assert [mode(tmp_path / path) for path in ("shared", "shared/state", "shared/state/runs")] == [0o755, 0o700, 0o700]


def test_a_folder_where_a_file_is_cannot_be_made(tmp_path):
    (tmp_path / "state").touch()
    with pytest.raises(FileExistsError):
        make_private_folder(tmp_path / "state")


def test_a_file_that_is_there_keeps_its_content(tmp_path):
    (tmp_path / "there").write_text("kept")
    make_private_file(tmp_path / "there")
    assert (tmp_path / "there").read_text() == "kept"


def test_the_folder_of_rejects_is_private(tmp_path, monkeypatch):
    (tmp_path / "state").mkdir(mode=0o755)
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    assert _rejects_root(None) == f"{tmp_path}/state/rejects/script"
    assert mode(tmp_path / "state" / "rejects") == 0o700


def test_databases_keys_and_runs_are_private_in_a_folder_that_others_may_read(tmp_path):
    state = tmp_path / "state"
    state.mkdir(mode=0o755)
    environ = {"GLUEPOT_STATE": str(state)}
    own = service_folder(environ)
    own_key(own / "key.json")
    own_token(own / "events_token")
    open_store(store_url(environ))
    ledger = open_ledger(ledger_url(environ), FakeClock(0.0))
    ledger.begin(RunStart("daily", "jr_1", "enable"), Owner("here", 1), None)
    runs = Drivers(own / "runs", {}, None)
    assert runs.forbid("jr_1")
    back_up(tmp_path / "backup", environ)

    assert {path.suffix for path in state.rglob("*")} >= {".db", ".db-wal", ".db-shm"}
    assert readable_by_others(state) == []
    assert mode(own) == mode(tmp_path / "backup") == 0o700
    ledger.close()
