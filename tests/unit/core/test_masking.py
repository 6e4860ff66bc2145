import pytest

from gluepot.core.masking import is_secret, mask, mask_text


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
        "db_pwd",
        "dbPwd",
        "DB_PASS",
        "passphrase",
        "auth",
        "http.auth",
        "Authorization",
        "basic.auth.user.info",
        "schema.registry.userInfo",
        "sas",
        "sasUrl",
        "sig",
        "X-Amz-Signature",
        "dsn",
        "creds",
        "SLACK_WEBHOOK",
        "AzureConnectionString",
    ],
)
def test_names_of_secrets_are_known(name):
    assert is_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "partition_keys",
        "partitionKeys",
        "keyspace",
        "monkeys",
        "user",
        "bootstrap.servers",
        "sasl.mechanism",
        "signal",
        "author",
        "passed",
        "pass",
        "assigned",
    ],
)
def test_names_that_only_resemble_secrets_are_shown(name):
    assert not is_secret(name)


def test_secrets_are_masked_at_any_depth_and_the_rest_is_kept():
    values = {"options": {"password": "p", "topic": "t"}, "list": [{"token": 1}, 2], 3: "three"}
    assert mask(values) == {"options": {"password": "***", "topic": "t"}, "list": [{"token": "***"}, 2], 3: "three"}


def test_texts_within_mappings_and_lists_are_masked_too():
    assert mask({"conf": {"x": ["db_pwd=p", 1]}}) == {"conf": {"x": ["db_pwd=***", 1]}}


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
        ("Authorization: Bearer abc.def", "Authorization: ***"),
        ('{"Authorization": "Basic bWU6aHVudGVyMg=="}', '{"Authorization": ***}'),
        ("sent Bearer abcdefghijklmnop0123", "sent Bearer ***"),
        ("password=hunt,er2 rows=3", "password=*** rows=3"),
        ("password=hunt,er=2&x;y}z, rows=3", "password=***, rows=3"),
        ("{password=hunter2}", "{password=***}"),
        ("--db_pwd hunter2 --topic t", "--db_pwd *** --topic t"),
        (r"{\"password\": \"hunter 2\", \"topic\": 1}", r"{\"password\": ***, \"topic\": 1}"),
        (r'password="hunt\"er2" rows=3', "password=*** rows=3"),
        ("postgresql://me:hu@nter2@db/shop", "postgresql://***@db/shop"),
        ("postgresql://me:hunt/er2@db/shop", "postgresql://***@db/shop"),
        ("https://hunter2@github.com/x", "https://***@github.com/x"),
        ("http://db:8080/find?mail=a@b.c", "http://db:8080/find?mail=a@b.c"),
        ("https://db/find?mail=a@b.c", "https://db/find?mail=a@b.c"),
        ("jdbc:oracle:thin:scott/tiger@//db:1521/x", "jdbc:oracle:thin:***@//db:1521/x"),
        ("https://acc.blob/x?se=2026&sig=abc%2Fd", "https://acc.blob/x?se=2026&sig=***"),
        ("the first pass: 10 rows", "the first pass: 10 rows"),
    ],
)
def test_secrets_within_a_text_are_masked(text, shown):
    assert mask_text(text) == shown
