"""Says what an error of S3 means: which of credentials, region, endpoint, right or server is the cause, and what to do.

obstore puts all it knows into one text: the request, and the status with the body of S3's answer. The codes are those
of S3's error responses.
"""

from __future__ import annotations

import re

from gluepot.core.errors import ConfigError, EtlError, PermanentError, TransientError

_REQUEST = re.compile(r"Error performing [A-Z]+ (https?://[^/\s]+)(\S*) in ")
_STATUS = re.compile(r"status code: (\d{3} [^:\n]+)")
_CODE, _MESSAGE, _REGION = (re.compile(f"<{name}>([^<]*)</{name}>") for name in ("Code", "Message", "Region"))
_NO_PATH = re.compile(r'object with invalid path: [\w ]*"([^"]*)"')
_EXPECTED = re.compile(r"expecting '([\w-]+)'")

_CREDENTIALS_FROM = ("/latest/api/token", "/latest/meta-data/", "169.254.170.2", "//sts.")
"""Parts of the addresses at which credentials are fetched if the environment has none."""
_KEYS = {
    "InvalidAccessKeyId": "the server does not know the access key; correct AWS_ACCESS_KEY_ID, or AWS_ENDPOINT_URL",
    "SignatureDoesNotMatch": "the secret key is not that of the access key; correct AWS_SECRET_ACCESS_KEY",
    "ExpiredToken": "the credentials have expired; fetch new ones",
    "InvalidToken": "the session token is not valid; correct AWS_SESSION_TOKEN, or unset it",
    "RequestTimeTooSkewed": "the clock of this machine is far from that of the server; set it",
}
_OTHER_REGION = frozenset({"AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException"})


def s3_error(url: str, text: str) -> EtlError:
    """Return our error for one of obstore's. Pure.

    Only what may pass by itself is a TransientError.

    Args:
        url: what was read or written.
        text: the error's own text.
    """
    text = text.partition("\n\nDebug source")[0]
    code = _first(_CODE, text)
    request = _REQUEST.search(text)
    server, path = request.groups() if request else ("", "")
    if any(part in f"{server}{path}" for part in _CREDENTIALS_FROM):
        return ConfigError(
            f"no AWS credentials were found for {url}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run where a"
            " role gives them"
        )
    if code in _KEYS:
        return ConfigError(f"{url} cannot be used ({code}): {_KEYS[code]}")
    if code == "NoSuchBucket":
        return ConfigError(f"the bucket of {url} does not exist; create it or correct the path")
    if code in _OTHER_REGION or "without LOCATION" in text:
        region = _first(_REGION, text) or _first(_EXPECTED, text)
        remedy = f"set AWS_REGION to {region}" if region else "set AWS_REGION to that of the bucket"
        return ConfigError(f"the bucket of {url} is in another region than the request; {remedy}")
    if "lacked the necessary privileges" in text or "403 Forbidden" in text or "401 Unauthorized" in text:
        said = f" ({code})" if code else ""
        return ConfigError(f"no right to use {url}{said}; check the AWS credentials and the bucket's policy")
    if (odd := _NO_PATH.search(text)) is not None:
        return PermanentError(f"{url} has a key that is not a path, {odd.group(1)!r}; rename the object")
    if "error sending request" in text:
        return TransientError(f"{server or 'S3'} does not answer for {url}; check AWS_ENDPOINT_URL and the network")
    if status := code or _first(_STATUS, text):
        message = _first(_MESSAGE, text)
        return TransientError(f"{server} answers {status}{f' ({message})' if message else ''} for {url}")
    cause = text.rpartition(" - ")[2].strip() or "no reason was given"
    return TransientError(f"trouble with {url}: {cause}")


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found.group(1).strip() if found else ""
