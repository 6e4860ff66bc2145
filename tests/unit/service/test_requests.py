"""What becomes of a request before an operation sees it."""

import json

import pytest
from starlette.testclient import TestClient

from gluepot.core.clock import FakeClock
from gluepot.service.figures import Figures
from gluepot.service.wire import app as wire


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
