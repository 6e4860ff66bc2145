import pytest

from etlcore.masking import is_secret, mask


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "KAFKA_SASL_SCRAM_PASSWORD",
        "db_passwd",
        "kafka.sasl.jaas.config",
        "clientSecret",
        "session-token",
        "apikey",
        "aws_access_key_id",
        "accessKeyId",
        "AWS_SECRET_ACCESS_KEY",
        "kafka.ssl.key.pem",
        "credentials",
        "key",
    ],
)
def test_names_of_secrets_are_known(name):
    assert is_secret(name)


@pytest.mark.parametrize(
    "name", ["partition_keys", "partitionKeys", "keyspace", "monkeys", "user", "bootstrap.servers"]
)
def test_names_that_only_resemble_secrets_are_shown(name):
    assert not is_secret(name)


def test_secrets_are_masked_at_any_depth_and_the_rest_is_kept():
    values = {"options": {"password": "p", "topic": "t"}, "list": [{"token": 1}, 2], 3: "three"}
    assert mask(values) == {"options": {"password": "***", "topic": "t"}, "list": [{"token": "***"}, 2], 3: "three"}


def test_masking_leaves_the_original_alone():
    values = {"password": "p"}
    mask(values)
    assert values == {"password": "p"}
