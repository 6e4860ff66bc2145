"""Calls that name another account, catalog or region."""

import pytest
from structlog.testing import capture_logs

from gluepot.service.errors import ServiceError
from gluepot.service.events.envelopes import Origin
from gluepot.service.foreign_ids import ForeignIds, foreign_ids

OWN = Origin("000000000000", "us-east-1")


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        ({}, []),
        ({"CatalogId": "000000000000", "Name": "a"}, []),
        ({"CatalogId": "123456789012"}, [("catalog", "123456789012")]),
        ({"SchemaId": {"SchemaArn": "arn:aws:glue:us-east-1:1:schema/a/b"}}, [("account", "1")]),
        ({"TableInput": {"TargetTable": {"CatalogId": "9"}}}, [("catalog", "9")]),
        ({"ResourceArn": "arn:aws:glue:us-east-1:000000000000:job/a"}, []),
        ({"ResourceArn": "arn:aws:glue:eu-west-1:2:job/a:b"}, [("region", "eu-west-1"), ("account", "2")]),
        ({"Arn": "arn:aws:sqs:eu-west-1:2:queue"}, []),
        ({"ResourceArn": "arn:aws:glue"}, []),
        ({"Tags": {"CatalogId": "mine"}}, []),
    ],
)
def test_ids_that_are_not_the_services_are_found(request_, found):
    assert [(one.kind, one.name) for one in foreign_ids(request_, OWN)] == found


def ids(*, strict=False):
    counted = []
    return ForeignIds(OWN, counted.append, strict=strict), counted


def test_a_call_is_answered_and_each_id_is_told_once():
    watched, counted = ids()
    operations = watched.watched({"AWSGlue.GetTable": dict, "Logs_20140328.GetLogEvents": dict})
    with capture_logs() as lines:
        for _ in range(2):
            operations["AWSGlue.GetTable"]({"CatalogId": "1"})
            operations["Logs_20140328.GetLogEvents"]({"CatalogId": "2"})
            watched.check_region("eu-west-1", "AKID")
            watched.check_region("us-east-1", "AKID")
    assert [(line["kind"], line["id"], line["by"]) for line in lines] == [
        ("catalog", "1", "GetTable"),
        ("region", "eu-west-1", "AKID"),
    ]
    assert counted == ["catalog", "region"] * 2


def test_a_strict_service_refuses_them_as_aws_does():
    watched, _ = ids(strict=True)
    answer = watched.watched({"AWSGlue.GetTable": lambda _: {"Table": {}}})["AWSGlue.GetTable"]
    assert answer({"CatalogId": "000000000000"}) == {"Table": {}}
    with pytest.raises(ServiceError, match=r"glue:GetTable on resource: arn:aws:glue:us-east-1:1:catalog") as refused:
        answer({"CatalogId": "1"})
    assert refused.value.code == "AccessDeniedException"
    with pytest.raises(ServiceError, match="valid region, not 'eu-west-1'"):
        watched.check_region("eu-west-1", "AKID")


def test_a_client_cannot_fill_the_log_with_ids():
    watched, _ = ids()
    with capture_logs() as lines:
        for number in range(1000):
            watched.check_region(f"region-{number}", "AKID")
    assert len(lines) == 100
