import shutil
import sqlite3

import pytest

from gluepot.service.store.database import open_store
from tests.unit.service.memory_store import MemoryStore
from tests.unit.service.world import NOON, World


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory):
    """A database that has been brought up to date once, because the migrations take longer than most tests."""
    folder = tmp_path_factory.mktemp("empty-service")
    open_store(f"sqlite:///{folder / 'made.db'}")
    made, copied = sqlite3.connect(folder / "made.db"), sqlite3.connect(folder / "copied.db")
    made.backup(copied)
    made.close()
    copied.close()
    return folder / "copied.db"


@pytest.fixture
def world(tmp_path, empty_database):
    shutil.copy(empty_database, tmp_path / "service.db")
    return World(tmp_path, NOON)


@pytest.fixture
def quick_world(tmp_path):
    """A service whose database is in memory; its tests take milliseconds."""
    return World(tmp_path, NOON, store=MemoryStore())
