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
# each kill has a batch of its own, and what a start does wrong after a kill is in the tables at the end. Beside each point
# stands what is on the disk then of its batch: the files of its dead letters, of the first table and of the second one.
KILLS = {
    "quarantine.tried@3": "copy",  # in the search, with what the failed attempt has published
    "publish.manifest_temp@7": "dead",  # the dead letters' file is in its place, their manifest is not
    "quarantine.decided@2": "dead",  # the dead letters are visible, the other records are not
    "quarantine.found": "",  # what the failed attempt had published is taken back, nothing is decided
    "publish.created@10": "dead copy",  # some of the writes without them are visible
}
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
    dead, copy, sink = (
        tmp_path / name for name in ("temp/checkpoint/gluepot/dead_letters", "tables/copy", "tables/sink")
    )

    for number, (point, there) in enumerate(KILLS.items()):
        killed = run(GLUEPOT_FAILPOINT=point, GLUEPOT_FAILPOINT_LOG=str(fired))
        assert killed.exit_code(SECS) == 137, killed.err
        assert fired.read_text().splitlines()[number:] == [point.partition("@")[0]]
        of_batch = set(numbers[number * BATCH_RECORDS :][:BATCH_RECORDS])
        held = {"dead": dead_numbers(dead), "copy": column(copy, "n"), "sink": column(sink, "n")}
        assert newest_batch(tmp_path) == number, f"{point} is not in the batch after that of the last kill"
        assert [name for name, found in held.items() if of_batch & set(found)] == there.split()
    again = run()
    assert again.exit_code(SECS) == 0, again.err

    good = [n for n in numbers if n % 10 != 7]
    assert column(copy, "n") == column(sink, "n") == good
    assert dead_numbers(dead) == [n for n in numbers if n % 10 == 7]
