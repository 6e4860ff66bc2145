"""`gluepot catalog` over a catalog of the test; no Spark needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gluepot.cli.main import _outcome

TABLES = {
    "TableList": [
        {
            "Name": "Clicks",
            "DatabaseName": "web",
            "CreateTime": "2023-05-04T10:00:00+02:00",
            "StorageDescriptor": {"Columns": [{"Name": "id", "Type": "bigint"}], "Location": "s3://lake/clicks/"},
            "PartitionKeys": [{"Name": "day", "Type": "string"}],
            "Parameters": {"classification": "json"},
            "CreatedBy": "arn:aws:iam::1:user/ada",
        }
    ],
    "NextToken": None,
}
PARTITIONS = {"Partitions": [{"Values": ["1"], "DatabaseName": "web", "TableName": "clicks", "CreationTime": 1.5e9}]}


@pytest.fixture
def gluepot(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GLUEPOT_CATALOG", f"sqlite:///{tmp_path}/catalog.db")

    def call(*tokens: str, code: int = 0) -> str:
        assert _outcome(["catalog", *tokens], verbose=False) == code
        said = capsys.readouterr()
        return said.out if code == 0 else said.err

    return call


@pytest.fixture
def dump(tmp_path):
    def write(name: str, document: object) -> str:
        (tmp_path / name).write_text(json.dumps(document))
        return str(tmp_path / name)

    return write


@pytest.fixture
def imported(gluepot, dump):
    gluepot("import", dump("p.json", PARTITIONS), dump("t.json", TABLES))
    return gluepot


def test_a_dump_of_awss_command_line_is_taken_in(imported):
    (table,) = json.loads(imported("list", "web", "--output", "json"))
    assert (table["table"], table["partitions"], table["location"]) == ("clicks", 1, "s3://lake/clicks/")
    shown = json.loads(imported("show", "web.clicks", "--output", "json"))["Table"]
    assert (shown["CreatedBy"], shown["CreateTime"]) == ("arn:aws:iam::1:user/ada", "2023-05-04T08:00:00+00:00")


def test_an_export_imports_into_another_catalog(imported, tmp_path, monkeypatch):
    file = str(tmp_path / "all.json")
    imported("export", "web.clicks", file)
    before = Path(file).read_text()
    monkeypatch.setenv("GLUEPOT_CATALOG", f"sqlite:///{tmp_path}/other.db")
    imported("import", file)
    assert imported("export") == before


def test_a_second_import_keeps_what_is_there(imported, dump):
    changed = json.loads(json.dumps(TABLES).replace("bigint", "string"))
    assert "keep" in imported("import", dump("t.json", changed))
    assert "bigint" in imported("show", "web.clicks")


def test_replace_puts_the_imported_table_in_place_and_keeps_the_version_before(imported, dump):
    changed = json.loads(json.dumps(TABLES).replace("bigint", "string"))
    imported("import", dump("t.json", changed), "--replace")
    versions = json.loads(imported("show", "web.clicks", "--versions", "--output", "json"))["TableVersions"]
    types = [one["Table"]["StorageDescriptor"]["Columns"][0]["Type"] for one in versions]
    assert types == ["string", "bigint"]


def test_a_dry_run_changes_nothing(gluepot, dump):
    assert "add" in gluepot("import", dump("t.json", TABLES), "--dry-run")
    assert json.loads(gluepot("list", "--output", "json")) == []


def test_partitions_without_their_table_are_refused(gluepot, dump):
    said = gluepot("import", dump("p.json", PARTITIONS), code=2)
    assert "partitions of web.clicks and not the table" in said


@pytest.mark.parametrize("document", [[], {"Jobs": []}, "text"])
def test_another_document_is_refused(gluepot, dump, document):
    assert "none of Database, Table, Partition" in gluepot("import", dump("x.json", document), code=2)


def test_a_table_is_named_with_its_database(gluepot):
    assert "write database.table" in gluepot("show", "clicks", code=2)
