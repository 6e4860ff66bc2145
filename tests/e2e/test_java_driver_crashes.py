"""A job that writes through a Java driver, killed around and in its write: nothing lost, doubled or invented.

The database is H2, in the mode of another one. Its own program counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

from tests.e2e.jobs import SCRIPTS, Job, rest
from tests.e2e.test_jdbc_crashes import KILLED, KILLS
from tests.h2 import H2, H2Database

SECS = 300.0
ROWS = 100
RANDOM_KILLS = 20
ALIVE_SECS = (4.0, 16.0)
"""How long a job lives before a random kill; it writes some eight seconds after its start."""


@pytest.fixture
def database(h2: H2, request) -> H2Database:
    made = h2.new_database(request.param)
    made.sql("CREATE TABLE orders AS SELECT x AS id, CONCAT('order ', x) AS name FROM SYSTEM_RANGE(1, 100)")
    return made


@pytest.fixture
def start(launch, database: H2Database, tmp_path: Path) -> Callable[..., Job]:
    def started(**env: str) -> Job:
        bookmarks = ("--job-bookmark-option", "job-bookmark-enable", "--TempDir", tmp_path / "temp")
        told = ("--url", database.url, "--jar", database.options["customJdbcDriverS3Path"])
        given = ("run", SCRIPTS / "copy_by_driver.py", "--master", "local[2]", "--", "--JOB_NAME", "copy")
        return launch.gluepot(*given, *told, *bookmarks, env={"GLUEPOT_STATE": str(tmp_path / "state"), **env})

    return started


def copied(database: H2Database) -> list[int]:
    there = database.sql("SELECT 1 FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'COPIES'")
    return [int(str(n)) for (n,) in database.sql("SELECT id FROM copies ORDER BY id")] if there else []


def left(database: H2Database, folder: Path) -> list[str]:
    """What is staged and no record keeps."""
    tables = database.sql(r"SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME LIKE 'GLUEPOT\_STAGE%'")
    kept = " ".join(str(text) for (text,) in database.sql("SELECT kept FROM gluepot_commits WHERE kept IS NOT NULL"))
    files = [path.name for path in folder.rglob("*.parquet")]
    return [*files, *(str(name) for (name,) in tables if str(name) not in kept)]


def more(database: H2Database, first: int, last: int) -> None:
    database.sql(f"INSERT INTO orders SELECT x, CONCAT('order ', x) FROM SYSTEM_RANGE({first}, {last})")


@pytest.mark.parametrize(
    ("database", "kills"),
    [
        pytest.param("Oracle", ["jdbc.published"], id="quick"),
        *(
            pytest.param(mode, list(KILLS), id=mode, marks=pytest.mark.long)
            for mode in ("Regular", "MSSQLServer", "Oracle")
        ),
    ],
    indirect=["database"],
)
def test_a_job_killed_around_its_write_has_copied_every_row_once(
    start, database: H2Database, kills: Sequence[str], tmp_path: Path
):
    # Each start reads one row more than the start before it, and finishes or replaces what that start left.
    for rows, place in enumerate(kills, start=ROWS):
        killed = start(GLUEPOT_FAILPOINT=place)
        assert killed.exit_code(SECS) == KILLED, (place, killed.err)
        assert copied(database) == (list(range(1, rows + 1)) if KILLS[place] else []), place
        more(database, rows + 1, rows + 1)
    again = start()
    assert again.exit_code(SECS) == 0, again.err
    assert copied(database) == list(range(1, ROWS + len(kills) + 1))
    assert left(database, tmp_path / "temp") == []


@pytest.mark.long
@pytest.mark.parametrize("database", ["Regular"], indirect=True)
def test_random_kills_lose_double_and_invent_nothing(start, database: H2Database, tmp_path: Path):
    chance, kills, last = Random(1), 0, ROWS
    while kills < RANDOM_KILLS:
        more(database, last + 1, last + ROWS)
        last += ROWS
        running = start()
        rest(chance.uniform(*ALIVE_SECS))
        if running.runs():
            running.kill()
            kills += 1
        else:
            assert running.exit_code(SECS) == 0, running.err
    again = start()
    assert again.exit_code(SECS) == 0, again.err

    seen, wanted = Counter(copied(database)), set(range(1, last + 1))
    assert (wanted - set(seen), set(seen) - wanted, [n for n, times in seen.items() if times > 1]) == (set(), set(), [])
    assert left(database, tmp_path / "temp") == []
