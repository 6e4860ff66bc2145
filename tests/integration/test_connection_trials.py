"""TestConnection logs in to real servers of Kafka and PostgreSQL."""

import os
from urllib.parse import urlsplit

import pytest

from gluepot.catalog.connections import Connection
from gluepot.core.errors import TransientError
from gluepot.service import connection_trial

NOBODY_LISTENS = "127.0.0.1:1"


def kafka_at(bootstrap):
    return Connection("events", "kafka", {"KAFKA_BOOTSTRAP_SERVERS": bootstrap, "KAFKA_SSL_ENABLED": "false"})


def postgresql_at(place, user, password):
    properties = {"JDBC_CONNECTION_URL": f"jdbc:postgresql://{place}", "USERNAME": user, "PASSWORD": password}
    return Connection("shop", "jdbc", properties)


def test_a_connection_to_kafka_is_tried(kafka, monkeypatch):
    monkeypatch.setattr(connection_trial, "_TIMEOUT_SECS", 1)
    connection_trial.try_connection(kafka_at(kafka), os.environ)
    with pytest.raises(TransientError, match="check that it runs"):
        connection_trial.try_connection(kafka_at(NOBODY_LISTENS), os.environ)


def test_a_connection_to_postgresql_is_tried(postgresql):
    url = urlsplit(postgresql)
    place = f"{url.hostname}:{url.port}{url.path}"
    connection_trial.try_connection(postgresql_at(place, url.username or "postgres", url.password or "x"), os.environ)
    with pytest.raises(TransientError):
        connection_trial.try_connection(postgresql_at(f"{NOBODY_LISTENS}/shop", "ada", "x"), os.environ)
    with pytest.raises(TransientError, match="nobody"):
        connection_trial.try_connection(postgresql_at(place, "nobody", "x"), os.environ)
