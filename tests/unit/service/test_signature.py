"""Signatures, made by botocore as clients make them, and what is wrong with others."""

import hashlib
from datetime import UTC, datetime

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from gluepot.service.errors import ServiceError
from gluepot.service.wire.signature import SKEW_SECS, Request, verify

NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
KEYS = {"AKID": "secret"}
BODY = b'{"Name": "x"}'


def signed(body=BODY, key="AKID", secret="secret", at=NOW, **extra):
    headers = {"Host": "localhost:1", "X-Amz-Target": "AWSGlue.GetJob", **extra}
    request = AWSRequest("POST", "http://localhost:1/", headers=headers, data=body)
    signer = SigV4Auth(Credentials(key, secret), "glue", "eu-west-1")
    request.context["timestamp"] = f"{at:%Y%m%dT%H%M%SZ}"
    request.headers["X-Amz-Date"] = request.context["timestamp"]
    text = signer.string_to_sign(request, signer.canonical_request(request))
    signer._inject_signature_to_request(request, signer.signature(text, request))
    return Request("POST", request.url, {name.lower(): value for name, value in request.headers.items()}, body)


def changed(request, **headers):
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    kept = {name: value for name, value in {**request.headers, **names}.items() if value is not None}
    return Request(request.method, request.url, kept, request.body)


def code_of(request, now=NOW):
    with pytest.raises(ServiceError) as refused:
        verify(request, KEYS.get, now.timestamp())
    return refused.value.code


def test_a_signed_request_tells_who_sent_it():
    signer = verify(signed(), KEYS.get, NOW.timestamp())
    assert (signer.access_key, signer.region, signer.service) == ("AKID", "eu-west-1", "glue")


def test_headers_that_proxies_add_do_not_matter():
    verify(changed(signed(), x_forwarded_for="10.0.0.1"), KEYS.get, NOW.timestamp())


def test_the_hash_of_the_body_may_be_a_header():
    digest = hashlib.sha256(BODY).hexdigest()
    verify(signed(**{"X-Amz-Content-SHA256": digest}), KEYS.get, NOW.timestamp())
    assert code_of(signed(**{"X-Amz-Content-SHA256": "UNSIGNED-PAYLOAD"})) == "InvalidSignatureException"


WHOLE = signed()
GIVEN = WHOLE.headers["authorization"]


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (changed(WHOLE, authorization=None), "MissingAuthenticationTokenException"),
        (changed(WHOLE, authorization="Basic eDp5"), "IncompleteSignatureException"),
        (changed(WHOLE, authorization=GIVEN[:-1]), "IncompleteSignatureException"),
        (changed(WHOLE, authorization=GIVEN + "0"), "IncompleteSignatureException"),
        (changed(WHOLE, authorization=GIVEN.replace("aws4_request", "aws5_request")), "IncompleteSignatureException"),
        (changed(WHOLE, authorization=GIVEN.replace("host;", "")), "IncompleteSignatureException"),
        (changed(WHOLE, authorization=GIVEN.replace("20260504", "20260505")), "InvalidSignatureException"),
        (changed(WHOLE, authorization=GIVEN.replace("eu-west-1", "eu-west-2")), "InvalidSignatureException"),
        (changed(WHOLE, authorization=GIVEN.replace("/glue/", "/s3/")), "InvalidSignatureException"),
        (changed(WHOLE, authorization=GIVEN.replace("AKID", "OTHER")), "UnrecognizedClientException"),
        (changed(WHOLE, x_amz_date=None), "IncompleteSignatureException"),
        (changed(WHOLE, x_amz_date="yesterday"), "IncompleteSignatureException"),
        (changed(WHOLE, x_amz_date="20260504T030202Z"), "InvalidSignatureException"),
        (changed(WHOLE, x_amz_target="AWSGlue.DeleteJob"), "InvalidSignatureException"),
        (changed(WHOLE, x_amz_security_token="added"), "IncompleteSignatureException"),
        (changed(WHOLE, host="elsewhere"), "InvalidSignatureException"),
        (Request("POST", WHOLE.url, WHOLE.headers, BODY + b" "), "InvalidSignatureException"),
        (Request("GET", WHOLE.url, WHOLE.headers, BODY), "InvalidSignatureException"),
        (Request("POST", WHOLE.url + "?a=b", WHOLE.headers, BODY), "InvalidSignatureException"),
        (signed(secret="other"), "InvalidSignatureException"),
    ],
)
def test_what_is_not_as_it_was_signed_is_refused(request_, code):
    assert code_of(request_) == code


@pytest.mark.parametrize("away_secs", [SKEW_SECS + 1, -SKEW_SECS - 1, 86_400, -86_400])
def test_a_request_of_another_time_is_refused(away_secs):
    now = datetime.fromtimestamp(NOW.timestamp() + away_secs, UTC)
    assert code_of(WHOLE, now) == "InvalidSignatureException"


def test_five_minutes_of_difference_are_let_pass():
    verify(WHOLE, KEYS.get, NOW.timestamp() + SKEW_SECS)
