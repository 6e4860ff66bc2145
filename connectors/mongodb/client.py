"""Clients of MongoDB, one for each process and server, and its errors in our terms."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from pymongo import MongoClient
from pymongo.database import Database
from pymongo.errors import (
    ConfigurationError,
    ConnectionFailure,
    ExecutionTimeout,
    InvalidOperation,
    OperationFailure,
    PyMongoError,
)

from gluepot.connectors.documents.bulk import Refused
from gluepot.connectors.mongodb.settings import Address
from gluepot.core.errors import ConfigError, EtlError, TransientError

CONNECT_SECS, ANSWER_SECS = 10, 120

PASSING = frozenset(
    {6, 7, 24, 50, 64, 89, 91, 112, 134, 189, 202, 251, 262, 9001, 10107, 11600, 11602, 13388, 13435, 13436, 16500}
)
"""Codes of errors that pass: no primary, a network that is away, an election, a write conflict, throttling (16500)."""
NOT_ALLOWED = frozenset({13, 18, 20, 31, 8000})
"""Codes of errors that concern the user: no permission, a wrong password."""
NO_SUCH_COMMAND = frozenset({59, 238, 303, 304, 40324})
"""Codes by which servers say that they lack a command, a stage or an operator."""


def database_of(address: Address) -> Database[dict[str, Any]]:
    """Return the database of a collection; connections are opened on first use.

    Raises:
        ConfigError: pymongo does not accept the URI.
    """
    return _client(address, os.getpid())[address.database]


@cache
def _client(address: Address, process: int) -> MongoClient[dict[str, Any]]:  # noqa: ARG001  a fork opens its own
    options: dict[str, Any] = {
        **address.client_options(),
        "serverSelectionTimeoutMS": CONNECT_SECS * 1000,
        "connectTimeoutMS": CONNECT_SECS * 1000,
        "socketTimeoutMS": ANSWER_SECS * 1000,
        "appname": "gluepot",
    }
    try:
        return MongoClient(address.uri, **options)
    except (PyMongoError, ValueError, TypeError) as wrong:
        raise ConfigError(f"The client of MongoDB does not accept the connection options ({wrong}).") from wrong


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn the client's errors inside the block into ours.

    Raises:
        TransientError: the server is away, or has no primary.
        ConfigError: the user or the permission is wrong.
        Refused: the server does not accept the call.
    """
    try:
        yield
    except OperationFailure as failure:
        raise of_answer(failure.code, str((failure.details or {}).get("errmsg") or failure), where) from failure
    except (ConnectionFailure, ExecutionTimeout) as away:
        raise TransientError(f"{where} does not answer ({_first_line(away)}).") from away
    except (ConfigurationError, InvalidOperation) as wrong:
        raise ConfigError(f"{where} cannot be used by this version of pymongo ({_first_line(wrong)}).") from wrong
    except PyMongoError as other:
        raise Refused(f"{where} does not accept the call ({_first_line(other)}).", _first_line(other)) from other


def of_answer(code: int | None, message: str, where: str) -> EtlError:
    """Return what a refused call means.

    Args:
        code: MongoDB's number of the error.
        message: of the server.
        where: the collection.
    """
    said = message if code is None else f"error {code}: {message}"
    if code in PASSING:
        return TransientError(f"{where} cannot do it for now ({said}).")
    if code in NOT_ALLOWED:
        return ConfigError(f"{where} may not be used so ({said}); check user, password and roles.")
    return Refused(f"{where} does not accept the call ({said}).", said)


def _first_line(error: Exception) -> str:
    return str(error).partition(", Timeout:")[0].splitlines()[0][:300]
