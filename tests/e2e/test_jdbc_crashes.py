"""A job between two tables killed around its write and its commit: nothing lost, nothing doubled."""

from __future__ import annotations

import psycopg
import pytest

from tests.e2e.jobs import SCRIPTS
from tests.postgresql import new_database

KILLED = 128 + 9


@pytest.mark.parametrize(
    "place",
    ["jdbc.staged", "jdbc.publishing", "jdbc.published", "job.commit_called", "job.committing", "job.committed"],
)
def test_a_job_killed_between_its_write_and_its_commit_has_copied_every_row_once(launch, tmp_path, postgresql, place):
    with new_database(postgresql) as url, psycopg.connect(url, autocommit=True) as database:

        def start(failpoint: dict[str, str]):
            bookmarks = ("--job-bookmark-option", "job-bookmark-enable")
            script = ("--JOB_NAME", "copy", "--url", url, *bookmarks)
            env = {"GLUEPOT_STATE": str(tmp_path / "state"), **failpoint}
            return launch.gluepot("run", SCRIPTS / "copy_table.py", "--master", "local[1]", "--", *script, env=env)

        database.execute("CREATE TABLE orders AS SELECT n::bigint AS id FROM generate_series(1, 100) AS n")
        assert start({"GLUEPOT_FAILPOINT": place}).exit_code() == KILLED
        database.execute("INSERT INTO orders VALUES (101)")
        again = start({})
        assert again.exit_code() == 0, again.err
        copied = [row[0] for row in database.execute("SELECT id FROM copies ORDER BY id")]
        staged = database.execute("SELECT count(*) FROM pg_class WHERE relname LIKE 'gluepot_stage%'").fetchone()
    assert copied == list(range(1, 102))
    assert staged == (0,)
