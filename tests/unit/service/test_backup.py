"""What a backup holds, and that a restored service knows what was known then."""

import sqlite3

import pytest

from gluepot.core.errors import ConfigError
from gluepot.core.storage.filesystem import OsFileSystem
from gluepot.service.backup import back_up, restore
from gluepot.service.keys import own_key
from gluepot.service.server import key_path
from tests.unit.service.world import NOON, World


@pytest.fixture
def environ(tmp_path):
    return {"GLUEPOT_STATE": str(tmp_path)}


def test_a_restored_service_knows_what_was_known_at_the_time_of_the_backup(world, environ, tmp_path):
    world.job("then")
    key = own_key(key_path(environ))
    copied = back_up(tmp_path / "copy", environ)
    assert copied.files == ["service.db", "key.json"]
    world.job("later")
    key_path(environ).unlink()
    restore(tmp_path / "copy", environ, ".before")
    again = World(tmp_path, NOON)
    assert [job["Name"] for job in again.call("GetJobs")["Jobs"]] == ["then"]
    assert own_key(key_path(environ)) == key
    with sqlite3.connect(tmp_path / "service.db.before") as before:
        assert before.execute("SELECT count(*) FROM service_jobs").fetchone() == (2,)


def test_a_backup_is_its_owners_alone(world, environ, tmp_path):
    back_up(tmp_path / "copy", environ)
    assert (tmp_path / "copy").stat().st_mode & 0o077 == 0
    assert (tmp_path / "copy" / "service.db").stat().st_mode & 0o077 == 0


def test_databases_on_a_server_are_left_to_it(tmp_path):
    environ = {"GLUEPOT_STATE": str(tmp_path), "GLUEPOT_SERVICE": "postgresql://host/db"}
    assert back_up(tmp_path / "copy", environ).elsewhere == ["service"]


def test_nothing_is_overwritten(world, environ, tmp_path):
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "other").touch()
    with pytest.raises(ConfigError, match="is not empty"):
        back_up(tmp_path / "copy", environ)


def test_what_is_no_backup_and_a_service_that_runs_are_refused(world, environ, tmp_path):
    with pytest.raises(ConfigError, match="no finished backup"):
        restore(tmp_path, environ, ".before")
    back_up(tmp_path / "copy", environ)
    (tmp_path / "service").mkdir(exist_ok=True)
    with OsFileSystem().lock(tmp_path / "service" / "lock"), pytest.raises(ConfigError, match="end it"):
        restore(tmp_path / "copy", environ, ".before")


def test_a_run_whose_folder_is_gone_fails_and_is_not_started_again(world):
    world.job("daily")
    run_id = world.call("StartJobRun", JobName="daily")["JobRunId"]
    world.steps()
    assert world.states("daily") == ["RUNNING"]
    del world.processes.commands[run_id]
    world.steps()
    [run] = world.runs("daily")
    assert (run["JobRunState"], run_id in world.processes.commands) == ("FAILED", False)
    assert "without a trace" in run["ErrorMessage"]
