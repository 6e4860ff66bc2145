"""Tries whether a connection leads to a server that lets us in. The clients are imported when they are needed."""

from __future__ import annotations

from collections.abc import Mapping

from gluepot.catalog.connections import Connection, jdbc_connection, kafka_options
from gluepot.connectors.jdbc.endpoint import POSTGRESQL, JdbcEndpoint
from gluepot.service.errors import invalid

_TIMEOUT_SECS = 5
_NO_TOPIC = r"^\b$"


def try_connection(connection: Connection, environ: Mapping[str, str]) -> None:
    """Log in to the server of a connection.

    Raises:
        ConfigError: the connection is not complete, or the server refuses the login.
        TransientError: the server does not answer.
        ServiceError: `InvalidInputException`, because a connection of this type cannot be tried here.
    """
    if connection.type == "kafka":
        _try_kafka(connection, environ)
    elif connection.type == "jdbc":
        _try_jdbc(connection, environ)
    else:
        raise invalid(
            f"A connection of the type {connection.type.upper()} cannot be tried here; Kafka and PostgreSQL can."
        )


def _try_kafka(connection: Connection, environ: Mapping[str, str]) -> None:
    from gluepot.connectors.kafka.broker import Broker  # noqa: PLC0415
    from gluepot.connectors.kafka.settings import KafkaReadSettings  # noqa: PLC0415

    settings = KafkaReadSettings.from_options({**kafka_options(connection, environ), "subscribePattern": _NO_TOPIC})
    Broker(settings, _TIMEOUT_SECS).partitions()


def _try_jdbc(connection: Connection, environ: Mapping[str, str]) -> None:
    found = jdbc_connection(connection, environ)
    if found.engine != POSTGRESQL:
        raise invalid(f"A connection to {found.engine} cannot be tried here; Kafka and PostgreSQL can.")
    from gluepot.connectors.jdbc.postgresql.session import session  # noqa: PLC0415

    options = found.to_options()
    if "connecttimeout" not in options["url"].lower():
        separator = "&" if "?" in options["url"] else "?"
        options["url"] += f"{separator}connectTimeout={_TIMEOUT_SECS}"
    with session(JdbcEndpoint.from_options(options)) as opened:
        opened.rows("SELECT 1")
