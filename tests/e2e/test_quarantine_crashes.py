"""A job that dies while it looks for the records its function fails on: the next one loses and doubles nothing."""

from __future__ import annotations

import json

import duckdb

from tests.e2e.conftest import new_topic_at
from tests.e2e.jobs import GLUEPOT, SCRIPTS, arguments, column

SECS = 300.0  # a search runs the function some 25 times, on a machine that others may be busy on


def dead_numbers(folder):
    files = [str(path) for path in folder.rglob("*.rejects")]
    raws = duckdb.sql(f"SELECT raw FROM read_parquet({files!r})").fetchall() if files else []
    return sorted(json.loads(raw)["n"] for (raw,) in raws)


def newest_batch(folder):
    """The batch that Spark has planned last."""
    return max(int(one.name) for one in (folder / "temp/checkpoint/offsets").glob("[0-9]*"))


# Each start first finishes the batch in which the start before it was killed, and is then killed in the next batch. So
# each kill has a batch of its own, and what a start does wrong after a kill is in the tables at the end. A batch with a
# search creates six manifests: of the copy, of no dead letters, of no copy, of the dead letters, of the two tables.
KILLS = (
    "quarantine.tried@3",  # in the search
    "publish.manifest_temp@8",  # the dead letters' file is in its place, their manifest is not
    "quarantine.decided@2",  # the dead letters are visible, the other records are not
    "quarantine.found",  # what the failed attempt had published is taken back, nothing is decided
    "publish.created@8",  # some of the writes without them are
)
BATCH_RECORDS = 20


def test_a_job_killed_while_it_searches_leaves_each_record_in_the_tables_or_in_the_dead_letters(
    launch, kafka, tmp_path
):
    topic = new_topic_at(kafka, partitions=1)

    def run(**env):
        return launch(
            *GLUEPOT, "run", SCRIPTS / "picky_stream.py", "--master", "local[2]", "--until-caught-up",
            "--on-batch-failure", "quarantine", "--stream-option", f"maxOffsetsPerTrigger={BATCH_RECORDS}", "--",
            *arguments(JOB_NAME="picky", TempDir=tmp_path / "temp", output_path=tmp_path / "tables"),
            *arguments(bootstrap=topic.bootstrap, topic=topic.name), env=env,
        )  # fmt: skip

    numbers = range(BATCH_RECORDS * len(KILLS))
    topic.send_numbers(numbers)
    fired = tmp_path / "fired"

    for number, point in enumerate(KILLS):
        killed = run(GLUEPOT_FAILPOINT=point, GLUEPOT_FAILPOINT_LOG=str(fired))
        assert killed.exit_code(SECS) == 137, killed.err
        assert fired.read_text().splitlines()[number:] == [point.partition("@")[0]]
        assert newest_batch(tmp_path) == number, f"{point} is not in the batch after that of the last kill"
        print("==", point)
        for q in sorted(p for p in tmp_path.rglob("*") if p.is_file() and f"{number:012}" in str(p)):
            print(q.relative_to(tmp_path))
        for q in sorted(p for p in tmp_path.rglob("*") if p.is_file() and "intents" in str(p)):
            print(q.relative_to(tmp_path))
    again = run()
    assert again.exit_code(SECS) == 0, again.err

    good = [n for n in numbers if n % 10 != 7]
    assert column(tmp_path / "tables/copy", "n") == column(tmp_path / "tables/sink", "n") == good
    assert dead_numbers(tmp_path / "temp/checkpoint/gluepot/dead_letters") == [n for n in numbers if n % 10 == 7]
