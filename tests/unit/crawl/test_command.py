"""What `gluepot crawl` prints, and its exit codes."""

import json

import pytest

from gluepot.cli.exit_codes import DONE, FINDINGS
from gluepot.cli.main import app, outcome


@pytest.fixture
def lake(tmp_path, monkeypatch):
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_CATALOG", raising=False)
    lake = tmp_path / "lake"
    for day in (1, 2):
        (lake / f"day={day}").mkdir(parents=True)
        (lake / f"day={day}" / "x.json").write_text('{"id": 1}\n')
    return lake


def test_one_object_tells_all_to_programs(lake, capsys):
    assert outcome(app, ["crawl", str(lake), "--output", "json", "--prefix", "raw_"]) == DONE
    told = json.loads(capsys.readouterr().out)
    assert (told["database"], told["files"], told["left_out_files"]) == ("default", 2, 0)
    [table] = told["tables"]
    assert (table["table"], table["outcome"], table["partition_keys"], table["partitions"]) == (
        "raw_lake",
        "created",
        "day",
        2,
    )
    [step] = told["steps"]
    assert (step["folder"], step["similarity"]) == (str(lake), 1.0)


def test_files_that_are_left_out_are_told_and_the_exit_code_says_so(lake, capsys):
    (lake / "day=1" / "broken.parquet").write_bytes(b"PAR1 cut")
    assert outcome(app, ["crawl", str(lake), str(lake / "none"), "--dry-run"]) == FINDINGS
    said = capsys.readouterr().out
    assert "1 target cannot be crawled:" in said
    assert "1 file left out:" in said
    assert f"{lake}/day=1/broken.parquet is a Parquet file that cannot be read" in said
    assert "3 files, 1 table, 1 would change; nothing was written." in said


def test_exclusions_and_levels_are_options(lake, capsys):
    options = ["--exclude", "day=2/**", "--table-level", str(len(lake.parts) - 1), "--combine", "--update", "log"]
    assert outcome(app, ["crawl", str(lake), "--explain", *options]) == DONE
    said = capsys.readouterr().out
    assert "1 file, 1 table, 1 changed." in said
    assert "CombineCompatibleSchemas" in said


def test_a_folder_without_tables_is_told(tmp_path, lake, capsys):
    (tmp_path / "empty").mkdir()
    assert outcome(app, ["crawl", str(tmp_path / "empty")]) == DONE
    assert f"No table was found in {tmp_path}/empty." in capsys.readouterr().out
