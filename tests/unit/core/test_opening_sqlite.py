"""A database that somebody else is writing in the moment it is first opened."""

import sqlite3
import threading
from pathlib import Path

from sqlalchemy import text

from gluepot import catalog
from gluepot.catalog.connect import HEAD, VARIABLE, VERSION_TABLE
from gluepot.core.database import Part, open_engine

PART = Part("catalog", VARIABLE, HEAD, Path(catalog.__file__).parent / "migrations", VERSION_TABLE)


def test_one_who_comes_while_another_writes_a_new_database_waits_for_it(tmp_path):
    path = tmp_path / "catalog.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")  # SQLite refuses a change of mode here without regard to the busy timeout
    done = threading.Timer(0.3, other.execute, ["COMMIT"])
    done.start()
    engine = open_engine(f"sqlite:///{path}", PART)
    done.join()
    other.close()
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
    engine.dispose()
