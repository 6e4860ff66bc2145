"""Tables of DynamoDB and collections of MongoDB as a crawl finds them."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from gluepot.catalog.databases import database_read, is_of_database
from gluepot.catalog.values import Table
from gluepot.core.errors import ConfigError
from gluepot.crawl import documents
from gluepot.crawl.documents import found_collection, is_meant_at
from gluepot.crawl.items import Scanned, found_items, is_table
from gluepot.crawl.settings import DynamodbTarget, MongodbTarget, crawl_settings
from gluepot.crawl.tables import table_body

ARN = "arn:aws:dynamodb:eu-north-1:123:table/Orders"
DESCRIPTION = {
    "TableName": "Orders",
    "TableArn": ARN,
    "KeySchema": [{"AttributeName": "Id", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}],
    "ItemCount": 4,
    "TableSizeBytes": 100,
}


def settings(*targets, **more):
    return crawl_settings({"Name": "c", "DatabaseName": "shop", "Targets": {"DynamoDBTargets": list(targets)}, **more})


def test_a_table_has_the_columns_of_its_items_and_the_counts_of_dynamodb():
    schema = pa.schema([("Id", pa.string()), ("at", pa.int64()), ("tags", pa.list_(pa.string()))])
    body = table_body(found_items(Scanned(DESCRIPTION, schema)), "c", "")
    assert body["StorageDescriptor"]["Location"] == ARN
    assert [(one["Name"], one["Type"]) for one in body["StorageDescriptor"]["Columns"]] == [
        ("id", "string"), ("at", "bigint"), ("tags", "array<string>"),
    ]  # fmt: skip
    wanted = {
        "classification": "dynamodb", "typeOfData": "table", "hashKey": "Id", "rangeKey": "at", "recordCount": "4",
        "sizeKey": "100", "averageRecordSize": "25",
    }  # fmt: skip
    assert body["Parameters"].items() >= wanted.items()
    assert "connectionName" not in body["Parameters"]


def test_jobs_read_and_write_it_by_its_arn():
    body = table_body(found_items(Scanned(DESCRIPTION, pa.schema([]))), "c", "")
    table = Table("shop", "orders", body)
    assert is_of_database(table)
    read = database_read(table, {"dynamodb.splits": "4"})
    assert (read.kind, read.options) == ("dynamodb", {"dynamodb.input.tableName": ARN, "dynamodb.splits": "4"})
    assert database_read(table, {}, writes=True).options == {"dynamodb.output.tableName": ARN}


def test_targets_are_read_with_glues_defaults():
    found = settings({"Path": "orders"}, {"Path": ARN, "scanAll": False, "scanRate": 1.0}).dynamodb_targets
    assert found == (DynamodbTarget("orders", True, 0.5), DynamodbTarget(ARN, False, 1.0))


@pytest.mark.parametrize(
    ("target", "more", "said"),
    [
        ({}, {}, "A target of DynamoDBTargets has no Path"),
        ({"Path": "orders", "scanRate": 2.0}, {}, "scanRate is 2.0; use a number from 0.1 to 1.5"),
        (
            {"Path": "orders"},
            {"RecrawlPolicy": {"RecrawlBehavior": "CRAWL_NEW_FOLDERS_ONLY"}},
            "needs S3Targets; use CRAWL_EVERYTHING for DynamoDBTargets",
        ),
    ],
)
def test_wrong_targets_are_told(target, more, said):
    with pytest.raises(ConfigError, match=said):
        settings(target, **more)


def test_a_target_means_a_table_by_its_name_or_arn():
    assert is_table(DynamodbTarget("Orders"), ARN)
    assert is_table(DynamodbTarget(ARN), ARN)
    assert not is_table(DynamodbTarget("orders2"), ARN)


def mongodb(*targets, **more):
    return crawl_settings({"Name": "c", "DatabaseName": "web", "Targets": {"MongoDBTargets": list(targets)}, **more})


def test_a_collection_is_a_table_that_jobs_read_and_write_by_its_connection():
    schema = pa.schema([("_id", pa.string()), ("Total", pa.decimal128(5, 2))])
    (target,) = mongodb({"ConnectionName": "shop-db", "Path": "shop/orders.%"}).mongodb_targets
    body = table_body(found_collection(target, documents.Scanned("orders.new", schema, 4, 100)), "c", "")
    assert [(one["Name"], one["Type"]) for one in body["StorageDescriptor"]["Columns"]] == [
        ("_id", "string"), ("total", "decimal(5,2)"),
    ]  # fmt: skip
    wanted = {"classification": "mongodb", "connectionName": "shop-db", "recordCount": "4", "averageRecordSize": "25"}
    assert body["Parameters"].items() >= wanted.items()
    table = Table("web", "shop_orders_new", body)
    assert is_of_database(table)
    options = {"connectionName": "shop-db", "database": "shop", "collection": "orders.new"}
    for writes in (False, True):
        there = database_read(table, {"batchSize": "9"}, writes=writes)
        assert (there.kind, there.options) == ("mongodb", {**options, "batchSize": "9"})


def test_targets_of_mongodb_are_read_with_glues_defaults():
    found = mongodb(
        {"ConnectionName": "c", "Path": "shop/%"}, {"ConnectionName": "c", "Path": "/shop/orders", "ScanAll": False}
    ).mongodb_targets
    assert found == (MongodbTarget("c", "shop", "%", True), MongodbTarget("c", "shop", "orders", False))
    assert is_meant_at(found[0], "shop.a.b")
    assert not is_meant_at(found[0], "shop.system.views")
    assert not is_meant_at(found[0], "other.a")
    assert not is_meant_at(found[1], "shop.orders2")


@pytest.mark.parametrize(
    ("target", "more", "said"),
    [
        ({"Path": "shop/orders"}, {}, "has no ConnectionName; name a connection of the type MONGODB"),
        ({"ConnectionName": "c", "Path": "shop"}, {}, "'shop'; write database/collection"),
        ({"ConnectionName": "c", "Path": "%/orders"}, {}, "'%/orders'; write database/collection"),
        ({"ConnectionName": "c", "Path": "shop/a/b"}, {}, "'shop/a/b'; write database/collection"),
        (
            {"ConnectionName": "c", "Path": "shop/orders"},
            {"RecrawlPolicy": {"RecrawlBehavior": "CRAWL_NEW_FOLDERS_ONLY"}},
            "needs S3Targets; use CRAWL_EVERYTHING for MongoDBTargets",
        ),
    ],
)
def test_targets_of_mongodb_that_cannot_be_crawled_say_why(target, more, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        mongodb(target, **more)
