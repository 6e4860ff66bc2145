"""Verifies the signatures (version 4) of requests. What the signature has to be is computed by botocore."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from gluepot.service.errors import ServiceError

SKEW_SECS = 300.0
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/,\s]+)/(?P<day>\d{8})/(?P<region>[^/,\s]+)/(?P<service>[^/,\s]+)"
    r"/aws4_request,\s*SignedHeaders=(?P<headers>[a-z0-9;_-]+),\s*Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True, slots=True)
class Request:
    """What a signature covers.

    Args:
        method: such as POST.
        url: with host, path and query.
        headers: by name in lower case.
        body: as it was sent.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Signer:
    """Who signed a request.

    Args:
        access_key: its id.
        region: to which the request was sent.
        service: to which the request was sent, such as `glue`.
    """

    access_key: str
    region: str
    service: str


def verify(request: Request, secret_of: Callable[[str], str | None], now_secs: float) -> Signer:
    """Return who signed a request.

    Args:
        request: the request.
        secret_of: returns the secret of an access key; None if there is no such key.
        now_secs: seconds since 1970.

    Raises:
        ServiceError: the request is not signed, is signed wrongly, or was signed more than five minutes ago or ahead.
    """
    found, signed_at, secret = check_head(request.headers, secret_of)
    wrong = ServiceError(
        "InvalidSignatureException",
        "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access"
        " Key and signing method.",
    )
    digest = request.headers.get("x-amz-content-sha256")
    if digest is not None and digest != hashlib.sha256(request.body).hexdigest():
        raise wrong
    try:
        expected = _signature(request, found, secret)
    except ValueError:  # the header Host is none
        raise wrong from None
    if not hmac.compare_digest(expected, found["signature"]):
        raise wrong
    if abs(signed_at.timestamp() - now_secs) > SKEW_SECS or f"{signed_at:%Y%m%d}" != found["day"]:
        now = datetime.fromtimestamp(now_secs, UTC)
        raise ServiceError(
            "InvalidSignatureException",
            f"Signature expired: the request was signed at {signed_at:%Y%m%dT%H%M%SZ}, and it is {now:%Y%m%dT%H%M%SZ}.",
        )
    return Signer(found["key"], found["region"], found["service"])


def check_head(
    headers: Mapping[str, str], secret_of: Callable[[str], str | None]
) -> tuple[re.Match[str], datetime, str]:
    """Return what the head of a request says about its signature, before its body is read.

    Args:
        headers: by name in lower case.
        secret_of: returns the secret of an access key; None if there is no such key.

    Returns:
        The header Authorization, the time of the signature, and the secret of its key.

    Raises:
        ServiceError: the request is not signed, or no key of ours can have signed it.
    """
    given = headers.get("authorization")
    if not given:
        raise ServiceError("MissingAuthenticationTokenException", "The request is not signed.")
    found = _AUTHORIZATION.fullmatch(given.strip())
    signed_at = _moment(headers.get("x-amz-date", ""))
    if found is None or signed_at is None or not _to_be_signed(headers).issubset(found["headers"].split(";")):
        raise ServiceError(
            "IncompleteSignatureException",
            "The request needs an Authorization header of signature version 4 that covers Host and every X-Amz header.",
        )
    secret = secret_of(found["key"])
    if secret is None:
        raise ServiceError("UnrecognizedClientException", "The security token included in the request is invalid.")
    return found, signed_at, secret


def _to_be_signed(headers: Mapping[str, str]) -> set[str]:
    return {"host", "x-amz-date", *(name for name in headers if name.startswith("x-amz-"))}


def _moment(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def _signature(request: Request, given: re.Match[str], secret: str) -> str:
    headers = {name: request.headers[name] for name in given["headers"].split(";") if name in request.headers}
    signed = AWSRequest(request.method, request.url, headers=headers, data=request.body)
    signed.context["timestamp"] = request.headers["x-amz-date"]
    signer = SigV4Auth(Credentials(given["key"], secret), given["service"], given["region"])
    expected: str = signer.signature(signer.string_to_sign(signed, signer.canonical_request(signed)), signed)
    return expected
