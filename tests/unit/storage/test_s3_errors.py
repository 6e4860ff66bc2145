"""What a person is told when S3 refuses; the texts of obstore were taken down from real answers."""

from __future__ import annotations

import pytest

from gluepot.core.errors import ConfigError, PermanentError, TransientError
from gluepot.core.storage.s3_errors import s3_error

URL = "s3://lake/orders"
GET = "Error performing GET http://127.0.0.1:9000/lake/orders/a in 6.65ms"
REFUSED = (
    f"The operation lacked the necessary privileges to complete for path a: {GET} - Server returned non-2xx status"
)


def answer(status, code, message="", more=""):
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message>{more}</Error>"
    return (
        f"Generic S3 error: {GET} - Server returned non-2xx status code: {status}: {body}\n\nDebug source:\nGeneric {{"
    )


def forbidden(code):
    return f"{REFUSED} code: 403 Forbidden: <Error><Code>{code}</Code><Message>no</Message></Error>\n\nDebug source:\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Generic S3 error: Error performing PUT http://169.254.169.254/latest/api/token in 101ms - HTTP error: any",
            "no AWS credentials were found for s3://lake/orders; set AWS_ACCESS_KEY_ID",
        ),
        (forbidden("InvalidAccessKeyId"), "(InvalidAccessKeyId): the server does not know the access key; correct AWS"),
        (forbidden("SignatureDoesNotMatch"), "(SignatureDoesNotMatch): the secret key is not that of the access key"),
        (answer("400 Bad Request", "ExpiredToken"), "(ExpiredToken): the credentials have expired; fetch new ones"),
        (forbidden("RequestTimeTooSkewed"), "the clock of this machine is far from that of the server"),
        (forbidden("AccessDenied"), "no right to use s3://lake/orders (AccessDenied); check"),
        (
            answer(
                "400 Bad Request",
                "AuthorizationHeaderMalformed",
                "the region 'us-east-1' is wrong; expecting 'eu-central-1'",
                "<Region>eu-central-1</Region>",
            ),
            "the bucket of s3://lake/orders is in another region than the request; set AWS_REGION to eu-central-1",
        ),
        (
            f"Generic S3 error: {GET} - Received redirect without LOCATION, this normally indicates something",
            "set AWS_REGION to that of the bucket",
        ),
        (answer("404 Not Found", "NoSuchBucket"), "the bucket of s3://lake/orders does not exist; create it"),
    ],
)
def test_what_a_person_must_mend_is_said_with_its_remedy(text, said):
    error = s3_error(URL, text)
    assert isinstance(error, ConfigError)
    assert said in str(error)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"Generic S3 error: {GET}, after 10 retries - HTTP error: error sending request",
            "http://127.0.0.1:9000 does not answer for s3://lake/orders; check AWS_ENDPOINT_URL and the network",
        ),
        (
            answer("503 Service Unavailable", "SlowDown", "Please reduce your request rate."),
            "http://127.0.0.1:9000 answers SlowDown (Please reduce your request rate.) for s3://lake/orders",
        ),
        (
            f"Generic S3 error: {GET} - Server returned non-2xx status code: 500 Internal Server Error: oops",
            "http://127.0.0.1:9000 answers 500 Internal Server Error for s3://lake/orders",
        ),
        ("Generic S3 error: something new", "trouble with s3://lake/orders: Generic S3 error: something new"),
        ("", "trouble with s3://lake/orders: no reason was given"),
    ],
)
def test_what_may_pass_by_itself_names_the_server_and_its_answer(text, said):
    error = s3_error(URL, text)
    assert isinstance(error, TransientError)
    assert str(error) == said


def test_no_text_of_the_library_is_passed_on():
    assert "Debug source" not in str(s3_error(URL, answer("503 Service Unavailable", "SlowDown")))


@pytest.mark.parametrize(
    "text",
    [
        'Encountered object with invalid path: Path "orders/a//" contained empty path segment',
        'Encountered object with invalid path: Error parsing Path "orders/a//": Encountered illegal character sequence',
    ],
)
def test_a_key_that_is_not_a_path_is_named_and_another_try_cannot_help(text):
    error = s3_error(URL, text)
    assert isinstance(error, PermanentError)
    assert str(error) == "s3://lake/orders has a key that is not a path, 'orders/a//'; rename the object"
