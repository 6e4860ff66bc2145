"""`gluepot bookmarks` and `gluepot jobs` over a ledger that runs have filled; no Spark needed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from gluepot.bookmarks.files_input import files_input
from gluepot.bookmarks.jobrun import Bookmarks, JobRun
from gluepot.bookmarks.ledger import Ledger, Owner, RunStart, open_ledger
from gluepot.bookmarks.ledger.lease import Heartbeat
from gluepot.catalog.connect import open_catalog
from gluepot.catalog.values import Database, Partition, Table
from gluepot.cli.main import _outcome
from gluepot.connectors.files.source.settings import FileReadSettings
from gluepot.connectors.files.source.table_settings import table_read
from gluepot.core.clock import FakeClock

CTX = "source0"


@dataclass
class Runs:
    """Runs of one job that read a folder."""

    ledger: Ledger
    clock: FakeClock
    folder: Path
    read_settings: FileReadSettings | None = None

    def put(self, name: str, text: str = "{}") -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run(self, run_id: str) -> None:
        self.clock.sleep(60)
        begun = self.ledger.begin(RunStart("copy", run_id, "enable"), Owner("h", 1), None)
        heartbeat = Heartbeat(self.ledger, begun, ttl_secs=3600)
        marks = Bookmarks(self.ledger, begun, heartbeat)
        settings = self.read_settings or FileReadSettings.from_glue({"paths": [str(self.folder)]}, "json", {})
        files_input(settings, CTX, JobRun("copy", run_id, None, marks), 1, self.clock)
        marks.commit()


@pytest.fixture
def runs(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path}/ledger.db"
    monkeypatch.setenv("GLUEPOT_LEDGER", url)
    clock = FakeClock(1_700_000_000.0)
    made = Runs(open_ledger(url, clock), clock, tmp_path / "in")
    made.put("a")
    made.run("jr_1")
    made.put("day=1/b", "{ }")
    made.run("jr_2")
    return made


@pytest.fixture
def gluepot(capsys):
    def call(*tokens: str, code: int = 0) -> str:
        capsys.readouterr()
        assert _outcome(list(tokens), verbose=False) == code
        said = capsys.readouterr()
        return said.out if code == 0 else said.err

    return call


def as_json(gluepot, *tokens: str):
    return json.loads(gluepot(*tokens, "--output", "json"))


def would_read(gluepot) -> list[str]:
    told = as_json(gluepot, "bookmarks", "explain", "copy", "--ctx", CTX)
    return [Path(one["file"]).name for one in told["files"] if one["reads"]]


def test_list_names_jobs_and_contexts(runs, gluepot):
    (job,) = as_json(gluepot, "bookmarks", "list")
    assert (job["job"], job["state"], job["next_run"], job["contexts"]) == ("copy", 2, 3, [CTX])


def test_get_has_the_fields_of_glues_api(runs, gluepot):
    entry = as_json(gluepot, "bookmarks", "get", "copy")
    assert (entry["Version"], entry["Run"], entry["Attempt"]) == (4, 3, 0)
    assert (entry["PreviousRunId"], entry["RunId"]) == ("jr_1", "jr_2")
    assert json.loads(entry["JobBookmark"])[CTX]["files"] == 2


def test_get_can_look_back_at_a_run(runs, gluepot):
    entry = as_json(gluepot, "bookmarks", "get", "copy", "--run-id", "jr_1")
    assert json.loads(entry["JobBookmark"])[CTX]["files"] == 1


def test_explain_gives_each_file_its_reason(runs, gluepot):
    runs.put("c")
    runs.put("a", "{  }")
    told = as_json(gluepot, "bookmarks", "explain", "copy", "--ctx", CTX)
    reasons = {Path(one["file"]).name: one["reason"] for one in told["files"]}
    assert reasons == {"a": "overwritten", "b": "already read", "c": "new"}
    assert told["counts"] == {"already read": 1, "new": 1, "overwritten": 1}


def test_explain_speaks_to_people_too(runs, gluepot):
    runs.put("c")
    text = gluepot("bookmarks", "explain", "copy", "--ctx", CTX)
    assert "The next run reads 1 of 3 files, 2 bytes" in text


def test_explain_of_an_unknown_ctx_names_those_there_are(runs, gluepot):
    said = gluepot("bookmarks", "explain", "copy", "--ctx", "sorce0", code=2)
    assert "has not read files as ctx 'sorce0' yet; its bookmarks are source0" in said


def test_history_lists_every_version(runs, gluepot):
    gluepot("bookmarks", "reset", "copy", "--yes")
    versions = as_json(gluepot, "bookmarks", "history", "copy")
    assert [(one["state"], one["cause"], one["files"]) for one in versions] == [
        (3, "reset", 0),
        (2, "commit", 1),
        (1, "commit", 1),
    ]
    assert "@" in versions[0]["by"]
    assert versions[1]["by"] == "jr_2"


def test_diff_lists_what_was_read_in_between(runs, gluepot):
    found = as_json(gluepot, "bookmarks", "diff", "copy", "--ctx", CTX, "--from", "1")
    assert [Path(one["file"]).name for one in found] == ["b"]


def test_after_a_reset_everything_is_read_again(runs, gluepot):
    assert would_read(gluepot) == []
    assert "from state 2 to state 3" in gluepot("bookmarks", "reset", "copy", "--yes")
    assert would_read(gluepot) == ["a", "b"]


def test_a_dry_run_changes_nothing(runs, gluepot):
    before = gluepot("bookmarks", "export", "copy")
    for command in (
        ("reset", "copy"),
        ("rewind", "copy", "--to-run", "jr_1"),
        ("pause", "copy"),
        ("fork", "copy", "copy2"),
    ):
        assert "would" in gluepot("bookmarks", *command, "--dry-run")
    assert gluepot("bookmarks", "export", "copy") == before
    assert len(as_json(gluepot, "bookmarks", "list")) == 1


def test_without_a_terminal_a_reset_wants_yes(runs, gluepot):
    assert "pass --yes" in gluepot("bookmarks", "reset", "copy", code=2)


def test_a_rewind_goes_to_a_run_or_a_time(runs, gluepot):
    gluepot("bookmarks", "rewind", "copy", "--to-run", "jr_1", "--yes")
    assert would_read(gluepot) == ["b"]
    gluepot("bookmarks", "rewind", "copy", "--to-time", "2023-11-14T22:13:30", "--yes")
    assert would_read(gluepot) == ["a", "b"]
    gluepot("bookmarks", "rewind", "copy", "--to-time", "2023-11-14T23:15:30+01:00", "--yes")
    assert would_read(gluepot) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "either --to-run or --to-time"),
        (("--to-run", "jr_9"), "no run with the id 'jr_9'"),
        (("--to-time", "yesterday"), "--to-time is 'yesterday'"),
    ],
)
def test_a_rewind_to_nowhere_is_said(runs, gluepot, arguments, message):
    assert message in gluepot("bookmarks", "rewind", "copy", *arguments, "--yes", code=2)


def test_a_paused_job_is_shown_as_such(runs, gluepot):
    gluepot("bookmarks", "pause", "copy")
    assert as_json(gluepot, "bookmarks", "list")[0]["paused"]
    gluepot("bookmarks", "pause", "copy", "--resume")
    assert not as_json(gluepot, "bookmarks", "list")[0]["paused"]


def test_a_fork_knows_what_was_read(runs, gluepot):
    gluepot("bookmarks", "fork", "copy", "copy-next")
    told = as_json(gluepot, "bookmarks", "explain", "copy-next", "--ctx", CTX)
    assert told["counts"] == {"already read": 2}


def test_an_export_imports_elsewhere_and_the_next_run_reads_the_same(runs, gluepot, tmp_path, monkeypatch):
    runs.put("c")
    gluepot("bookmarks", "export", "copy", str(tmp_path / "copy.json"))
    monkeypatch.setenv("GLUEPOT_LEDGER", f"sqlite:///{tmp_path}/other.db")
    gluepot("bookmarks", "import", str(tmp_path / "copy.json"))
    assert would_read(gluepot) == ["c"]


def test_runs_are_listed_newest_first(runs, gluepot):
    listed = as_json(gluepot, "jobs", "runs", "copy")
    assert [(run["run_id"], run["status"], run["to_state"]) for run in listed] == [
        ("jr_2", "committed", 2),
        ("jr_1", "committed", 1),
    ]
    assert (listed[0]["read"], listed[0]["rejected"]) == (0, 0)
    assert listed[0]["account"]["writes"] == {"arrived": 0, "written": 0, "refused": 0, "skipped": 0}


def test_explain_asks_the_catalog_for_the_partitions_of_a_table(runs, gluepot, tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path}/catalog.db"
    monkeypatch.setenv("GLUEPOT_CATALOG", url)
    catalog = open_catalog(url, runs.clock)
    catalog.add_database(Database("web"))
    body = {
        "StorageDescriptor": {"Location": str(tmp_path / "t")},
        "PartitionKeys": [{"Name": "day", "Type": "string"}],
        "Parameters": {"classification": "json"},
    }
    table = Table("web", "clicks", body)
    catalog.add_table(table)
    for day in ("1", "2"):
        (tmp_path / "t" / f"day={day}").mkdir(parents=True)
        (tmp_path / "t" / f"day={day}" / "a").write_text("{}")
    catalog.add_partitions(table, [Partition(("1",), {})])
    runs.read_settings = table_read(table, catalog.partitions(table), {}, "").settings
    runs.run("jr_3")
    catalog.add_partitions(table, [Partition(("2",), {})])
    catalog.close()
    files = json.loads(gluepot("bookmarks", "explain", "copy", "--ctx", CTX, "--output", "json"))["files"]
    reasons = [(Path(file["file"]).parent.name, file["reason"]) for file in files]
    assert reasons == [("day=2", "new"), ("day=1", "already read")]


def test_a_bookmark_says_when_its_run_began_in_microseconds(runs):
    (newest,) = runs.ledger.state("copy", CTX, 2)[1:]
    assert json.loads(newest)["started_us"] == 1_700_000_120_000_000


def test_files_are_read_without_bookmarks_too(runs):
    runs.put("a.json")
    settings = FileReadSettings.from_glue({"paths": [str(runs.folder)]}, "json", {})
    for run in (None, JobRun("copy", "jr_1")):
        made = files_input(settings, CTX, run, 1, runs.clock)
        assert len(made.splits) == 1
        assert not made.bookmark
