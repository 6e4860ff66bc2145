"""What differs between two versions of a table, in words; `gluepot catalog versions`, `diff` and `restore`."""

import json
import os

import pytest

from gluepot.catalog.changes import changes_in_words
from gluepot.catalog.connect import catalog_url, open_catalog
from gluepot.catalog.values import Database, Table
from gluepot.cli.exit_codes import DONE
from gluepot.cli.main import app, outcome
from gluepot.core.clock import FakeClock


def body(*columns, keys=(), parameters=None, **storage):
    return {
        "StorageDescriptor": {
            "Columns": [dict(zip(("Name", "Type", "Comment"), one, strict=False)) for one in columns],
            **storage,
        },
        "PartitionKeys": [{"Name": key, "Type": "string"} for key in keys],
        "Parameters": parameters or {},
    }


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (body(("a", "int")), body(("a", "int")), []),
        (
            body(("a", "int")),
            body(("a", "bigint"), ("b", "string")),
            ["new column b string", "column a was int and is bigint"],
        ),
        (body(("a", "int"), ("b", "int")), body(("b", "int")), ["column a is gone"]),
        (body(("a", "int"), ("b", "int")), body(("b", "int"), ("a", "int")), ["order of columns"]),
        (body(("a", "int", "x")), body(("a", "int")), ["the comment of column a was 'x' and is ''"]),
        (body(), body(keys=["day"]), ["partition keys were none and are day string"]),
        (
            body(parameters={"n": "1", "delimiter": ","}),
            body(parameters={"delimiter": ";"}),
            ["delimiter was , and is ;"],
        ),
        (
            body(Location="a"),
            body(Location="b", InputFormat="X"),
            ["location was a and is b", "input format was not set and is X"],
        ),
        (
            body(SerdeInfo={"SerializationLibrary": "A", "Parameters": {"p": "1"}}),
            body(SerdeInfo={"SerializationLibrary": "B"}),
            ["SerDe was A and is B", "p of the SerDe was 1 and is not set"],
        ),
        ({"Description": "x"}, {}, ["description was x and is not set"]),
    ],
)
def test_each_kind_of_change_has_its_words(before, after, told):
    assert changes_in_words(before, after, {"n"}) == told


@pytest.fixture
def catalog(tmp_path, monkeypatch):
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_CATALOG", raising=False)
    catalog = open_catalog(catalog_url(os.environ), FakeClock(1_790_000_000.0))
    catalog.add_database(Database("web"))
    yield catalog
    catalog.close()


def of_versions(catalog, *bodies):
    catalog.add_table(Table("web", "clicks", bodies[0]))
    for one in bodies[1:]:
        catalog.change_table("web", "clicks", lambda now, one=one: Table("web", "clicks", one, now.version))


def run(capsys, *arguments):
    code = outcome(app, ["catalog", *arguments])
    said = capsys.readouterr()
    return code, said.out + said.err


@pytest.fixture
def clicks(catalog):
    of_versions(
        catalog, body(("a", "int")), body(("a", "int"), ("b", "string")), body(("a", "bigint"), ("b", "string"))
    )
    return catalog


def test_versions_are_listed_with_what_changed(clicks, capsys):
    code, said = run(capsys, "versions", "web.clicks", "--output", "json")
    assert code == DONE
    assert [(one["version"], one["changes"]) for one in json.loads(said)] == [
        (2, "column a was int and is bigint"),
        (1, "new column b string"),
        (0, "the first that is kept"),
    ]
    assert "new column b string" in run(capsys, "versions", "web.clicks")[1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), (1, 2, ["column a was int and is bigint"])),
        (("0",), (0, 2, ["new column b string", "column a was int and is bigint"])),
        (("0", "1"), (0, 1, ["new column b string"])),
        (("1", "1"), (1, 1, [])),
    ],
)
def test_two_versions_are_compared(clicks, capsys, arguments, told):
    code, said = run(capsys, "diff", "web.clicks", *arguments, "--output", "json")
    plain = json.loads(said)
    assert (code, plain["old"], plain["new"], plain["changes"]) == (DONE, *told)


def test_a_version_is_put_back_as_a_new_one(clicks, capsys):
    code, said = run(capsys, "restore", "web.clicks", "0", "--dry-run")
    assert (code, clicks.table("web", "clicks").version) == (DONE, 2)
    assert "web.clicks would become as version 0 was:\n  column b is gone\n" in said
    code, said = run(capsys, "restore", "web.clicks", "0")
    assert "web.clicks is now version 3, as version 0 was:" in said
    assert [len(one.storage.columns) for one in clicks.table_versions("web", "clicks")] == [1, 2, 2, 1]
    assert run(capsys, "restore", "web.clicks", "0") == (DONE, "web.clicks is as version 0 already.\n")


@pytest.mark.parametrize(
    ("bodies", "arguments", "said"),
    [
        ([body()], ("diff", "web.clicks"), "web.clicks has one version, 0"),
        ([body()], ("restore", "web.clicks", "7"), "web.clicks has no version 7; it has 0"),
        ([body(), body(keys=["day"])], ("restore", "web.clicks", "0"), "has the partition keys none, and its partitions have day string"),
        ([body(), body(parameters={"table_type": "ICEBERG"})], ("restore", "web.clicks", "0"), "is a table of Iceberg"),
        ([body()], ("versions", "web"), "'web' is not the name of a table"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_told(catalog, capsys, bodies, arguments, said):
    of_versions(catalog, *bodies)
    before = catalog.table("web", "clicks")
    code, told = run(capsys, *arguments)
    assert code != DONE
    assert said in told
    assert catalog.table("web", "clicks") == before
