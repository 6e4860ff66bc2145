"""Changes of the Data Catalog are told as events: which, with which names, and once."""

import json

import pytest

from gluepot.catalog.connect import catalog_url, shared_catalog
from gluepot.catalog.values import Change
from gluepot.service.controllers.catalog_news import CatalogNews
from gluepot.service.events.catalog_news import news_of

HOOK = "https://hooks.example/catalog"
DATABASE, TABLE = "Glue Data Catalog Database State Change", "Glue Data Catalog Table State Change"


def listen(world):
    pattern = json.dumps({"detail-type": [{"prefix": "Glue Data Catalog"}]})
    world.call("PutRule", of="AWSEvents", Name="catalog", EventPattern=pattern)
    world.call("PutTargets", of="AWSEvents", Rule="catalog", Targets=[{"Id": "1", "Arn": HOOK}])


def told(world):
    service = world.service
    CatalogNews(world.store, service.environ, service.origin, service.arn, world.clock).step()
    with world.store.changes() as changes:
        events = [json.loads(one.body) for one in changes.events.due(10**15, 1000)]
        for one in changes.events.due(10**15, 1000):
            changes.events.delivered(one)
    return events


def table(name):
    return {"Name": name, "PartitionKeys": [{"Name": "year", "Type": "int"}, {"Name": "month", "Type": "int"}]}


@pytest.fixture
def catalog(world):
    """A database with a table, and a rule that is told of what follows."""
    world.call("CreateDatabase", DatabaseInput={"Name": "web"})
    world.call("CreateTable", DatabaseName="web", TableInput=table("clicks"))
    listen(world)
    return {"DatabaseName": "web", "TableName": "clicks"}


def test_an_event_has_the_form_of_aws(world, catalog):
    world.call("CreatePartition", **catalog, PartitionInput={"Values": ["2018", "01"]})
    [event] = told(world)
    assert event.pop("id")
    assert event == {
        "version": "0",
        "detail-type": TABLE,
        "source": "aws.glue",
        "account": "000000000000",
        "time": "2026-03-02T12:00:00Z",
        "region": "us-east-1",
        "resources": ["arn:aws:glue:us-east-1:000000000000:database/web/clicks"],
        "detail": {
            "databaseName": "web",
            "tableName": "clicks",
            "typeOfChange": "CreatePartition",
            "changedPartitions": ["2018,01"],
        },
    }


def test_each_operation_tells_what_it_changed(world, catalog):
    def values(*months):
        return [{"Values": ["2018", one]} for one in months]

    world.call("CreateDatabase", DatabaseInput={"Name": "Lake"})
    for name in ("a", "b", "c"):
        world.call("CreateTable", DatabaseName="lake", TableInput=table(name))
    world.call("DeleteTable", DatabaseName="lake", Name="A")
    answer = world.call("BatchDeleteTable", DatabaseName="lake", TablesToDelete=["b", "nothing", "C"])
    assert [one["TableName"] for one in answer["Errors"]] == ["nothing"]
    world.call("DeleteDatabase", Name="lake")
    world.call("UpdateTable", DatabaseName="web", TableInput={**table("clicks"), "Description": "new"})
    world.call("BatchCreatePartition", **catalog, PartitionInputList=values("01", "02"))
    world.call("BatchCreatePartition", **catalog, PartitionInputList=values("02", "03"))
    change = {"PartitionValueList": ["2018", "01"], "PartitionInput": {"Values": ["2018", "01"]}}
    world.call("UpdatePartition", **catalog, **change)
    world.call("BatchUpdatePartition", **catalog, Entries=[change])
    world.call("DeletePartition", **catalog, PartitionValues=["2018", "01"])
    world.call("BatchDeletePartition", **catalog, PartitionsToDelete=values("01", "03", "02"))
    events = [(one["detail-type"], one["detail"]) for one in told(world)]
    assert [detail["typeOfChange"] for _, detail in events] == [
        *("CreateDatabase", "CreateTable", "CreateTable", "CreateTable", "DeleteTable", "BatchDeleteTable"),
        *("DeleteDatabase", "UpdateTable", "BatchCreatePartition", "BatchCreatePartition", "UpdatePartition"),
        *("BatchUpdatePartition", "DeletePartition", "BatchDeletePartition"),
    ]
    assert [detail["changedTables"] for kind, detail in events if kind == DATABASE] == [
        *([], ["a"], ["b"], ["c"], ["a"], ["b", "c"], [])
    ]
    january, february, march = (f"2018,0{one}" for one in (1, 2, 3))
    assert [detail["changedPartitions"] for kind, detail in events if kind == TABLE] == [
        *([], [january, february], [march], [january], [january], [january], [march, february])
    ]


def test_what_is_refused_or_changes_nothing_is_not_told(world, catalog):
    same = {"DatabaseName": "web", "TableInput": table("clicks")}
    for operation, request in (
        ("CreateTable", same),
        ("DeleteTable", {"DatabaseName": "web", "Name": "nothing"}),
        ("CreateDatabase", {"DatabaseInput": {"Name": "web"}}),
        ("DeletePartition", {**catalog, "PartitionValues": ["2018", "01"]}),
    ):
        with pytest.raises(Exception, match=r"exists|not found|Cannot find"):
            world.call(operation, **request)
    world.call("UpdateTable", **same)
    assert told(world) == []


def test_without_rules_nothing_is_noted(world):
    world.call("CreateDatabase", DatabaseInput={"Name": "web"})
    assert shared_catalog(catalog_url(world.service.environ), world.clock).noted_changes(10) == []


def test_a_change_is_told_once_and_one_of_yesterday_is_not(world, catalog):
    world.call("CreateDatabase", DatabaseInput={"Name": "first"})
    assert len(told(world)) == 1
    assert told(world) == []
    world.call("CreateDatabase", DatabaseInput={"Name": "second"})
    world.clock.now += 24 * 3600
    assert told(world) == []


def test_an_event_names_at_most_a_hundred_things():
    names = [f"2018,{one}" for one in range(250)]
    change = Change("id", 0, "BatchCreatePartition", "web", "clicks", names)
    parts = [one.detail["changedPartitions"] for one in news_of(change, lambda *words: "/".join(words))]
    assert [len(one) for one in parts] == [100, 100, 50]
    assert [name for one in parts for name in one] == names
    tables = next(news_of(Change("id", 0, "BatchDeleteTable", "web", "", ["a"]), lambda *words: "/".join(words)))
    assert tables.resources == ["table/web/a"]
