"""Options of MongoDB and DocumentDB as Glue's scripts spell them."""

from __future__ import annotations

import pytest

from gluepot.connectors.mongodb.settings import PARTITIONERS, read_settings, write_settings
from gluepot.core.errors import ConfigError

GIVEN = {"connection.uri": "mongodb://one:27017", "database": "shop", "collection": "orders"}


def test_the_defaults_are_those_of_glue():
    written, read = write_settings("mongodb", GIVEN), read_settings("mongodb", GIVEN)
    assert (written.replaces, written.batch_documents, written.has_object_ids) == (True, 512, True)
    assert (read.key, read.partition_bytes, read.partitions, read.samples) == ("_id", 64 << 20, None, 10)
    assert written.address == read.address
    assert written.address.client_options() == {"retryWrites": False}


def test_options_of_an_example_of_glue():
    given = {
        "uri": "mongodb://docdb:27017", "database": "test", "collection": "profiles", "username": "me",
        "password": " p ", "ssl": "true", "ssl.domain_match": "false", "partitioner": "MongoSamplePartitioner",
        "partitionerOptions.partitionSizeMB": "10", "partitionerOptions.partitionKey": "_id",
    }  # fmt: skip
    read = read_settings("documentdb", given)
    assert read.partition_bytes == 10 << 20
    assert read.address.client_options() == {
        "username": "me", "password": " p ", "tls": True, "tlsAllowInvalidHostnames": True, "retryWrites": False,
    }  # fmt: skip
    assert write_settings("documentdb", given).address == read.address


def test_the_path_of_the_uri_names_database_and_collection():
    address = write_settings("mongodb", {"uri": "mongodb://a,b:1/shop.orders?replicaSet=r"}).address
    assert (address.database, address.collection, address.uri) == ("shop", "orders", "mongodb://a,b:1/?replicaSet=r")
    given = {"uri": "mongodb://one/admin", "database": "shop", "collection": "orders"}
    assert write_settings("mongodb", given).address.uri == "mongodb://one/admin"


def test_secrets_are_in_no_message_and_no_place():
    address = write_settings("mongodb", {**GIVEN, "connection.uri": "mongodb://me:secret@one:27017"}).address
    assert address.hosts == "one:27017"
    assert "secret" not in f"{address.where} {address!r}"


@pytest.mark.parametrize("name", [*PARTITIONERS, "com.mongodb.spark.sql.connector.read.partitioner.SamplePartitioner"])
def test_partitioners_of_all_versions_are_known(name):
    read = read_settings("mongodb", {**GIVEN, "partitioner": name, "partitionerOptions.numberOfPartitions": "7"})
    assert (read.partition_bytes is None) == (read.partitions in {1, 7})


def test_an_update_keeps_the_other_fields():
    assert not write_settings("mongodb", {**GIVEN, "replaceDocument": "false"}).replaces
    assert not write_settings("mongodb", {**GIVEN, "operationType": "update"}).replaces


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"connection.uri": ""}, "connection.uri is missing"),
        ({"connection.uri": "http://one"}, "mongodb://host:27017"),
        ({"database": ""}, "database is missing"),
        ({"database": "my shop"}, "'my shop'"),
        ({"collection": ""}, "collection is missing"),
        ({"collection": "a$b"}, r"no \$"),
        ({"maxBatchSize": "0"}, "maxBatchSize"),
        ({"replaceDocument": "perhaps"}, "replaceDocument"),
        ({"forceInsert": "true"}, "second time"),
        ({"operationType": "insert"}, "operationType is 'insert'"),
        ({"idFieldList": "a,b"}, "field _id"),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(wrong, said):
    with pytest.raises(ConfigError, match=said):
        write_settings("mongodb", {**GIVEN, **wrong})


def test_an_unknown_partitioner_is_told_with_the_nearest_one():
    with pytest.raises(ConfigError, match="Did you mean 'MongoSamplePartitioner'"):
        read_settings("mongodb", {**GIVEN, "partitioner": "MongoSamplPartitioner"})
