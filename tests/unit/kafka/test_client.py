import pytest

from gluepot.connectors.kafka.client import librdkafka_config
from gluepot.core.errors import ConfigError


def test_names_that_mean_the_same_pass():
    assert librdkafka_config({"security.protocol": "SASL_SSL"}) == {"security.protocol": "SASL_SSL"}


def test_names_that_differ_are_translated():
    assert librdkafka_config({"request.timeout.ms": "5"}) == {"socket.timeout.ms": "5"}


def test_user_and_password_are_taken_out_of_the_jaas_line():
    jaas = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="me" password="a \\"b\\"";'

    config = librdkafka_config({"sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": jaas})

    assert config == {"sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "me", "sasl.password": 'a "b"'}


def test_msk_iam_becomes_a_token_mechanism():
    config = librdkafka_config(
        {
            "sasl.mechanism": "AWS_MSK_IAM",
            "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
            "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler",
        }
    )

    assert config == {"sasl.mechanism": "OAUTHBEARER", "gluepot.iam": "true"}


def test_pem_stores_become_locations():
    java = {"ssl.truststore.location": "/ca.pem", "ssl.keystore.location": "/me.pem", "ssl.keystore.type": "PEM"}

    assert librdkafka_config(java) == {
        "ssl.ca.location": "/ca.pem",
        "ssl.certificate.location": "/me.pem",
        "ssl.key.location": "/me.pem",
    }


@pytest.mark.parametrize("store", ["truststore", "keystore"])
def test_a_java_key_store_is_refused_with_the_way_out(store):
    with pytest.raises(ConfigError, match=rf"ssl\.{store}\.location /x\.jks is a Java key store.*PEM"):
        librdkafka_config({f"ssl.{store}.location": "/x.jks"})


def test_what_the_engine_owns_cannot_be_set():
    with pytest.raises(ConfigError, match=r"auto\.offset.reset cannot be set: use startingOffsets"):
        librdkafka_config({"auto.offset.reset": "earliest"})


def test_a_property_without_counterpart_is_named_with_the_nearest_known():
    with pytest.raises(ConfigError, match=r"kafka\.securty\.protocol has no counterpart.*'security\.protocol'"):
        librdkafka_config({"securty.protocol": "SSL"})
