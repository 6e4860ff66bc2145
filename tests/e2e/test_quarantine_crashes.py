"""A job that dies while it looks for the records its function fails on: the next one loses and doubles nothing."""

from __future__ import annotations

import json

import duckdb
import pytest

from tests.e2e.jobs import GLUEPOT, SCRIPTS, arguments, column

SECS = 300.0  # a search runs the function some 25 times, on a machine that others may be busy on


def dead_numbers(folder):
    files = [str(path) for path in folder.rglob("*.rejects")]
    raws = duckdb.sql(f"SELECT raw FROM read_parquet({files!r})").fetchall() if files else []
    return sorted(json.loads(raw)["n"] for (raw,) in raws)


@pytest.mark.parametrize(
    "point",
    [
        "quarantine.tried@3",  # in the search
        "quarantine.found",  # what the failed attempt had published is taken back, nothing is decided
        "publish.manifest_temp@4",  # the dead letters' file is in its place, their manifest is not
        "quarantine.decided",  # the dead letters are visible, the other records are not
        "publish.created@6",  # some of the writes without them are
    ],
)
def test_a_job_killed_while_it_searches_leaves_each_record_in_the_tables_or_in_the_dead_letters(
    launch, topic, tmp_path, point
):
    def run(**env):
        return launch(
            *GLUEPOT, "run", SCRIPTS / "picky_stream.py", "--master", "local[2]", "--until-caught-up",
            "--on-batch-failure", "quarantine", "--",
            *arguments(JOB_NAME="picky", TempDir=tmp_path / "temp", output_path=tmp_path / "tables"),
            *arguments(bootstrap=topic.bootstrap, topic=topic.name), env=env,
        )  # fmt: skip

    topic.send_numbers(range(30))
    fired = tmp_path / "fired"

    killed = run(GLUEPOT_FAILPOINT=point, GLUEPOT_FAILPOINT_LOG=str(fired))
    assert killed.exit_code(SECS) == 137, killed.err
    assert fired.read_text() == f"{point.partition('@')[0]}\n"
    again = run()
    assert again.exit_code(SECS) == 0, again.err

    good = [n for n in range(30) if n % 10 != 7]
    assert column(tmp_path / "tables/copy", "n") == column(tmp_path / "tables/sink", "n") == good
    assert dead_numbers(tmp_path / "temp/checkpoint/gluepot/dead_letters") == [7, 17, 27]
