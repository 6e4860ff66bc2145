"""A hundred ways to send a request that nobody may send: each is refused, and the operation is not called."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from starlette.testclient import TestClient

from gluepot.core.clock import FakeClock
from gluepot.service.events.envelopes import Origin
from gluepot.service.figures import Figures
from gluepot.service.foreign_ids import ForeignIds
from gluepot.service.operations import BY_TARGET
from gluepot.service.wire.app import MOST_BODY_BYTES, make_app
from gluepot.service.wire.permissions import is_read

NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
HOST = "testserver"
BODY = b'{"JobName": "daily"}'
MISSING, INCOMPLETE = "MissingAuthenticationTokenException", "IncompleteSignatureException"
INVALID, UNKNOWN = "InvalidSignatureException", "UnrecognizedClientException"


def signed(
    body=BODY, key="AKID", secret="secret", at=NOW, service="glue", region="us-east-1", method="POST", path="/", **extra
):
    """Return the headers of a request that is signed so."""
    given = {"Host": HOST, "X-Amz-Target": "AWSGlue.GetJob", **{name.replace("_", "-"): v for name, v in extra.items()}}
    request = AWSRequest(method, f"http://{HOST}{path}", headers=given, data=body)
    signer = SigV4Auth(Credentials(key, secret), service, region)
    request.context["timestamp"] = f"{at:%Y%m%dT%H%M%SZ}"
    request.headers["X-Amz-Date"] = request.context["timestamp"]
    text = signer.string_to_sign(request, signer.canonical_request(request))
    signer._inject_signature_to_request(request, signer.signature(text, request))
    return {name.lower(): value for name, value in request.headers.items()}


WHOLE = signed()
GIVEN = WHOLE["authorization"]
SIGNATURE = GIVEN.rpartition("=")[2]


def without(name):
    return {key: value for key, value in WHOLE.items() if key != name}


def authorized(value):
    return {**WHOLE, "authorization": value}


def changed(**headers):
    return {**WHOLE, **{name.replace("_", "-"): value for name, value in headers.items()}}


def flipped(at):
    digit = "0" if SIGNATURE[at] != "0" else "1"
    return authorized(GIVEN[: len(GIVEN) - 64 + at] + digit + GIVEN[len(GIVEN) - 63 + at :])


def far(**delta):
    return signed(at=NOW + timedelta(**delta))


VARIANTS = {
    # Not signed, or hardly.
    "no header": (without("authorization"), BODY, MISSING),
    "empty header": (authorized(""), BODY, MISSING),
    **{
        f"not version 4: {value}": (authorized(value), BODY, INCOMPLETE)
        for value in (
            "Basic YWJjOmRlZg==",
            "Bearer token",
            "AWS AKID:signature",
            "AWS4-HMAC-SHA256",
            "AWS4-ECDSA-P256-SHA256 " + GIVEN.partition(" ")[2],
            GIVEN.lower(),
            GIVEN.replace("Credential=", "credential="),
            GIVEN.replace("Signature=", "Sign="),
            GIVEN.replace("SignedHeaders=", "Headers="),
            GIVEN.replace("aws4_request", "aws4"),
            GIVEN.replace("/glue/", "/"),
            GIVEN.replace("20260504", "2026"),
            GIVEN.replace(", Signature", "; Signature"),
            GIVEN[:-1],
            GIVEN[:-64],
            GIVEN + "0",
            GIVEN + ", Signature=" + SIGNATURE,
            GIVEN.replace(SIGNATURE, SIGNATURE.upper()) if SIGNATURE.upper() != SIGNATURE else GIVEN[:-1],
            GIVEN.replace(SIGNATURE, "z" * 64),
            GIVEN + "\t" + GIVEN,
        )
    },
    # Headers that have to be signed and are not.
    **{
        f"not signed: {name}": (authorized(GIVEN.replace(f"{name};", "").replace(f";{name}", "")), BODY, INCOMPLETE)
        for name in ("host", "x-amz-date", "x-amz-target")
    },
    **{
        f"added: {name}": ({**WHOLE, name: "added"}, BODY, INCOMPLETE)
        for name in ("x-amz-security-token", "x-amz-meta", "x-amz-expires", "x-amz-user-agent", "x-amzn-trace-id")
        if name.startswith("x-amz-")
    },
    # Signed by somebody else.
    "unknown key": (signed(key="OTHER"), BODY, UNKNOWN),
    "key of another name": (authorized(GIVEN.replace("AKID", "AKIX")), BODY, UNKNOWN),
    "empty secret": (signed(secret=""), BODY, INVALID),
    "wrong secret": (signed(secret="Secret"), BODY, INVALID),
    "secret with a blank": (signed(secret="secret "), BODY, INVALID),
    **{f"digit {at} of the signature": (flipped(at), BODY, INVALID) for at in range(0, 64, 4)},
    # Changed after it was signed.
    **{
        f"body: {body!r}": (WHOLE, body, INVALID)
        for body in (b"", b"{}", BODY + b" ", BODY.replace(b"daily", b"dailY"), b"\x00" + BODY, BODY * 2)
    },
    "another operation": (changed(x_amz_target="AWSGlue.DeleteJob"), BODY, INVALID),
    "another service": (changed(x_amz_target="Logs_20140328.GetLogEvents"), BODY, INVALID),
    "another host": (changed(host="elsewhere.example"), BODY, INVALID),
    "another date": (changed(x_amz_date="20260504T030202Z"), BODY, INVALID),
    "scope of another day": (authorized(GIVEN.replace("20260504", "20260505")), BODY, INVALID),
    "scope of another region": (authorized(GIVEN.replace("us-east-1", "eu-west-1")), BODY, INVALID),
    "scope of another service": (authorized(GIVEN.replace("/glue/", "/sts/")), BODY, INVALID),
    "hash of another body": (signed(X_Amz_Content_SHA256=hashlib.sha256(b"{}").hexdigest()), BODY, INVALID),
    "body that nobody signed": (signed(X_Amz_Content_SHA256="UNSIGNED-PAYLOAD"), BODY, INVALID),
    "body in signed chunks": (signed(X_Amz_Content_SHA256="STREAMING-AWS4-HMAC-SHA256-PAYLOAD"), BODY, INVALID),
    # Signed for something else.
    **{
        f"signed for {service}": (signed(service=service), BODY, INVALID)
        for service in ("s3", "logs", "events", "lambda", "dynamodb", "execute-api")
    },
    "signed for GET": (signed(method="GET"), BODY, INVALID),
    "signed for PUT": (signed(method="PUT"), BODY, INVALID),
    **{f"signed for {path}": (signed(path=path), BODY, INVALID) for path in ("/jobs", "//x", "/?a=b", "/%2e")},
    # Signed at another time: sent again later, or with a clock that is wrong.
    **{
        f"signed {minutes} minutes from now": (far(minutes=minutes), BODY, INVALID)
        for minutes in (-60 * 24 * 365, -60 * 24 * 7, -60 * 24, -60, -15, -6, 6, 15, 60, 60 * 24)
    },
    "signed 301 seconds ago": (far(seconds=-301), BODY, INVALID),
    "signed in 301 seconds": (far(seconds=301), BODY, INVALID),
    **{
        f"date: {date}": (changed(x_amz_date=date), BODY, INCOMPLETE)
        for date in ("", "now", "2026-05-04T03:02:01Z", "20260504T030201", "20260504", "20261304T030201Z", "1777863721")
    },
    "no date": (without("x-amz-date"), BODY, INCOMPLETE),
    # Too large.
    "too large": (signed(b"x" * (MOST_BODY_BYTES + 1)), b"x" * (MOST_BODY_BYTES + 1), "RequestEntityTooLargeException"),
    "too large and not signed": ({}, b"x" * (MOST_BODY_BYTES + 1), "MissingAuthenticationTokenException"),
}


@pytest.fixture(scope="module")
def calls():
    return []


@pytest.fixture(scope="module")
def client(calls):
    clock = FakeClock(NOW.timestamp())
    operations = {"AWSGlue.GetJob": lambda request: calls.append(request) or {}}
    figures = Figures(None, lambda: 0.0, clock)
    return TestClient(make_app(operations, len, {"AKID": "secret"}.get, "token", "0" * 12, figures, clock))


def test_there_are_enough_variants():
    assert len(VARIANTS) >= 100


def test_the_request_itself_is_answered(client, calls):
    assert client.post("/", content=BODY, headers=WHOLE).status_code == 200
    assert calls == [{"JobName": "daily"}]
    calls.clear()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_request_that_nobody_may_send_is_refused(client, calls, variant):
    headers, body, code = VARIANTS[variant]
    answer = client.post("/", content=body, headers=headers)
    assert (answer.json()["__type"], answer.status_code < 500) == (code, True)
    assert "secret" not in answer.text
    assert calls == []


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_not_there(client, calls, method):
    assert client.request(method, "/", headers=WHOLE).status_code == 405
    assert calls == []


def test_a_key_for_readers_reads_and_changes_nothing(calls):
    clock = FakeClock(NOW.timestamp())
    operations = dict.fromkeys(
        ("AWSGlue.GetJob", "AWSGlue.ResetJobBookmark"), lambda request: calls.append(request) or {}
    )
    figures = Figures(None, lambda: 0.0, clock)
    client = TestClient(
        make_app(operations, len, {"AKID": "secret"}.get, "token", "0" * 12, figures, clock, readers={"AKID"})
    )
    assert client.post("/", content=BODY, headers=WHOLE).status_code == 200
    assert calls == [{"JobName": "daily"}]
    calls.clear()

    refused = client.post("/", content=BODY, headers=signed(X_Amz_Target="AWSGlue.ResetJobBookmark"))
    assert (refused.status_code, refused.json()["__type"]) == (400, "AccessDeniedException")
    assert "AKID is not authorized to perform: glue:ResetJobBookmark" in refused.json()["Message"]
    assert calls == []


def test_a_strict_service_refuses_calls_for_another_region():
    clock = FakeClock(NOW.timestamp())
    figures, operations = Figures(None, lambda: 0.0, clock), {"AWSGlue.GetJob": lambda _: {}}
    for strict, status in ((False, 200), (True, 400)):
        ids = ForeignIds(Origin("0" * 12, "eu-north-1"), figures.foreign, strict=strict)
        client = TestClient(
            make_app(
                operations,
                len,
                {"AKID": "secret"}.get,
                "token",
                "0" * 12,
                figures,
                clock,
                check_region=ids.check_region,
            )
        )
        assert client.post("/", content=BODY, headers=WHOLE).status_code == status


def test_operations_that_change_something_are_known_by_their_names():
    verbs = ("Batch", "Cancel", "Create", "Delete", "Disable", "Enable", "Import", "Put", "Register", "Remove", "Reset")
    verbs = (*verbs, "Resume", "Run", "Set", "Start", "Stop", "Tag", "TestConnection", "Untag", "Update")
    for target in BY_TARGET:
        name = target.partition(".")[2]
        assert is_read(name) != (name.startswith(verbs) and not name.startswith("BatchGet")), name
