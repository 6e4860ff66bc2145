"""Connections of types MONGODB and OPENSEARCH as options of reads and writes."""

from __future__ import annotations

import json

import boto3
import pytest
from moto import mock_aws

from gluepot.catalog.connections import Connection, mongodb_options, opensearch_options
from gluepot.connectors.registry import connector
from gluepot.core.errors import ConfigError


@pytest.fixture
def secrets(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        client = boto3.client("secretsmanager", region_name="us-east-1")
        yield lambda name, **held: client.create_secret(Name=name, SecretString=json.dumps(held))


def test_a_connection_of_mongodb_has_uri_user_and_password():
    found = mongodb_options(
        Connection("shop", "mongodb", {"CONNECTION_URL": "mongodb://db:1", "USERNAME": "ada", "PASSWORD": "env:P"}),
        {"P": "s3cret"},
    )
    assert found == {"connection.uri": "mongodb://db:1", "username": "ada", "password": "s3cret"}


def test_a_secret_holds_the_user_of_mongodb(secrets):
    secrets("of-shop", username="ada", password="s3cret")
    found = mongodb_options(Connection("shop", "mongodb", {"CONNECTION_URL": "mongodb://db", "SECRET_ID": "of-shop"}))
    assert found == {"connection.uri": "mongodb://db", "username": "ada", "password": "s3cret"}


def test_options_of_the_script_come_before_those_of_the_connection():
    shop = Connection("shop", "mongodb", {"CONNECTION_URL": "mongodb://db:1", "USERNAME": "ada"})
    given = {"connectionName": "shop", "username": "bob", "database": "d", "collection": "c"}
    store = connector("mongodb").new_document_store(connector("mongodb").with_connection(given, lambda _: shop))
    assert store.place == "mongodb db:1 d.c"
    assert store.settings.address.user == "bob"


@pytest.mark.parametrize(
    "of_secret", [("USERNAME", "PASSWORD"), ("opensearch.net.http.auth.user", "opensearch.net.http.auth.pass")]
)
def test_a_connection_of_opensearch_is_options_and_a_secret(secrets, of_secret):
    user, password = of_secret
    secrets("of-search", **{user: "ada", password: "s3cret", "other": "x"})
    properties = {"secretId": "of-search", "opensearch.nodes": "https://one", "opensearch.port": 443}
    found = opensearch_options(Connection("find", "opensearch", {"SparkProperties": json.dumps(properties)}))
    assert found == {
        "opensearch.nodes": "https://one",
        "opensearch.port": "443",
        "opensearch.net.http.auth.user": "ada",
        "opensearch.net.http.auth.pass": "s3cret",
    }


@pytest.mark.parametrize(
    ("read", "connection", "said"),
    [
        (mongodb_options, Connection("c", "jdbc", {}), "is of type jdbc; name one of type mongodb"),
        (mongodb_options, Connection("c", "mongodb", {}), "lacks the property CONNECTION_URL"),
        (opensearch_options, Connection("c", "kafka", {}), "is of type kafka; name one of type opensearch"),
        (opensearch_options, Connection("c", "opensearch", {}), "lacks the property SparkProperties"),
        (opensearch_options, Connection("c", "opensearch", {"SparkProperties": "[]"}), "not a JSON object"),
    ],
)
def test_what_a_connection_lacks_is_told(read, connection, said):
    with pytest.raises(ConfigError, match=said):
        read(connection)
