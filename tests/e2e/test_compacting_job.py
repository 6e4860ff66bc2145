"""A job that compacts its table as it goes on: the rows are those of a job that does not, in fewer files."""

from __future__ import annotations

from gluepot.core.storage import open_storage
from gluepot.tables.verify import verify
from tests.e2e.jobs import SCRIPTS, arguments, column


def test_a_job_compacts_its_own_table(launch, topic, tmp_path):
    topic.send_numbers(range(300))
    table = tmp_path / "table"

    job = launch.hosted(
        "run", SCRIPTS / "number_stream.py", "--until-caught-up", "--compact-every", "4",
        "--stream-option", "maxOffsetsPerTrigger=20", "--master", "local[2]", "--",
        *arguments(JOB_NAME="numbers", TempDir=tmp_path / "temp", output_path=table),
        *arguments(bootstrap=topic.bootstrap, topic=topic.name, pause=0),
    )  # fmt: skip

    assert job.exit_code() == 0, job.err
    assert column(table, "n") == list(range(300))
    assert list(table.rglob("compact-*.parquet"))
    found = verify(open_storage(str(table)), None)
    assert found.findings == []
    assert found.commits > found.files
