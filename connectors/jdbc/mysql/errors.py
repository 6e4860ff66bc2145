"""Translates errors of the client and the server to ours, by number and SQLSTATE and never by the text."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from pymysql.err import MySQLError

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.core.errors import ConfigError, EtlError, PermanentError, TransientError

GUARDED = 1399  # a statement would end a transaction that only we may end

_WAIT_SECS = 5.0
_OF_THE_CLIENT = range(2000, 3000)
_NO_ENCRYPTION = 2026
# Certificate, authentication plug-in, character set: errors of the client that waiting does not mend.
_OF_THE_LOGIN = frozenset({2019, _NO_ENCRYPTION, 2049, 2054, 2059, 2061})
# Errors of the server without a SQLSTATE of their own that may pass: disk or memory is full, the server stops or
# starts, a lock was not had in time, a statement or connection was killed, the server takes no writes for now.
_AWAY = frozenset({
    1020, 1021, 1037, 1038, 1041, 1053, 1180, 1181, 1205, 1206, 1290, 1317, 1613, 1614, 1792, 1836, 1927, 1969, 3024,
    3101, 3572, 4031,
})  # fmt: skip
_AWAY_STATES = ("08", "40", "53", "70")
# Errors of the same kind that only another statement, value, name or right changes.
_OF_THE_JOB = frozenset({
    1005, 1067, 1101, 1118, 1170, 1191, 1227, 1235, 1293, 1300, 1364, 1419, 1426, 1427, 1524, 1525,
    1665, 1698, 1906, 3105, 3750, 4078, 4161,
})  # fmt: skip
# Errors of the same kind that concern the value of one row, so that the other rows can be written: a null, a key that
# is there, a value that is too long or out of range, no number, date or JSON, against a constraint or without a place.
_OF_A_ROW = frozenset({
    1048, 1062, 1263, 1264, 1265, 1292, 1366, 1367, 1406, 1411, 1416, 1452, 1526, 1586, 1690, 3140, 3141, 3819, 4025,
})  # fmt: skip
_OF_THE_JOB_STATES = ("0A", "21", "22", "23", "28", "3D", "42", "44", "45")


class RowRefused(ConfigError):
    """The server refuses the value of a row.

    Args:
        message: see `ConfigError`.
        said: what the server said.
    """

    def __init__(self, message: str, said: str) -> None:
        super().__init__(message)
        self.said = said


@contextmanager
def mapped(endpoint: JdbcEndpoint, doing: str) -> Iterator[None]:
    """Turn errors of the client into ours.

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
    except MySQLError as error:
        number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
        if isinstance(getattr(error, "original_exception", None), ssl.SSLError):
            number = _NO_ENCRYPTION
        text = str(error.args[-1]) if error.args else ""
        state = getattr(error, "sqlstate", None) or ""
        raise translated(number, state, text, endpoint, doing) from error
    except OSError as error:
        raise translated(0, "", str(error), endpoint, doing) from error


def translated(number: int, state: str, text: str, endpoint: JdbcEndpoint, doing: str) -> EtlError:
    """Return our error for one of theirs.

    Args:
        number: number of the error; 0 if the connection was lost.
        state: SQLSTATE, or empty.
        text: what the server or the client said.
        endpoint: the database.
        doing: what did not work.
    """
    where = f"{doing} at {endpoint.shown}"
    said = " ".join(text.split()) or "the connection was lost"
    if number == GUARDED:
        return ConfigError(
            f"{where} did not work: a statement of preactions or postactions commits by itself, as CREATE, ALTER, DROP,"
            " TRUNCATE and COMMIT do here, and would publish a part of the write; omit it. CREATE TABLE IF NOT"
            " EXISTS and DELETE can be used."
        )
    if number in _OF_A_ROW:
        said = f"{said} (error {number})"
        return RowRefused(f"{where} did not work: {said}; correct the value, or the column.", said)
    if number in _OF_THE_LOGIN or number in _OF_THE_JOB:
        return ConfigError(f"{where} did not work: {said} (error {number}); correct the name, the value or the right.")
    if number == 0 or number in _OF_THE_CLIENT or number in _AWAY or state.startswith(_AWAY_STATES):
        return TransientError(
            f"{where} did not work: {said}; start the server, or correct url, user and password", _WAIT_SECS
        )
    if state.startswith(_OF_THE_JOB_STATES):
        return ConfigError(f"{where} did not work: {said} (error {number}); correct the name, the value or the right.")
    return PermanentError(f"{where} did not work: {said} (error {number})")
