"""Translates the driver's errors to ours, by SQLSTATE and never by the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from adbc_driver_manager import AdbcStatusCode, Error

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.sqlstates import AWAY, OF_THE_JOB
from gluepot.core.errors import ConfigError, EtlError, PermanentError, TransientError

_WAIT_SECS = 5.0
_OF_A_VALUE = ("22", "23514")  # data exceptions, and the check of a domain

_ERROR = "ERROR:"
_AFTER_STATEMENT = f"': {_ERROR}"
# Where in the statement the error is, and the statement itself.
_BESIDE = r"\n(?:LINE \d+:|CONTEXT:|QUERY:|\s*Query was:|\. SQLSTATE)"
_MORE = r"\n(?:DETAIL|HINT):"


class ValueRefused(ConfigError):
    """The server refuses the value of a row."""


@contextmanager
def mapped(endpoint: JdbcEndpoint, doing: str) -> Iterator[None]:
    """Turn the driver's errors into ours.

    Args:
        endpoint: the database, for the message.
        doing: the action that may fail, for the message.

    Raises:
        TransientError: the server cannot be reached, is busy, or gave up for a reason that may pass.
        ConfigError: a name, a permission, a value or a statement is wrong.
        PermanentError: anything else.
    """
    try:
        yield
    except Error as error:
        raise translated(error, endpoint, doing) from error


def translated(error: Error, endpoint: JdbcEndpoint, doing: str) -> EtlError:
    """Return our error for one of the driver's."""
    said = _said(str(error))
    state = str(error.sqlstate or "")
    where = f"{doing} at {endpoint.shown}"
    if state.startswith(AWAY) or (not state and error.status_code is AdbcStatusCode.IO):
        return TransientError(
            f"{where} did not work: {said}; start the server, or correct url, user and password", _WAIT_SECS
        )
    if state.startswith(_OF_A_VALUE):
        return ValueRefused(f"{where} did not work: {said} (SQLSTATE {state}); correct the value, or the column.")
    if state.startswith(OF_THE_JOB):
        return ConfigError(
            f"{where} did not work: {said} (SQLSTATE {state}); correct the name, the value or the right."
        )
    return PermanentError(f"{where} did not work: {said} (SQLSTATE {state or 'none'})")


def _said(text: str) -> str:
    """Return the server's own message with its details, without the driver's prefix and without the statement.

    The driver puts the statement, which may have several lines, before the message or after it.
    """
    _, begun, message = text.rpartition(_AFTER_STATEMENT)
    if not begun:
        message = text.partition(_ERROR)[2] or text.strip().partition("\n")[0]
    kept = re.split(_BESIDE, message)[0]
    return " ".join(re.sub(_MORE, "; ", kept).split()) or "no reason was given"
