"""Errors of AWS's services, sorted by what the caller should do next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.connectors.documents.bulk import Refused
from gluepot.core.errors import ConfigError, EtlError, TransientError

THROTTLED = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "LimitExceededException",
        "KMSThrottlingException",
        "KmsThrottled",
        "ThrottlingException",
        "ThrottledException",
        "Throttling",
        "Throttled",
        "RequestThrottled",
        "RequestLimitExceeded",
        "SlowDown",
        "TooManyRequestsException",
    }
)
PASSING = THROTTLED | {
    "InternalFailure",
    "InternalFailureException",
    "InternalException",
    "InternalError",
    "InternalServerError",
    "ServiceUnavailable",
    "ServiceUnavailableException",
    "ExpiredToken",
    "ExpiredTokenException",
    "RequestExpired",
    "ResourceInUseException",
    "TransactionInProgressException",
}
MISSING = frozenset(
    {
        "ResourceNotFoundException",
        "NotFound",
        "NotFoundException",
        "QueueDoesNotExist",
        "AWS.SimpleQueueService.NonExistentQueue",
    }
)
NOT_ALLOWED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthorizationError",
        "AuthorizationErrorException",
        "UnrecognizedClientException",
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "IncompleteSignature",
        "MissingAuthenticationToken",
        "InvalidClientTokenId",
        "KMSAccessDeniedException",
        "KMSDisabledException",
        "KMSInvalidStateException",
        "KMSNotFoundException",
        "KMSOptInRequired",
    }
)
_AWAY_STATUS = 500


class Throttled(TransientError):
    """The service asks to be called less often."""


class NotThere(ConfigError):
    """There is no table, queue, topic or stream of that name."""


def plain_code(code: str) -> str:
    """Return an error code without the name of its service's protocol, such as `com.amazonaws.sqs#`."""
    return code.rpartition("#")[2]


def from_answer(where: str, answer: Mapping[str, Any]) -> EtlError:
    """Turn an answer that reports a failure into an `EtlError`.

    Args:
        where: what was called, for the message.
        answer: `response` of botocore's ClientError.
    """
    error = answer.get("Error", {})
    code, message = plain_code(str(error.get("Code", ""))), str(error.get("Message", ""))
    status = int(answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    said = f"{code or f'HTTP {status}'}: {message}" if message else code or f"HTTP {status}"
    if code in THROTTLED:
        return Throttled(f"{where} asks to be called less often ({said}).")
    if code in MISSING:
        return NotThere(f"{where} is not there ({said}); create it, or correct its name.")
    if code in NOT_ALLOWED:
        return ConfigError(f"{where} may not be used ({said}); check credentials, role, policy and region.")
    if code in PASSING or status >= _AWAY_STATUS:
        return TransientError(f"{where} cannot be used for now ({said}).")
    return Refused(f"{where} does not accept the call ({said}).", said)
