import pytest

from etlcore.masking import is_secret, mask, mask_text


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sasl.password=hunter2, retries=3", "sasl.password=***, retries=3"),
        ('{"secret_key": "hunter2", "topic": "t"}', '{"secret_key": ***, "topic": "t"}'),
        ("postgresql://me:hunter2@db/shop", "postgresql://***@db/shop"),
        ("ValueError: password=hunter2 is wrong", "ValueError: password=*** is wrong"),
        ("offset 7 of clicks-0", "offset 7 of clicks-0"),
    ],
)
def test_secrets_within_a_text_are_masked(text, shown):
    assert mask_text(text) == shown
