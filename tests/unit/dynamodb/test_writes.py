"""Options, keys and capacity of a table."""

from __future__ import annotations

import pytest

from gluepot.connectors.aws.clients import Address
from gluepot.connectors.dynamodb.capacity import Budget, units_per_sec
from gluepot.connectors.dynamodb.export import export_settings, is_data
from gluepot.connectors.dynamodb.keys import Keys, newest
from gluepot.connectors.dynamodb.settings import read_settings, write_settings
from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError

KEYS = Keys.of(
    {
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}],
        "AttributeDefinitions": [
            {"AttributeName": "at", "AttributeType": "N"},
            {"AttributeName": "other", "AttributeType": "S"},
            {"AttributeName": "id", "AttributeType": "S"},
        ],
    }
)


def item(key, at, **more):
    return {"id": {"S": key}, "at": {"N": str(at)}, **more}


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (item("a", 1), ""),
        ({"id": {"S": "a"}}, "it has no at, which is part of the table's key"),
        ({"id": {"N": "1"}, "at": {"N": "1"}}, "its id is not text, as the table's key wants it"),
        (item("", 1), "its id is empty, and no part of a key may be"),
    ],
)
def test_what_is_wrong_with_a_key_is_told(given, fault):
    assert KEYS.fault(given) == fault


def test_of_items_with_one_key_the_last_is_left():
    items = [item("a", 1), item("a", 2), item("a", 1, n={"N": "1"}), item("b", 1)]
    assert newest(KEYS, items) == [1, 2, 3]


def test_the_options_of_glue_are_read():
    settings = write_settings(
        {
            "dynamodb.output.tableName": "orders",
            "dynamodb.throughput.write.percent": "1.0",
            "dynamodb.output.numParallelTasks": "4",
            "dynamodb.sts.roleArn": "arn:aws:iam::1:role/r",
            "dynamodb.region": "eu-west-1",
        }
    )
    assert (settings.share, settings.tasks, settings.table.name) == (1.0, 4, "orders")
    assert settings.table.address == Address("eu-west-1", "", "arn:aws:iam::1:role/r")


def test_a_table_may_be_named_by_its_arn():
    settings = read_settings({"dynamodb.input.tableName": "arn:aws:dynamodb:eu-north-1:123:table/orders"})
    assert (settings.table.name, settings.table.address.region) == ("orders", "eu-north-1")
    assert (settings.splits, settings.share) == (1, 0.5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "dynamodb.input.tableName is missing"),
        ({"dynamodb.input.tableName": "a b"}, "dynamodb.input.tableName is 'a b'; use the name or the ARN"),
        (
            {"dynamodb.input.tableName": "orders", "dynamodb.splits": "1000001"},
            "dynamodb.splits is 1000001; use at most",
        ),
        ({"dynamodb.input.tableName": "orders", "dynamodb.splits": "x"}, "dynamodb.splits is 'x'"),
        (
            {"dynamodb.input.tableName": "orders", "dynamodb.throughput.read.percent": "2"},
            "dynamodb.throughput.read.percent is '2'; use a number from 0.1 to 1.5",
        ),
    ],
)
def test_wrong_options_are_told(options, said):
    with pytest.raises(ConfigError, match=said):
        read_settings(options)


ARN = "arn:aws:dynamodb:eu-north-1:123:table/orders"


def test_the_options_of_an_export_are_read():
    settings = export_settings(
        {
            "dynamodb.export": "ddb",
            "dynamodb.tableArn": ARN,
            "dynamodb.s3.bucket": "b",
            "dynamodb.s3.prefix": "p/q/",
            "dynamodb.unnestDDBJson": True,
        }
    )
    assert (settings.arn, settings.bucket, settings.prefix) == (ARN, "b", "p/q")
    assert (settings.unnest, settings.simplify) == (True, False)
    assert settings.table.address.region == "eu-north-1"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dynamodb.export": "csv"}, "dynamodb.export is 'csv'; use 'ddb', or 's3'"),
        ({"dynamodb.export": "ddb", "dynamodb.tableArn": ARN}, "dynamodb.s3.bucket is missing"),
        ({"dynamodb.export": "ddb", "dynamodb.s3.bucket": "b"}, "dynamodb.tableArn is missing"),
        (
            {"dynamodb.export": "s3", "dynamodb.unnestDDBJson": "true", "dynamodb.simplifyDDBJson": "true"},
            "are both set; use one of them",
        ),
    ],
)
def test_wrong_options_of_an_export_are_told(options, said):
    with pytest.raises(ConfigError, match=said):
        export_settings(options)


def test_manifests_of_an_export_are_no_data():
    names = ["AWSDynamoDB/1/data/a.json.gz", "AWSDynamoDB/1/manifest-files.json", "AWSDynamoDB/1/data/", "data/x.md5"]
    assert [is_data(name) for name in names] == [True, False, False, False]


def test_capacity_is_divided_among_tasks():
    table = {"ProvisionedThroughput": {"WriteCapacityUnits": 100, "ReadCapacityUnits": 40}}
    assert units_per_sec(table, "Write", 0.5, 2) == 25.0
    assert units_per_sec(table, "Read", 1.5, 1) == 60.0
    assert units_per_sec({**table, "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"}}, "Write", 0.5, 2) is None
    assert units_per_sec({"ProvisionedThroughput": {"WriteCapacityUnits": 0}}, "Write", 0.5, 2) is None


def test_a_budget_is_spent_evenly_after_a_burst():
    clock = FakeClock(100.0)
    budget = Budget(10.0, clock)
    moments = []
    for _ in range(6):
        assert budget.spend(lambda: (5.0, "done")) == "done"
        moments.append(clock.now - 100.0)
    # A burst of one second's units is free, then five units take half a second.
    assert moments == pytest.approx([0.0, 0.0, 0.0, 0.5, 1.0, 1.5])


def test_without_a_limit_nothing_waits():
    clock = FakeClock()
    for _ in range(100):
        Budget(None, clock).spend(lambda: (1e9, None))
    assert not clock.waits
