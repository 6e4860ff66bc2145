"""Tags that AWS keeps for itself are refused, whatever is created with them."""

import pytest

from gluepot.service.errors import ServiceError

ACTION = {"JobName": "load"}


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("CreateJob", {"Name": "new", "Role": "any", "Command": {"Name": "glueetl", "ScriptLocation": "/job.py"}}),
        ("CreateTrigger", {"Name": "new", "Type": "ON_DEMAND", "Actions": [ACTION]}),
        ("CreateWorkflow", {"Name": "new"}),
    ],
)
def test_a_reserved_tag_is_refused_and_nothing_is_created(world, operation, request_):
    world.job("load")
    with pytest.raises(ServiceError, match="aws:team") as refused:
        world.call(operation, **request_, Tags={"aws:team": "data"})
    assert refused.value.code == "InvalidInputException"
    world.call(operation, **request_, Tags={"team": "data"})
