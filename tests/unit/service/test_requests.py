"""What becomes of a request before an operation sees it."""

import json

import pytest
from sqlalchemy.exc import DataError
from starlette.testclient import TestClient

from gluepot.core.clock import FakeClock
from gluepot.service.figures import Figures
from gluepot.service.wire import app as wire
from tests.unit.service.test_signature import KEYS, NOW, signed

BODY = b'{"JobName": "x"}'


def parsed(text):
    return wire._without_nulls(wire._parsed(text.encode()))


def test_null_is_the_same_as_nothing():
    assert parsed('{"a": null, "b": {"c": null, "d": 0}, "e": [{"f": null}], "g": ""}') == {
        "b": {"d": 0},
        "e": [{}],
        "g": "",
    }


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_json_does_not_have_is_refused(number):
    with pytest.raises(wire.ServiceError) as refused:
        parsed(f'{{"a": {number}}}')
    assert refused.value.code == "SerializationException"


def test_an_unsigned_request_is_refused():
    figures = Figures(None, lambda: 0.0, FakeClock(0.0))
    client = TestClient(wire.make_app({}, len, {}.get, "token", "0" * 12, figures, FakeClock(0.0)))
    answer = client.post("/", content=json.dumps({}), headers={"x-amz-target": "AWSGlue.GetTables"})
    assert (answer.status_code, answer.json()["__type"]) == (400, "MissingAuthenticationTokenException")


def test_a_client_of_iam_reads_the_refusal_of_its_form():
    figures = Figures(None, lambda: 0.0, FakeClock(0.0))
    client = TestClient(wire.make_app({}, len, {}.get, "token", "0" * 12, figures, FakeClock(0.0)))
    form = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}
    answer = client.post("/", content="Action=GetRole&RoleName=etl", headers=form)
    assert (answer.status_code, answer.headers["content-type"]) == (400, "text/xml; charset=utf-8")
    assert "<Code>MissingAuthenticationTokenException</Code>" in answer.text


def refusal_of(body, operation=lambda _: {}):
    with pytest.raises(wire.ServiceError) as refused:
        wire.called({"AWSGlue.GetJob": operation}, "AWSGlue.GetJob", body)
    return refused.value


def test_half_of_a_surrogate_pair_is_refused_however_it_is_written():
    for half in (b"\\ud800", b"\xed\xa0\x80"):
        assert refusal_of(b'{"JobName": "%s"}' % half).code == "SerializationException"


def test_what_is_nested_too_deeply_for_an_operation_is_the_mistake_of_the_client():
    def operation(request):
        return operation(request)

    assert refusal_of(b'{"JobName": "a"}', operation).code == "ValidationException"


@pytest.fixture
def deleted():
    """What a call deleted, by its operation."""
    return []


@pytest.fixture
def client(deleted):
    operations = {
        "AWSGlue.GetJob": lambda _: {},
        "AWSGlue.DeleteJob": deleted.append,
        "AWSGlue.GetJobs": lambda request: wire.call({}, request["NextToken"], {}),
    }
    clock = FakeClock(NOW.timestamp())
    return TestClient(wire.make_app(operations, len, KEYS.get, "t", "0" * 12, Figures(None, lambda: 0.0, clock), clock))


def test_a_second_header_does_not_change_what_was_signed(client, deleted):
    headers = list(signed(BODY).headers.items())
    assert client.post("/", content=BODY, headers=headers).status_code != 403
    for header in ("x-amz-target", "X-Amz-Target"):
        answer = client.post("/", content=BODY, headers=[(header, "AWSGlue.DeleteJob"), *headers])
        assert answer.json()["__type"] == "InvalidSignatureException"
    assert not deleted


def test_a_message_does_not_repeat_a_whole_request(client):
    body = json.dumps({"NextToken": "t" * 100_000}).encode()
    answer = client.post("/", content=body, headers=signed(body, **{"X-Amz-Target": "AWSGlue.GetJobs"}).headers)
    assert answer.json()["__type"] == "UnknownOperationException"
    assert len(answer.content) < 20_000


def test_a_host_that_is_none_is_refused(client):
    answer = client.post("/", content=BODY, headers={**signed(BODY).headers, "host": "a[b"})
    assert answer.json()["__type"] == "InvalidSignatureException"


def test_what_the_database_cannot_hold_is_the_mistake_of_the_client():
    def operation(_):
        raise DataError("SELECT", {}, ValueError("text fields cannot contain NUL (0x00) bytes"))

    refused = refusal_of(b'{"JobName": "a"}', operation)
    assert (refused.code, refused.status) == ("ValidationException", 400)
    assert "cannot contain NUL (0x00) bytes" in refused.message
    assert "SELECT" not in refused.message
