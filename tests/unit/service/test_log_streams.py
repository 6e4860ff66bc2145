"""The log streams of a group: those of Python shell jobs and of others have groups of their own."""

import pytest


@pytest.mark.parametrize(
    ("group", "job"),
    [("/aws-glue/jobs/output", "spark"), ("/aws-glue/python-jobs/output", "shell")],
)
def test_a_group_has_the_streams_of_its_kind_of_job(world, group, job):
    world.job("spark")
    command = {"Name": "pythonshell", "ScriptLocation": str(world.script)}
    world.call("CreateJob", Name="shell", Role="any", Command=command)
    ids = {name: world.call("StartJobRun", JobName=name)["JobRunId"] for name in ("spark", "shell")}
    for run_id in ids.values():
        folder = world.service.run_folder(run_id)
        folder.mkdir()
        (folder / "output.log").write_text("text\n")
    streams = world.call("DescribeLogStreams", of="Logs_20140328", logGroupName=group)["logStreams"]
    assert [one["logStreamName"] for one in streams] == [ids[job]]
    events = world.call("FilterLogEvents", of="Logs_20140328", logGroupName=group)["events"]
    assert [one["logStreamName"] for one in events] == [ids[job]]
