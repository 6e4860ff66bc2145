"""Batch jobs over files, through Glue's own calls, with the ledger in a folder of the test."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from awsglue.job import Job
from gluepot.bookmarks import jobrun
from gluepot.bookmarks.ledger import ledger_url, open_ledger
from gluepot.core.clock import SystemClock
from gluepot.core.errors import LeaseHeld

if TYPE_CHECKING:
    from awsglue.context import GlueContext


@dataclass
class CopyJob:
    """Copies JSON lines of a folder to Parquet files."""

    glue_context: GlueContext
    folder: Path
    runs: int = 0

    def put(self, name: str, *ids: int) -> None:
        file = self.folder / "in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps({"id": n}) + "\n" for n in ids))

    def init(self, **arguments: Any) -> Job:
        self.runs += 1
        job = Job(self.glue_context)
        given = {"JOB_NAME": "copy", "JOB_RUN_ID": f"jr_{self.runs}", "TempDir": str(self.folder / "temp")}
        job.init("copy", {**given, "job_bookmark_option": "job-bookmark-enable", **arguments})
        return job

    def read(self, ctx: str = "source0", predicate: str = "", **options: Any):
        return self.glue_context.create_dynamic_frame.from_options(
            connection_type="s3",
            connection_options={"paths": [str(self.folder / "in")], **options},
            format="json",
            transformation_ctx=ctx,
            push_down_predicate=predicate,
        )

    def write(self, frame: Any, hour: str = "") -> None:
        self.glue_context.write_dynamic_frame.from_options(
            frame=frame,
            connection_type="s3",
            connection_options={"path": str(self.folder / "out" / hour)},
            format="glueparquet",
            transformation_ctx="sink0",
        )

    def run(self, **arguments: Any) -> None:
        job = self.init(**arguments)
        self.write(self.read())
        job.commit()

    def ids(self) -> list[int]:
        files = [str(path) for path in (self.folder / "out").rglob("*.parquet")]
        return (
            sorted(row[0] for row in duckdb.sql(f"SELECT id FROM read_parquet({files!r})").fetchall()) if files else []
        )


@pytest.fixture
def copy(glue_context, tmp_path, monkeypatch):
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_LEDGER", raising=False)
    yield CopyJob(glue_context, tmp_path)
    jobrun.end("the test ended")


def test_a_second_run_reads_what_is_new(copy):
    copy.put("day=1/a", 1, 2)
    copy.run()
    copy.put("day=1/b", 3)
    copy.run()
    copy.run()
    assert copy.ids() == [1, 2, 3]


def test_without_bookmarks_every_run_reads_everything(copy):
    copy.put("a", 1)
    for _ in range(2):
        copy.run(job_bookmark_option="job-bookmark-disable")
    assert copy.ids() == [1, 1]
    assert not (copy.folder / "state").exists()


def test_a_paused_run_leaves_the_bookmark_and_its_output_stays(copy):
    copy.put("a", 1)
    copy.run(job_bookmark_option="job-bookmark-pause")
    copy.run(job_bookmark_option="job-bookmark-pause")
    copy.run()
    assert copy.ids() == [1, 1, 1]


def test_a_run_that_wrote_elsewhere_and_did_not_commit_is_taken_back_by_the_next(copy):
    copy.put("a", 1)
    copy.init()
    copy.write(copy.read(), "hour=9")
    copy.write(copy.read("again"), "hour=9")
    jobrun.end("the driver died")
    assert copy.ids() == [1, 1]
    job = copy.init()
    copy.write(copy.read(), "hour=10")
    copy.write(copy.read("again"), "hour=9")
    job.commit()
    assert [path.parent.name for path in sorted((copy.folder / "out").rglob("*.parquet"))] == ["hour=10", "hour=9"]
    job = copy.init()
    copy.put("b", 2)
    copy.write(copy.read(), "hour=11")
    job.commit()
    assert copy.ids() == [1, 1, 2]


def test_a_run_that_wrote_and_did_not_commit_is_replaced_by_the_next(copy):
    copy.put("a", 1)
    copy.put("b", 2)
    copy.init()
    copy.write(copy.read())
    jobrun.end("the driver died")
    assert copy.ids() == [1, 2]
    (copy.folder / "in" / "b").unlink()
    copy.put("c", 3)
    copy.run()
    assert copy.ids() == [1, 3]


def test_a_run_that_wrote_and_did_not_commit_is_not_written_again_for_equal_input(copy):
    copy.put("a", 1)
    copy.init()
    copy.write(copy.read())
    jobrun.end("the driver died")
    before = sorted((copy.folder / "out").rglob("*.parquet"))
    copy.run()
    assert sorted((copy.folder / "out").rglob("*.parquet")) == before


def test_a_run_that_did_not_commit_and_empties_its_folder_again_writes_it_again(copy):
    def run():
        job = copy.init()
        copy.glue_context.purge_s3_path(str(copy.folder / "out"), {"retentionPeriod": 0})
        copy.write(copy.read())
        return job

    copy.put("a", 1, 2)
    run()
    jobrun.end("the process died")
    run().commit()

    assert copy.ids() == [1, 2]


def test_the_key_holds_for_rows_that_went_through_a_data_frame(copy):
    from awsglue import DynamicFrame

    def through_spark():
        frame = copy.read().toDF().filter("id > 0")
        copy.write(DynamicFrame.fromDF(frame, copy.glue_context, "f"))

    copy.put("a", 1)
    copy.init()
    through_spark()
    jobrun.end("the driver died")
    copy.put("b", 2)
    job = copy.init()
    through_spark()
    job.commit()
    assert copy.ids() == [1, 2]


def test_an_input_without_news_is_an_empty_frame_without_columns(copy):
    copy.put("a", 1)
    copy.run()
    copy.init()
    frame = copy.read()
    assert frame.count() == 0
    assert frame.toDF().columns == []
    assert frame.toDF().count() == 0


def test_a_source_without_ctx_reads_everything(copy, capsys):
    copy.put("a", 1)
    copy.run()
    copy.init()
    assert copy.read(ctx="").count() == 1
    assert "source_not_bookmarked" in capsys.readouterr().err


def test_bounded_runs_go_on_where_the_last_one_ended(copy):
    for n in range(3):
        copy.put(f"{n}", n)
    counts = []
    for _ in range(3):
        job = copy.init()
        counts.append(copy.read(boundedFiles="2").count())
        job.commit()
    assert counts == [2, 1, 0]


def test_a_range_of_runs_is_read_again(copy):
    for n in (1, 2, 3):
        copy.put(f"{n}", n)
        copy.run()
    limits = {"job_bookmark_from": "jr_1", "job_bookmark_to": "jr_2"}
    copy.init(job_bookmark_option="job-bookmark-pause", **limits)
    assert [row["id"] for row in copy.read().toDF().collect()] == [2]


def test_a_predicate_reads_only_its_partitions(copy):
    copy.put("year=2023/a", 1)
    copy.put("year=2024/b", 2)
    copy.init()
    rows = copy.read(predicate="year >= 2024").toDF().collect()
    assert [(row["id"], row["year"]) for row in rows] == [(2, "2024")]


def test_a_second_run_at_the_same_time_is_refused(copy):
    copy.init()
    held = open_ledger(ledger_url({"GLUEPOT_STATE": str(copy.folder / "state")}), SystemClock())
    assert held.lease("copy").run_id == "jr_1"
    with pytest.raises(LeaseHeld, match="'copy' is already running"):
        held.begin(jobrun.RunStart("copy", "jr_2", "enable"), held.lease("copy").owner, None)
    held.close()


def test_the_log_speaks_as_glues_does(copy, capsys):
    copy.put("day=1/a", 1)
    copy.run()
    copy.run()
    logged = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    messages = {(line["logger"], line["level"]) for line in logged if "partition" in line["msg"].lower()}
    assert messages == {("PartitionFilesListerUsingBookmark", "info"), ("HadoopDataSource", "warning")}


def test_the_list_of_files_lies_where_glue_puts_it(copy):
    copy.put("day=1/a", 1)
    copy.run()
    listing = copy.folder / "temp/partitionlisting/copy/jr_1/source0.input-files.json"
    folder = str(copy.folder / "in/day=1")
    assert json.loads(listing.read_text()) == [{"path": folder, "files": [f"{folder}/a"]}]


def test_broken_records_of_files_go_to_the_rejects(copy):
    copy.put("a", 1)
    (copy.folder / "in" / "b").write_text("{broken\n")
    copy.run()
    (rejects,) = (copy.folder / "out").rglob("*.rejects")
    found = duckdb.sql(f"SELECT raw, stream FROM read_parquet('{rejects}')").fetchall()
    assert found == [(b"{broken", str(copy.folder / "in" / "b"))]
    assert copy.ids() == [1]


@pytest.mark.parametrize("ctx", ["source-{}", "source0"], ids=["a bookmark each", "one bookmark"])
def test_a_commit_after_each_table_of_a_loop_remembers_all_tables(copy, capsys, ctx):
    def loop():
        job = copy.init()
        counts = []
        for table in ("a", "b", "c"):
            frame = copy.read(ctx.format(table), paths=[str(copy.folder / "in" / table)])
            counts.append(frame.count())
            copy.write(frame, table)
            job.commit()
        return counts

    for n, table in enumerate(("a", "b", "c")):
        copy.put(f"{table}/1", n)
    first = loop()
    copy.put("b/2", 7)
    second = loop()

    assert (first, second) == ([1, 1, 1], [0, 1, 0])
    assert copy.ids() == [0, 1, 2, 7]
    assert "read_after_commit" in capsys.readouterr().err


def test_what_was_not_committed_after_the_last_commit_is_read_again_and_replaced(copy):
    copy.put("a", 1)
    job = copy.init()
    copy.write(copy.read())
    job.commit()
    copy.put("b", 2)
    copy.write(copy.read(), "late")
    jobrun.end("the script ended")
    assert copy.ids() == [1, 2]

    copy.init()
    assert copy.read().count() == 1
