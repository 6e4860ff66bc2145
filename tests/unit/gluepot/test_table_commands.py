from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gluepot.cli.table.commands import app
from gluepot.core.errors import ConfigError
from tests.unit.tables.tables import Writer


@pytest.fixture
def folder(tmp_path: Path) -> str:
    writer = Writer(str(tmp_path / "table"), partition_keys=["day"])
    writer.publish(0, [{"a": 1, "day": "x"}, {"a": 2, "day": "y"}], bad=[b"{"])
    writer.publish(1, [{"a": 1.5, "day": "x"}])
    writer.publish(1, [{"a": 1.5, "day": "x"}, {"a": None, "day": "x"}], start=3)
    return writer.path


@pytest.fixture
def run(capsys):
    def call(*tokens: str) -> str:
        app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        return capsys.readouterr().out

    return call


@pytest.fixture
def answer(run):
    def call(*tokens: str) -> Any:
        return json.loads(run(*tokens, "--output", "json"))

    return call


def test_files_lists_what_makes_up_the_table(run, answer, folder):
    found = answer("files", folder)
    assert [(one["batch"], one["generation"], one["rows"], one["path"].split("/")[0]) for one in found] == [
        (0, 1, 1, "day=x"),
        (0, 1, 1, "day=y"),
        (1, 2, 2, "day=x"),
    ]
    assert {one["size_bytes"] for one in found} == {Path(folder, one["path"]).stat().st_size for one in found}
    assert run("files", folder).splitlines()[-1].startswith("3 files, 4 rows, ")


def test_history_lists_every_publication_in_order(run, answer, folder):
    found = answer("history", folder)
    assert [(one["batch"], one["generation"], one["live"], one["rows"], one["rejected"]) for one in found] == [
        (0, 1, True, 2, {"malformed_json": 1}),
        (1, 1, False, 1, {}),
        (1, 2, True, 2, {}),
    ]
    assert [(one["start"], one["end"]) for one in found[2]["ranges"]] == [(3, 5)]
    lines = run("history", folder).splitlines()
    assert lines[2].split() == ["2023-11-14T22:13:20Z", "q1", "0", "sink0", "1", "2", "1", "clicks", "0:", "0-3"]
    assert "1 (replaced)" in lines[3]


def test_schema_shows_the_columns_and_with_history_how_they_came_to_be(run, answer, folder):
    assert answer("schema", folder) == [
        {"column": "a", "type": "double", "partition_key": False},
        {"column": "day", "type": "string", "partition_key": True},
    ]
    assert [[seen["type"] for seen in one["types"]] for one in answer("schema", folder, "--history")] == [
        ["long", "double"],
        ["string"],
    ]
    assert [line.split() for line in run("schema", folder).splitlines()[2:]] == [
        ["a", "double", "no"],
        ["day", "string", "yes"],
    ]
    assert run("schema", folder, "--history").splitlines()[3].split()[:3] == ["double", "batch", "1"]


def test_compact_of_a_table_with_a_damaged_file_does_the_others_names_it_and_ends_with_3(capsys, tmp_path):
    writer = Writer(str(tmp_path))
    for batch_id in range(4):
        writer.publish(batch_id, [{"a": batch_id}])
    damaged = min(tmp_path.glob("*.parquet"))
    damaged.write_bytes(b"PAR1")

    with pytest.raises(SystemExit, match="3"):
        app(["compact", str(tmp_path), "--output", "json"], exit_on_error=False, result_action="return_value")

    out, err = capsys.readouterr()
    assert [one["files"] for one in json.loads(out)] == [2]
    assert err.startswith(f"{damaged.name} has 4 bytes and was published with ")


def test_verify_of_a_clean_table_ends_well(run, answer, folder):
    found = answer("verify", folder)
    assert (found["clean"], found["rows"], found["rejected"], found["findings"]) == (True, 4, 1, [])
    assert run("verify", folder).splitlines()[-1] == "clean"


def test_verify_of_a_damaged_table_ends_with_code_3_and_says_what_is_wrong(run, capsys, folder):
    stray = Path(folder, "stray.parquet")
    stray.write_bytes(b"")
    with pytest.raises(SystemExit) as ended:
        run("verify", folder)
    assert ended.value.code == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].startswith("unknown_file: stray.parquet is named by no manifest")
    assert lines[-1] == "findings: 1"


@pytest.mark.parametrize("command", ["files", "verify", "history", "schema"])
def test_a_folder_that_is_no_table_is_one_sentence(run, command, tmp_path):
    with pytest.raises(ConfigError, match=r"is not a table: no batch was published there; check the path"):
        run(command, str(tmp_path))


def test_compact_says_what_it_would_do_then_does_it(run, answer, tmp_path):
    writer = Writer(str(tmp_path / "small"), partition_keys=["day"])
    for batch_id in range(4):
        writer.publish(batch_id, [{"a": batch_id, "day": "x"}])

    assert run("compact", writer.path, "--dry-run").splitlines()[-1].endswith(" bytes would become 1")
    (done,) = answer("compact", writer.path)

    assert (done["folder"], done["files"], done["rows"]) == ("day=x", 3, 3)
    made, newest = sorted(Path(writer.path).glob("day=x/*.parquet"))
    assert made.name.endswith("-zstd.parquet")
    assert (made.stat().st_size, newest.name[:4]) == (done["bytes_after"], "run-")
    assert [(one["query"], one["batch"], one["rows"]) for one in answer("files", writer.path)] == [
        ("compaction", 1, 3),
        ("q1", 3, 1),
    ]
    assert run("compact", writer.path) == "nothing to compact\n"


def test_compact_refuses_a_codec_that_there_is_not(run, folder):
    with pytest.raises(ConfigError, match=r"'zstandard' is not known; use one of snappy, gzip, zstd"):
        run("compact", folder, "--compression", "zstandard")


def test_a_folder_of_tables_is_verified_table_by_table(run, answer, tmp_path):
    for hour in ("h=1", "h=2"):
        Writer(str(tmp_path / "clicks" / hour)).publish(0, [{"a": 1}])
    found = answer("verify", str(tmp_path / "clicks"))
    assert [(one["path"], one["clean"], one["rows"]) for one in found] == [
        (f"{tmp_path}/clicks/h=1", True, 1),
        (f"{tmp_path}/clicks/h=2", True, 1),
    ]
    assert run("verify", str(tmp_path / "clicks")).count("clean") == 2


def test_a_folder_of_tables_with_a_damaged_one_ends_with_3(run, tmp_path):
    for hour in ("h=1", "h=2"):
        Writer(str(tmp_path / hour)).publish(0, [{"a": 1}])
    next((tmp_path / "h=2").glob("*.parquet")).unlink()
    with pytest.raises(SystemExit, match="3"):
        run("verify", str(tmp_path))
