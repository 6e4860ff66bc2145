"""What boto3 is asked for: secrets of connections, storage classes of objects."""

from __future__ import annotations

import boto3
import pytest

from gluepot.catalog.connections import Connection, jdbc_connection, kafka_options
from gluepot.connectors.files.source.listing import ListingStats, list_files
from gluepot.connectors.files.source.settings import FileReadSettings
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError
from gluepot.tables.purge import PurgeOptions, purge_path

URL = {"JDBC_CONNECTION_URL": "jdbc:postgresql://db/shop"}


@pytest.fixture
def secret(client, endpoint):
    manager = boto3.client("secretsmanager", endpoint_url=endpoint, region_name="us-east-1")
    made = manager.create_secret(Name="shop/db", SecretString='{"username": "ada", "password": "s3cret"}')
    yield made["ARN"]
    manager.delete_secret(SecretId="shop/db", ForceDeleteWithoutRecovery=True)
    manager.close()


def test_a_database_login_is_a_secret(secret):
    found = jdbc_connection(Connection("w", "jdbc", {**URL, "SECRET_ID": "shop/db"}))
    assert (found.user, found.password) == ("ada", "s3cret")


def test_one_member_of_a_secret_is_a_property(secret):
    reference = {"USERNAME": "eve", "PASSWORD": f"secretsmanager:{secret}#password"}
    assert jdbc_connection(Connection("w", "jdbc", {**URL, **reference})).password == "s3cret"


def test_a_login_to_kafka_is_a_secret(secret):
    properties = {
        "KAFKA_BOOTSTRAP_SERVERS": "b:1",
        "KAFKA_SASL_MECHANISM": "SCRAM-SHA-512",
        "KAFKA_SASL_SCRAM_SECRETS_ARN": secret,
    }
    options = kafka_options(Connection("events", "kafka", properties))
    assert 'username="ada" password="s3cret"' in options["kafka.sasl.jaas.config"]


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("secretsmanager:none", r"the secret 'none' cannot be read \(ResourceNotFoundException\)"),
        ("secretsmanager:shop/db#port", "not a JSON object with a member 'port'"),
    ],
)
def test_a_secret_that_is_not_there_is_told_and_never_shown(secret, reference, said):
    with pytest.raises(ConfigError, match=said) as refused:
        jdbc_connection(Connection("w", "jdbc", {**URL, "PASSWORD": reference}))
    assert "s3cret" not in str(refused.value)


@pytest.fixture
def objects(client):
    for key, storage_class in (("t/a", "STANDARD"), ("t/b", "GLACIER"), ("t/day=1/c", "DEEP_ARCHIVE")):
        client.put_object(Bucket="lake", Key=key, Body=b"{}", StorageClass=storage_class)
    return client


def test_objects_of_excluded_storage_classes_are_not_read(objects):
    given = {"paths": ["s3://lake/t"], "excludeStorageClasses": ["GLACIER", "DEEP_ARCHIVE"]}
    settings = FileReadSettings.from_glue(given, "json", {})
    stats = ListingStats()
    assert [file.url for file in list_files(settings.listing, stats)] == ["s3://lake/t/a"]
    assert stats.excluded == 2


def test_objects_of_excluded_storage_classes_are_not_purged(objects):
    options = PurgeOptions.from_glue({"retentionPeriod": 0, "excludeStorageClasses": "GLACIER"})
    purge_path("s3://lake/t", options, SystemClock(), "a")
    left = [one["Key"] for one in objects.list_objects_v2(Bucket="lake")["Contents"]]
    assert left == ["t/b"]
