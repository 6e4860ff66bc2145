"""Connections as the API takes them and returns them."""

import pytest

from gluepot.service.connection_values import connection_answer, connection_entry, fits
from gluepot.service.errors import ServiceError

GIVEN = {
    "Name": "shop",
    "ConnectionType": "JDBC",
    "MatchCriteria": ["a", "b"],
    "ConnectionProperties": {"USERNAME": "ada", "PASSWORD": "hunter2", "SECRET_ID": "shop/database"},
}


def test_what_was_given_comes_back():
    answer = connection_answer(connection_entry({**GIVEN, "ValidateCredentials": True}), hide_passwords=False)
    assert GIVEN.items() <= answer.items()
    assert "ValidateCredentials" not in answer


@pytest.mark.parametrize(
    "secret",
    [
        "PASSWORD",
        "ENCRYPTED_PASSWORD",
        "KAFKA_SASL_SCRAM_PASSWORD",
        "KAFKA_SASL_PLAIN_PASSWORD",
        "KAFKA_CLIENT_KEYSTORE_PASSWORD",
        "KAFKA_CLIENT_KEY_PASSWORD",
        "ENCRYPTED_KAFKA_CLIENT_KEY_PASSWORD",
    ],
)
def test_passwords_can_be_hidden(secret):
    given = {**GIVEN, "ConnectionProperties": {"USERNAME": "ada", "SECRET_ID": "s", secret: "hunter2"}}
    answer = connection_answer(connection_entry(given), hide_passwords=True)
    assert answer["ConnectionProperties"] == {"USERNAME": "ada", "SECRET_ID": "s"}


@pytest.mark.parametrize(
    "authentication",
    [
        {"BasicAuthenticationCredentials": {"Username": "ada", "Password": "hunter2"}},
        {"CustomAuthenticationCredentials": {"token": "hunter2"}},
        {"OAuth2Properties": {"OAuth2Credentials": {"AccessToken": "hunter2"}}},
    ],
)
def test_credentials_that_could_never_be_used_are_refused_and_not_quoted(authentication):
    with pytest.raises(ServiceError, match="SecretArn") as refused:
        connection_entry({**GIVEN, "AuthenticationConfiguration": authentication})
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, True),
        ({"ConnectionType": "JDBC"}, True),
        ({"ConnectionType": "KAFKA"}, False),
        ({"MatchCriteria": ["a"]}, True),
        ({"MatchCriteria": ["a", "c"]}, False),
        ({"ConnectionSchemaVersion": 2}, False),
    ],
)
def test_a_filter_chooses_connections(wanted, found):
    assert fits(connection_entry(GIVEN), wanted) is found


def test_a_connection_does_not_show_its_passwords_in_messages():
    assert "hunter2" not in repr(connection_entry(GIVEN))
