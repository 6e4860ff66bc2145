"""A read of files in a job's run: which files it takes, what it says of them, and what the commit saves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gluepot.bookmarks import jobrun
from gluepot.bookmarks.files_input import files_input
from gluepot.bookmarks.jobrun import JobRun
from gluepot.connectors.files.source.listing import Root
from gluepot.connectors.files.source.settings import FileReadSettings
from gluepot.core import logging
from gluepot.core.clock import FakeClock

CTX = "source0"


class Copy:
    """A job that reads a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ = {"GLUEPOT_LEDGER": f"sqlite:///{folder}/ledger.db", "GLUEPOT_STATE": str(folder / "state")}
        self.clock = FakeClock(1_700_000_000.0)
        self.lines: list[dict[str, Any]] = []

    def put(self, *names: str) -> None:
        for name in names:
            file = self.folder / "in" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("{}")

    def begin(self, run_id: str, *limits: str, temp_dir: Path | None = None) -> JobRun:
        option = jobrun.PAUSE if limits else jobrun.ENABLE
        temp = None if temp_dir is None else str(temp_dir)
        return jobrun.begin("copy", run_id, temp, option, limits, self.environ, self.clock)

    def settings(self, **options: Any) -> FileReadSettings:
        return FileReadSettings.from_glue({"paths": [str(self.folder / "in")], **options}, "json", {})

    def read(self, run: JobRun | None, ctx: str = CTX, settings: FileReadSettings | None = None) -> list[str]:
        made = files_input(settings or self.settings(), ctx, run, 1, self.clock)
        return [file.name for group in made.splits for file in group.files]

    @contextmanager
    def heard(self) -> Iterator[None]:
        self.lines.clear()
        with logging.heard_by(self.lines.append):
            yield

    def said(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == event]

    def said_as_glue(self) -> list[tuple[str, str, str]]:
        """Return the first words of Glue's own lines, with logger and level."""
        of_glue = [line for line in self.lines if not line["logger"].startswith("gluepot")]
        return [(line["logger"], line["level"], " ".join(line["event"].split()[:2])) for line in of_glue]


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Copy]:
    yield Copy(tmp_path)
    jobrun.end("the test is over")


def test_a_read_says_what_it_found_and_which_folders_it_did_not_enter(copy):
    copy.put("day=1/a", "day=1/b", "other/c")
    with copy.heard():
        copy.read(None)
    (planned,) = copy.said("files_planned")
    assert (planned["listed"], planned["read"], planned["size_bytes"]) == (2, 2, 4)
    (left_out,) = copy.said("folders_not_read")
    assert (left_out["level"], left_out["first"]) == ("warning", ["other"])
    with copy.heard():
        copy.read(None, settings=copy.settings(recurse=True))
    assert copy.said("files_planned")[0]["read"] == 3
    assert copy.said("folders_not_read") == []


def test_only_a_read_with_a_bookmark_speaks_as_glues_does(copy):
    copy.put("day=1/a")
    with copy.heard():
        copy.read(copy.begin("jr_1"))
    lister = "PartitionFilesListerUsingBookmark"
    assert copy.said_as_glue() == [(lister, "info", "Found new"), (lister, "info", "After final")]
    jobrun.commit()
    run = copy.begin("jr_2")
    with copy.heard():
        copy.read(run)
    assert copy.said_as_glue() == [("HadoopDataSource", "warning", "Skipping Partition")]
    with copy.heard():
        copy.read(run, ctx="")
        copy.read(None)
    assert copy.said_as_glue() == []


def test_a_partition_of_the_catalog_without_files_is_said_to_have_none(copy):
    copy.put("day=1/a")
    partitions = [Root(str(copy.folder / "in" / day), day) for day in ("day=1", "day=2")]
    settings = copy.settings()
    with copy.heard():
        run = copy.begin("jr_1")
        copy.read(run, settings=replace(settings, listing=replace(settings.listing, partitions=partitions)))
    (skipped,) = (line["event"] for line in copy.lines if line["event"].startswith("Skipping"))
    assert 'Skipping Partition {"day": "2"} has no new files detected' in skipped


@pytest.mark.parametrize(("with_run", "ctx", "warnings"), [(True, "", 1), (True, CTX, 0), (False, "", 0)])
def test_a_read_that_a_run_with_bookmarks_cannot_remember_is_warned_of(copy, with_run, ctx, warnings):
    copy.put("a")
    run = copy.begin("jr_1") if with_run else None
    with copy.heard():
        assert copy.read(run, ctx) == ["a"]
    assert len(copy.said("source_not_bookmarked")) == warnings
    jobrun.commit()
    assert copy.read(copy.begin("jr_2"), ctx) == ([] if with_run and ctx else ["a"])


def test_the_files_of_a_read_are_listed_where_glue_lists_them(copy):
    copy.put("day=2/c", "day=1/Zürich", "day=1/a")
    run = copy.begin("jr_1", temp_dir=copy.folder / "temp")
    copy.read(run)
    text = (copy.folder / f"temp/partitionlisting/copy/jr_1/{CTX}.input-files.json").read_text()
    one, two = (str(copy.folder / "in" / day) for day in ("day=1", "day=2"))
    assert json.loads(text) == [
        {"path": one, "files": [f"{one}/Zürich", f"{one}/a"]},
        {"path": two, "files": [f"{two}/c"]},
    ]
    assert "Zürich" in text, "people read this file"


def test_files_are_not_listed_without_a_context_or_a_folder_for_it(copy):
    copy.put("a")
    copy.read(copy.begin("jr_1", temp_dir=copy.folder / "temp"), ctx="")
    copy.read(copy.begin("jr_2"))
    assert not (copy.folder / "temp").exists()


def test_a_list_of_files_that_cannot_be_written_does_not_stop_the_job(copy):
    copy.put("a")
    (copy.folder / "temp").write_text("no folder")
    run = copy.begin("jr_1", temp_dir=copy.folder / "temp")
    with copy.heard():
        assert copy.read(run) == ["a"]
    (warning,) = copy.said("file_list_not_written")
    assert warning["temp_dir"] == str(copy.folder / "temp")


def test_a_run_between_two_others_reads_what_was_read_between_them(copy):
    digests = []
    for n in (1, 2, 3):
        copy.put(f"file-{n}")
        run = copy.begin(f"jr_{n}")
        assert copy.read(run) == [f"file-{n}"]
        digests.append(run.bookmarks.input_digest)
        jobrun.commit()
    again = copy.begin("jr_4", "jr_1", "jr_2")
    assert copy.read(again) == ["file-2"]
    assert again.bookmarks.input_digest == digests[1]
    jobrun.commit()
    assert copy.read(copy.begin("jr_5")) == []


def test_a_read_that_finds_nothing_new_saves_no_version_of_its_bookmark(copy):
    copy.put("a")
    for n in (1, 2):
        run = copy.begin(f"jr_{n}")
        copy.read(run)
        jobrun.commit()
    assert [change.run_id for change in run.bookmarks.ledger.history("copy", CTX)] == ["jr_1"]
    run.bookmarks.ledger.close()
