"""Forms and XML, as older clients of CloudWatch have them: botocore writes the requests and reads the answers."""

from datetime import UTC, datetime

import pytest
from botocore.parsers import create_parser
from botocore.serialize import create_serializer

from gluepot.service.errors import ServiceError
from gluepot.service.wire import forms
from gluepot.service.wire.shapes import model_of

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MODEL = model_of("cloudwatch")


def sent(name, **request):
    """Return what arrives of a request."""
    operation = MODEL.operation_model(name)
    written = create_serializer("query").serialize_to_request(request, operation)["body"]
    form = {key: str(value) for key, value in written.items()}
    return forms.request_of(form, operation)


def read(name, **answer):
    """Return what a client reads of an answer."""
    operation = MODEL.operation_model(name)
    text = forms.answer_of(answer, operation, "http://monitoring.example/", "id-1")
    found = create_parser("query").parse(
        {"status_code": 200, "headers": {}, "body": text.encode()}, operation.output_shape
    )
    assert found.pop("ResponseMetadata")["RequestId"] == "id-1"
    return found


def test_requests_arrive_as_with_json():
    datum = {"MetricName": "a&b", "Dimensions": [{"Name": "n", "Value": "v=1"}], "Values": [1.5, 2], "Unit": "Count"}
    assert sent("PutMetricData", Namespace="Shop", MetricData=[datum, {"MetricName": "c", "Timestamp": NOON}]) == {
        "Namespace": "Shop",
        "MetricData": [datum, {"MetricName": "c", "Timestamp": NOON.timestamp()}],
    }
    query = {"Id": "m", "Expression": "a + 1", "ReturnData": False, "Period": 60}
    span = {"StartTime": NOON, "EndTime": NOON, "ScanBy": "TimestampAscending"}
    seconds = {"StartTime": NOON.timestamp(), "EndTime": NOON.timestamp()}
    assert sent("GetMetricData", MetricDataQueries=[query], **span) == {"MetricDataQueries": [query], **span, **seconds}
    many = [{"MetricName": str(number)} for number in range(12)]
    assert sent("PutMetricData", Namespace="Shop", MetricData=many)["MetricData"] == many


def test_answers_are_read_as_with_json():
    point = {"Timestamp": NOON.timestamp(), "Sum": 1.5, "Unit": "Count", "ExtendedStatistics": {"p<99": 2.0}}
    found = read("GetMetricStatistics", Label="a&b", Datapoints=[point])
    assert found == {"Label": "a&b", "Datapoints": [{**point, "Timestamp": NOON}]}
    assert read("ListMetrics", Metrics=[], NextToken="t") == {"Metrics": [], "NextToken": "t"}
    assert read("PutMetricData") == {}


def test_characters_that_xml_does_not_have_are_replaced():
    assert read("ListMetrics", NextToken="a\x01b\ufffe<🙂\t") == {"NextToken": "a\ufffdb\ufffd<🙂\t"}


def test_a_name_of_very_many_parts_takes_no_time():
    operation = MODEL.operation_model("ListMetrics")
    assert forms.request_of({"a." * 100_000: "1", "Namespace": "Shop"}, operation) == {"Namespace": "Shop"}


@pytest.mark.parametrize(
    "form",
    [
        {"MaxDatapoints": "many"},
        {"StartTime": "noon"},
        {"StartTime": "0001-01-01T00:00:00+14:00"},
        {"MetricDataQueries.member.one.Id": "m"},
        {"MetricDataQueries.member": "m"},
        {"MetricDataQueries": "m", "MetricDataQueries.member.1.Id": "m"},
        {"MetricDataQueries.1.Id": "m"},
        {"MetricDataQueries.member.1.ReturnData": "perhaps"},
    ],
)
def test_a_form_that_is_not_as_the_model_has_it_is_refused(form):
    with pytest.raises(ServiceError) as refused:
        forms.request_of(form, MODEL.operation_model("GetMetricData"))
    assert refused.value.code == "MalformedInput"
