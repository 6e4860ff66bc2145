"""Definitions of jobs through the API."""

import pytest

from gluepot.service.errors import ServiceError


def test_an_update_without_a_command_is_told_that_it_would_replace_everything(world):
    world.call("CreateJob", Name="daily", Role="any", Command={"Name": "glueetl", "ScriptLocation": "s3://b/job.py"})
    with pytest.raises(ServiceError, match="UpdateJob replaces the whole definition") as refused:
        world.call("UpdateJob", JobName="daily", JobUpdate={"DefaultArguments": {"--day": "monday"}})
    assert refused.value.code == "InvalidInputException"
    assert "DefaultArguments" not in world.call("GetJob", JobName="daily")["Job"]


def test_the_refusal_names_what_the_update_would_have_reset(world):
    world.job("daily", MaxRetries=3, Description="loads", Timeout=480, DefaultArguments={"--day": "monday"})
    with pytest.raises(ServiceError) as refused:
        world.call("UpdateJob", JobName="daily", JobUpdate={"DefaultArguments": {"--day": "friday"}})
    assert "no Command and no Role" in refused.value.message
    assert "would have reset Description, MaxRetries." in refused.value.message
    command = {"Name": "glueetl", "ScriptLocation": "s3://b/job.py"}
    with pytest.raises(ServiceError, match=r"has no Role\. .* reset DefaultArguments, Description, MaxRetries\."):
        world.call("UpdateJob", JobName="daily", JobUpdate={"Command": command})


@pytest.mark.parametrize(("operation", "member"), [("BatchGetJobs", "JobNames"), ("BatchGetTriggers", "TriggerNames")])
def test_names_of_a_batch_count_once_and_are_limited(world, operation, member):
    assert world.call(operation, **{member: ["a"] * 5_000})[member.removesuffix("Names") + "sNotFound"] == ["a"]
    with pytest.raises(ServiceError, match=f"{member} has 1001 names; give at most 1000 in a call"):
        world.call(operation, **{member: [str(number) for number in range(1001)]})
