"""STS and IAM, which clients of Glue call; their answers are read by botocore."""

from urllib.parse import urlencode

import pytest
from botocore.parsers import create_parser
from botocore.session import get_session

from gluepot.service.errors import ServiceError
from gluepot.service.wire import query
from gluepot.service.wire.signature import Signer

ACCOUNT = "000000000000"


def called(service, **form):
    return query.answer(Signer("AKID<1", "us-east-1", service), urlencode(form).encode(), ACCOUNT, "id-1")


def read(text, service, operation, status=200):
    shape = get_session().get_service_model(service).operation_model(operation).output_shape
    return create_parser("query").parse({"status_code": status, "headers": {}, "body": text.encode()}, shape)


def test_a_caller_hears_who_it_is():
    found = read(called("sts", Action="GetCallerIdentity", Version="2011-06-15"), "sts", "GetCallerIdentity")
    assert (found["Account"], found["Arn"]) == (ACCOUNT, f"arn:aws:iam::{ACCOUNT}:user/AKID<1")


def test_every_name_is_a_role():
    role = read(called("iam", Action="GetRole", RoleName="etl&co"), "iam", "GetRole")["Role"]
    assert (role["RoleName"], role["Arn"]) == ("etl&co", f"arn:aws:iam::{ACCOUNT}:role/etl&co")
    assert role["CreateDate"].year == 1970


@pytest.mark.parametrize(
    ("service", "form", "code"),
    [
        ("iam", {"Action": "GetRole"}, "ValidationError"),
        ("iam", {"Action": "CreateRole"}, "InvalidAction"),
        ("iam", {"Action": "GetCallerIdentity"}, "InvalidAction"),
        ("sts", {}, "InvalidAction"),
    ],
)
def test_a_refusal_is_read_as_an_error(service, form, code):
    with pytest.raises(ServiceError) as refused:
        called(service, **form)
    error = read(query.refusal(refused.value, "id-1"), "iam", "GetRole", refused.value.status)["Error"]
    assert (error["Code"], error["Message"]) == (code, refused.value.message)
