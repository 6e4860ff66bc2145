"""A job between two tables killed around its write and its commit: nothing lost, nothing doubled."""

from __future__ import annotations

import psycopg
import pytest

from tests.e2e.jobs import SCRIPTS
from tests.postgresql import new_database

KILLED = 128 + 9


# Each start reads one row more than the start before it, finishes or replaces what that start left, and is killed one
# step later. Beside each place stands whether the rows of that start are visible then.
KILLS = {
    "jdbc.staged": False,
    "jdbc.publishing": False,
    "jdbc.published": True,
    "job.commit_called": True,
    "job.committing": True,
    "job.committed": True,
}
FEW_KILLS = {place: KILLS[place] for place in ("jdbc.staged", "jdbc.publishing", "jdbc.published", "job.committing")}
"""One for each state of the database. `make test-long` also kills before and after the commit is stored, where the rows
are visible as well; test_bookmarked_crashes.py kills there a job that writes files."""


@pytest.mark.parametrize(
    "kills", [pytest.param(FEW_KILLS, id="few"), pytest.param(KILLS, id="all", marks=pytest.mark.long)]
)
def test_a_job_killed_between_its_write_and_its_commit_has_copied_every_row_once(launch, tmp_path, postgresql, kills):
    with new_database(postgresql) as url, psycopg.connect(url, autocommit=True) as database:

        def start(failpoint: dict[str, str]):
            bookmarks = ("--job-bookmark-option", "job-bookmark-enable")
            script = ("--JOB_NAME", "copy", "--url", url, *bookmarks)
            env = {"GLUEPOT_STATE": str(tmp_path / "state"), **failpoint}
            return launch.hosted("run", SCRIPTS / "copy_table.py", "--master", "local[1]", "--", *script, env=env)

        def copied() -> list[int]:
            if database.execute("SELECT to_regclass('copies')").fetchone() == (None,):
                return []
            return [row[0] for row in database.execute("SELECT id FROM copies ORDER BY id")]

        database.execute("CREATE TABLE orders AS SELECT n::bigint AS id FROM generate_series(1, 100) AS n")
        for rows, (place, visible) in enumerate(kills.items(), start=100):
            assert start({"GLUEPOT_FAILPOINT": place}).exit_code() == KILLED, place
            assert copied() == (list(range(1, rows + 1)) if visible else []), place
            database.execute("INSERT INTO orders VALUES (%s)", [rows + 1])
        again = start({})
        assert again.exit_code() == 0, again.err
        staged = database.execute("SELECT count(*) FROM pg_class WHERE relname LIKE 'gluepot_stage%'").fetchone()
        assert copied() == list(range(1, 101 + len(kills)))
    assert staged == (0,)
