"""Translates the client's errors to ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from redshift_connector.error import Error

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.sqlstates import AWAY, OF_THE_JOB
from gluepot.core.errors import ConfigError, EtlError, PermanentError, TransientError

_WAIT_SECS = 5.0
_CONFLICTS = ("1023", "1018", "could not complete because of conflict", "serializable isolation violation")
"""What Redshift says, with a state that says nothing, of a transaction that another one has overtaken."""

_WITHOUT_RIGHT = ("access denied", "accessdenied", "not authorized to assume", "not authorized to perform")
"""What it says, likewise, where S3 or IAM refuses it something."""


@contextmanager
def mapped(endpoint: JdbcEndpoint, doing: str) -> Iterator[None]:
    """Turn the client's errors into ours.

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
        told = error.args[0] if error.args and isinstance(error.args[0], Mapping) else None
        raise translated(told, str(error), f"{doing} at {endpoint.shown}") from error
    except OSError as error:
        raise translated(None, str(error), f"{doing} at {endpoint.shown}") from error


def translated(told: Mapping[str, str] | None, text: str, where: str) -> EtlError:
    """Return our error for one of the client's.

    Args:
        told: fields of the server's error, by the letters of the protocol; None if the server said nothing.
        text: what the client says.
        where: the action and the database.
    """
    if told is None:
        said = " ".join(text.split()) or "no reason was given"
        return TransientError(
            f"{where} did not work: {said}; start the server, or correct url, user and password", _WAIT_SECS
        )
    said = "; ".join(" ".join(told[letter].split()) for letter in ("M", "D", "H") if told.get(letter))
    state = told.get("C", "")
    if state.startswith(AWAY) or (state.startswith("XX") and any(one in said.lower() for one in _CONFLICTS)):
        return TransientError(f"{where} did not work: {said}; try again", _WAIT_SECS)
    if any(one in said.lower() for one in _WITHOUT_RIGHT):
        return ConfigError(
            f"{where} did not work: {said}; let aws_iam_role, or the job's AWS credentials, list, read and write the"
            " temporary folder."
        )
    if state.startswith(OF_THE_JOB):
        return ConfigError(
            f"{where} did not work: {said} (SQLSTATE {state}); correct the name, the value or the right."
        )
    return PermanentError(f"{where} did not work: {said} (SQLSTATE {state or 'none'})")
