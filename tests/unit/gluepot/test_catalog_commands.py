"""`gluepot catalog` over a catalog of the test; no Spark needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gluepot.catalog.streams import StreamRead, stream_read
from gluepot.catalog.values import table_of
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


def created(gluepot, *options: str) -> dict[str, object]:
    gluepot("create-database", "Web", "--if-missing")
    gluepot("create-table", "web.clicks", *options)
    return json.loads(gluepot("show", "web.clicks", "--output", "json"))["Table"]


def test_a_table_of_files_is_created_from_options(gluepot):
    columns = ("--column", "Id:bigint", "--column", "tags:array<string>", "--partition-key", "day:string")
    table = created(gluepot, *columns, "--location", "s3://lake/clicks/", "--parameter", "owner=ada")
    assert (table["Parameters"], table["PartitionKeys"]) == (
        {"classification": "parquet", "owner": "ada"},
        [{"Name": "day", "Type": "string"}],
    )
    storage = table["StorageDescriptor"]
    assert (storage["Location"], storage["SerdeInfo"]["SerializationLibrary"].rpartition(".")[2]) == (
        "s3://lake/clicks/",
        "ParquetHiveSerDe",
    )
    assert storage["Columns"] == [{"Name": "id", "Type": "bigint"}, {"Name": "tags", "Type": "array<string>"}]


@pytest.mark.parametrize(
    ("options", "kind", "read"),
    [
        (("--topic", "clicks", "--connection", "broker"), "kafka", {"topicName": "clicks", "connectionName": "broker"}),
        (("--topic", "c", "--bootstrap", "b:1"), "kafka", {"topicName": "c", "bootstrap.servers": "b:1"}),
        (("--stream", "arn:aws:kinesis:x"), "kinesis", {"streamARN": "arn:aws:kinesis:x"}),
    ],
)
def test_a_table_stands_for_a_topic_or_a_stream(gluepot, options, kind, read):
    stream = stream_read(table_of(created(gluepot, *options, "--column", "id:bigint", "--format", "json")), {})
    assert stream == StreamRead(kind, {**read, "classification": "json", "schema": "`id` bigint"})


def test_a_table_is_created_from_awss_table_input(gluepot, dump):
    given = {"TableInput": {"Name": "clicks", "StorageDescriptor": {"Columns": [{"Name": "a", "Type": "int"}]}}}
    assert created(gluepot, "--table-input", dump("input.json", given))["StorageDescriptor"] == {
        "Columns": [{"Name": "a", "Type": "int"}]
    }


def test_the_first_rows_of_a_table_are_shown(gluepot, tmp_path):
    gluepot("create-database", "web")
    for day in (1, 2):
        folder = tmp_path / "orders" / f"day={day}"
        folder.mkdir(parents=True)
        (folder / "x.json").write_text(f'{{"id": {day}, "who": {{"tags": ["a", "é"]}}}}\n{{"id": 10}}\n')
    (tmp_path / "orders" / "day=1" / "empty.json").touch()
    options = ["--partition-key", "day:int", "--format", "json", "--location", str(tmp_path / "orders")]
    gluepot("create-table", "web.orders", "--column", "id:bigint", *options)
    table = {"DatabaseName": "web", "TableName": "orders"}
    parts = {
        "Partitions": [
            {**table, "Values": [str(day)], "StorageDescriptor": {"Location": f"{tmp_path}/orders/day={day}"}}
            for day in (1, 2)
        ]
    }
    dumped = tmp_path / "parts.json"
    dumped.write_text(json.dumps(parts))
    gluepot("import", str(dumped))
    who = {"tags": ["a", "é"]}
    assert json.loads(gluepot("rows", "web.orders", "--most", "3", "--output", "json")) == [
        {"id": 1, "who": who, "day": 1},
        {"id": 10, "who": None, "day": 1},
        {"id": 2, "who": who, "day": 2},
    ]
    assert '{"tags": ["a", "é"]}' in gluepot("rows", "web.orders")
    gluepot("create-table", "web.none", "--format", "json", "--location", str(tmp_path / "none"))
    assert gluepot("rows", "web.none") == "web.none has no rows.\n"


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--topic", "orders", "--bootstrap", "127.0.0.1:1"], "gluepot topic consume"),
        (["--location", "/lake", "--parameter", "spark.sql.sources.provider=delta"], "Delta"),
    ],
)
def test_rows_that_only_others_can_read_are_refused(gluepot, options, word):
    gluepot("create-database", "web")
    gluepot("create-table", "web.clicks", "--column", "id:int", *options)
    assert word in gluepot("rows", "web.clicks", code=2)


def test_a_second_creation_changes_nothing_and_says_so(gluepot):
    created(gluepot, "--location", "/lake")
    again = ("create-table", "web.clicks", "--location", "/other")
    assert "has a table web.clicks already" in gluepot(*again, code=2)
    assert gluepot(*again, "--if-missing").startswith("Table web.clicks exists already")
    assert (
        json.loads(gluepot("show", "web.clicks", "--output", "json"))["Table"]["StorageDescriptor"]["Location"]
        == "/lake"
    )


def test_a_table_and_a_database_are_dropped(gluepot):
    created(gluepot, "--location", "/lake")
    assert gluepot("drop", "web.clicks", "--yes") == "Table web.clicks is removed; its files are still there.\n"
    assert gluepot("drop", "web", "--yes") == "Database web with 0 tables is removed; files are still there.\n"
    assert json.loads(gluepot("list", "--output", "json")) == []


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--location", "/lake", "--column", "id"), "--column is 'id'; write NAME:TYPE, such as id:bigint."),
        (("--location", "/lake", "--column", "id:bigit"), "Did you mean 'bigint'?"),
        (("--location", "/lake", "--topic", "t"), "--topic and --location are both given; give one of"),
        ((), "It is not said; give one of --location, --topic, --stream."),
        (("--topic", "t"), "Give either --connection or --bootstrap."),
        (("--location", "/lake", "--connection", "c"), "give --topic, too."),
        (("--location", "/lake", "--parameter", "a"), "--parameter is 'a'; write NAME=VALUE."),
        (("--table-input", "none.json"), "There is no file none.json; check the path."),
        (("--table-input", "none.json", "--location", "/x"), "describes the whole table; leave --location out."),
    ],
)
def test_a_table_that_cannot_be_is_refused_in_words(gluepot, options, reason):
    gluepot("create-database", "web")
    assert reason in gluepot("create-table", "web.clicks", *options, code=2)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"Name": "clicks", "Columns": []}, "TableInput has no member 'Columns'."),
        ({"Nam": "clicks"}, "Did you mean 'Name'?"),
        ({"Name": "orders"}, "describes the table orders, not clicks"),
        ([], "holds a list; write the object TableInput"),
        ({"Retention": "long"}, "Member must be of type integer"),
    ],
)
def test_a_table_input_that_aws_would_refuse_or_misunderstand_is_refused(gluepot, dump, document, reason):
    gluepot("create-database", "web")
    assert reason in gluepot("create-table", "web.clicks", "--table-input", dump("input.json", document), code=2)
