"""Turns the service's errors into Gluepot's error classes, chosen by what the caller should do next."""

from __future__ import annotations

from gluepot.connectors.aws.errors import NOT_ALLOWED, THROTTLED, Throttled
from gluepot.connectors.documents.bulk import Refused
from gluepot.core.errors import ConfigError, EtlError, PermanentError, TransientError

AWAY_STATUS = 500


class IteratorExpired(TransientError):
    """A shard iterator is older than five minutes; reading continues with a new one at the same position."""


class NoSuchStream(PermanentError, ConfigError):
    """There is no stream, shard or consumer of that name."""


def from_service(operation: str, where: str, status: int, code: str, message: str) -> EtlError:
    """Turn an answer that reports a failure into an `EtlError`.

    Args:
        operation: the service's name for the operation.
        where: stream and endpoint, for the message.
        status: HTTP status.
        code: `__type` without its namespace; empty if the answer has none.
        message: the service's own message.
    """
    said = f"{code or f'HTTP {status}'}: {message}" if message else code or f"HTTP {status}"
    if code in THROTTLED:
        return Throttled(f"{where} throttles {operation} ({said}).")
    if code == "ExpiredIteratorException":
        return IteratorExpired(f"{where}: {operation} came with an iterator that has expired.")
    if code == "ResourceNotFoundException":
        return NoSuchStream(f"{where} is not there ({said}); create the stream, or correct its name.")
    if code in NOT_ALLOWED:
        return ConfigError(f"{where} refused {operation} ({said}); check credentials, role and region.")
    # The next call renews an expired token; a resource in use is free a moment later.
    if status >= AWAY_STATUS or code.startswith(("ExpiredToken", "RequestExpired", "ResourceInUse")):
        return TransientError(f"{where} temporarily refused {operation} ({said}).")
    return Refused(f"{where} does not accept {operation} ({said}).")
