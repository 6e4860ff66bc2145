"""Requests that break the model of the API in one place, and those that do not."""

import pytest

from gluepot.service.errors import ServiceError
from gluepot.service.operations import OPERATIONS
from gluepot.service.wire.shapes import check_request, model_of, operation, violations

JOB = {"Name": "j", "Role": "r", "Command": {"Name": "glueetl"}}


def refused(name, body):
    with pytest.raises(ServiceError) as error:
        check_request(name, body)
    assert error.value.code == "ValidationException"
    return error.value.message


def test_a_whole_request_is_let_pass():
    check_request("CreateJob", {**JOB, "DefaultArguments": {"--a": "ü🙂"}, "WorkerType": "R.8X", "Unknown": [1]})


@pytest.mark.parametrize(
    ("changes", "value_and_place", "rule"),
    [
        ({"Name": None}, "null at 'name'", "not be null"),
        ({"Name": ""}, "'' at 'name'", "have length greater than or equal to 1"),
        ({"JobMode": "OTHER"}, "'OTHER' at 'jobMode'", "satisfy enum value set: [SCRIPT, VISUAL, NOTEBOOK]"),
        ({"Timeout": 0}, "'0' at 'timeout'", "have value greater than or equal to 1"),
        ({"MaxRetries": "2"}, "'2' at 'maxRetries'", "be of type integer"),
        ({"MaxRetries": 2**31}, f"'{2**31}' at 'maxRetries'", "be of type integer"),
        ({"MaxCapacity": 10**309}, f"'{10**199}' at 'maxCapacity'", "be of type double"),
        ({"MaxCapacity": float("nan")}, "'nan' at 'maxCapacity'", "be of type double"),
        ({"Tags": {"": "x"}}, "'' at 'tags..key'", "have length greater than or equal to 1"),
    ],
)
def test_one_broken_member_is_told_in_the_words_of_aws(changes, value_and_place, rule):
    sentence = f"Value {value_and_place} failed to satisfy constraint: Member must {rule}"
    assert refused("CreateJob", {**JOB, **changes}) == f"1 validation error detected: {sentence}"


def test_a_number_beyond_its_type_is_refused():
    spans = {"CreatedBefore": 10**400, "CreatedAfter": 253_402_300_800, "LastModifiedBefore": 0, "LastModifiedAfter": 1}
    message = refused("ListDataQualityRulesets", {"Filter": spans})
    assert message.startswith("2 validation errors detected: ")
    assert message.count("Member must be of type timestamp") == 2


def test_all_that_is_broken_is_told_at_once():
    message = refused("CreateJob", {"Name": "n" * 256, "MaxRetries": True})
    assert message.startswith("4 validation errors detected: ")
    assert "length less than or equal to 255" in message


def test_patterns_hold_for_the_whole_text_and_know_characters_of_every_plane():
    shape = operation("CreateJob").input_shape.members["Name"]
    assert not list(violations(shape, "täglich 🙂\t"))
    assert list(violations(shape, "two\nlines"))


def test_each_operation_that_we_have_is_in_the_model():
    assert set(OPERATIONS) <= set(model_of("glue").operation_names)


def test_a_time_that_no_date_has_is_refused():
    assert "'1e+308' at 'filter.createdAfter'" in refused(
        "ListDataQualityRulesets", {"Filter": {"CreatedAfter": 1e308}}
    )


def test_of_very_many_broken_members_some_are_told():
    message = refused("BatchGetJobs", {"JobNames": [1] * 10_000})
    assert message.startswith("More than 100 validation errors detected: Value '1' at 'jobNames.1.member'")
    assert len(message) < 20_000


def test_a_long_key_is_not_repeated_for_what_is_below_it():
    nodes = {"k" * 100_000: {"ApplyMapping": {"Name": "a", "Inputs": ["b"], "Mapping": [1] * 50}}}
    assert len(refused("CreateJob", {**JOB, "CodeGenConfigurationNodes": nodes})) < 50_000


@pytest.mark.parametrize("value", [" " * 100 + "\0", "\t" * 500, "\t" * 100 + "é"])
def test_values_of_headers_are_checked_in_linear_time(value):
    shape = model_of("events").shape_for("HeaderValue")
    assert list(violations(shape, value))
    assert not list(violations(shape, value.replace("\0", "a").replace("é", "e") + "a"))
