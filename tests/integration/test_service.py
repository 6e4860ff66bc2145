"""Unmodified boto3 against a running service: define, start, watch and stop jobs."""

import os
import signal
import time
import zipfile

import httpx
import pytest
from botocore.exceptions import ClientError

from gluepot.cli.serve import console
from gluepot.core.clock import SystemClock
from gluepot.service.server import ServeOptions, client_environment, service
from tests.service_answers import client_of, client_with, shell_of, started, url_in
from tests.wheels import wheel

SECS = 60


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def serving(state):
    environ = {**os.environ, "GLUEPOT_STATE": str(state)}
    with service(ServeOptions(port=0), environ, SystemClock()) as running:
        yield running


@pytest.fixture(scope="module")
def glue(serving):
    return client_of(serving)


@pytest.fixture
def script(tmp_path):
    """Write a script; it needs no Spark, so that a run takes a second."""

    def write(*lines):
        path = tmp_path / "job.py"
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    return write


def define(glue, name, location, **definition):
    glue.create_job(Name=name, Role="any", Command={"Name": "glueetl", "ScriptLocation": location}, **definition)


def run_of(glue, name, run_id):
    return glue.get_job_run(JobName=name, RunId=run_id)["JobRun"]


def awaited(glue, name, run_id, *states):
    until = time.monotonic() + SECS
    while (run := run_of(glue, name, run_id))["JobRunState"] not in states:
        assert time.monotonic() < until, run
        time.sleep(0.1)
    return run


def test_a_run_gets_its_arguments_and_ends_with_what_the_script_did(glue, script, tmp_path):
    location = script(
        "import sys, os",
        "from awsglue.utils import getResolvedOptions",
        "args = getResolvedOptions(sys.argv, ['JOB_NAME', 'day', 'fixed', 'out'])",
        "open(args['out'], 'w').write('|'.join([args['JOB_NAME'], args['day'], args['fixed']]))",
    )
    define(
        glue,
        "daily",
        location,
        DefaultArguments={"--day": "monday", "--out": str(tmp_path / "out")},
        NonOverridableArguments={"--fixed": "kept"},
        Tags={"team": "data"},
    )
    run_id = glue.start_job_run(JobName="daily", Arguments={"--day": "friday", "--fixed": "changed"})["JobRunId"]
    run = awaited(glue, "daily", run_id, "SUCCEEDED", "FAILED")
    assert run["JobRunState"] == "SUCCEEDED", run
    assert (tmp_path / "out").read_text() == "daily|friday|kept"
    assert run["Arguments"] == {"--day": "friday", "--fixed": "changed"}
    assert run["CompletedOn"] >= run["StartedOn"]
    assert glue.get_tags(ResourceArn="arn:aws:glue:us-east-1:000000000000:job/daily")["Tags"] == {"team": "data"}


def test_a_failure_tells_its_cause_and_is_tried_again(glue, script):
    define(glue, "failing", script("raise ValueError('no such day')"), MaxRetries=1)
    run_id = glue.start_job_run(JobName="failing")["JobRunId"]
    first = awaited(glue, "failing", run_id, "FAILED")
    assert first["ErrorMessage"] == "ValueError: no such day"
    second = awaited(glue, "failing", f"{run_id}_attempt_1", "FAILED")
    assert (second["Attempt"], second["PreviousRunId"]) == (1, run_id)
    ids = [run["Id"] for run in glue.get_job_runs(JobName="failing")["JobRuns"]]
    assert ids == [f"{run_id}_attempt_1", run_id]


def test_the_logs_of_a_run_are_read_as_clients_of_glue_read_them(glue, serving, script):
    define(
        glue, "talking", script("import sys", "for n in range(5): print('line', n)", "print('lost', file=sys.stderr)")
    )
    run_id = glue.start_job_run(JobName="talking")["JobRunId"]
    group = awaited(glue, "talking", run_id, "SUCCEEDED")["LogGroupName"]
    logs = client_of(serving, "logs")
    first = logs.get_log_events(logGroupName=f"{group}/output", logStreamName=run_id, startFromHead=True, limit=3)
    assert [one["message"] for one in first["events"]] == ["line 0", "line 1", "line 2"]
    rest = logs.get_log_events(
        logGroupName=f"{group}/output", logStreamName=run_id, nextToken=first["nextForwardToken"]
    )
    assert [one["message"] for one in rest["events"]] == ["line 3", "line 4"]
    pages = logs.get_paginator("filter_log_events").paginate(
        logGroupName=f"{group}/output",
        logStreamNames=[run_id],
        filterPattern="line -3",
        PaginationConfig={"PageSize": 2},
    )
    assert [one["message"] for page in pages for one in page["events"]] == ["line 0", "line 1", "line 2", "line 4"]
    found = logs.filter_log_events(logGroupName=f"{group}/error", logStreamNames=[run_id], filterPattern="lost")
    assert [one["logStreamName"] for one in found["events"]] == [run_id]
    streams = logs.describe_log_streams(logGroupName=f"{group}/output", logStreamNamePrefix=run_id)["logStreams"]
    assert [one["logStreamName"] for one in streams] == [run_id]
    with pytest.raises(logs.exceptions.ResourceNotFoundException):
        logs.get_log_events(logGroupName=f"{group}/output", logStreamName="jr_unknown")


def test_a_python_shell_job_runs_without_spark_in_an_environment_with_its_modules(glue, script, tmp_path):
    path = wheel(tmp_path, "greeting", code="word = 'hello'\n")
    (tmp_path / "first.py").write_text("name = 'first'\n")
    for name in ("second.zip", "third.egg"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(f"{name[:-4]}.py", f"name = {name!r}\n")
    files = [tmp_path / "first.py", tmp_path / "second.zip", tmp_path / "third.egg", wheel(tmp_path, "fourth")]
    location = script(
        "import sys, boto3, greeting, first, second, third, fourth",
        "from awsglue.utils import getResolvedOptions",
        "args = getResolvedOptions(sys.argv, ['name'])",
        "job = boto3.client('glue').get_job(JobName='shell')['Job']['Name']",
        "print(greeting.word, args['name'], job, 'pyspark' in sys.modules)",
        "sys.exit(3 if args['name'] == 'nobody' else 0)",
    )
    glue.create_job(
        Name="shell",
        Role="any",
        Command={"Name": "pythonshell", "ScriptLocation": location, "PythonVersion": "3.9"},
        DefaultArguments={
            "--additional-python-modules": str(path),
            "--python-modules-installer-option": "--no-index",
            "--extra-py-files": ",".join(map(str, files)),
        },
        ExecutionProperty={"MaxConcurrentRuns": 2},
    )
    first, second = (
        glue.start_job_run(JobName="shell", Arguments={"--name": name})["JobRunId"] for name in ("world", "nobody")
    )
    run = awaited(glue, "shell", first, "SUCCEEDED", "FAILED")
    assert (run["JobRunState"], run["LogGroupName"]) == ("SUCCEEDED", "/aws-glue/python-jobs"), run
    failed = awaited(glue, "shell", second, "SUCCEEDED", "FAILED")
    assert failed["ErrorMessage"] == "Command failed with exit code 3"
    arguments = {"--name": "any", "--extra-py-files": str(tmp_path / "gone.zip")}
    run = awaited(glue, "shell", glue.start_job_run(JobName="shell", Arguments=arguments)["JobRunId"], "FAILED")
    assert f"There is no file gone.zip in {tmp_path}" in run["ErrorMessage"]


def test_a_script_that_is_not_there_is_told(glue):
    define(glue, "missing", "/nowhere/job.py")
    run_id = glue.start_job_run(JobName="missing")["JobRunId"]
    run = awaited(glue, "missing", run_id, "FAILED")
    assert run["ErrorMessage"] == "There is no script /nowhere/job.py; correct ScriptLocation."


def test_a_run_is_stopped_and_others_wait_or_are_refused(glue, script):
    location = script("import time", "time.sleep(60)")
    define(glue, "long", location)
    first = glue.start_job_run(JobName="long")["JobRunId"]
    with pytest.raises(glue.exceptions.ConcurrentRunsExceededException):
        glue.start_job_run(JobName="long")
    queued = glue.start_job_run(JobName="long", JobRunQueuingEnabled=True)["JobRunId"]
    assert run_of(glue, "long", queued)["JobRunState"] == "WAITING"
    awaited(glue, "long", first, "RUNNING")
    answer = glue.batch_stop_job_run(JobName="long", JobRunIds=[first, "jr_unknown"])
    assert [one["JobRunId"] for one in answer["SuccessfulSubmissions"]] == [first]
    assert [one["ErrorDetail"]["ErrorCode"] for one in answer["Errors"]] == ["EntityNotFoundException"]
    awaited(glue, "long", first, "STOPPED")
    awaited(glue, "long", queued, "RUNNING")
    glue.batch_stop_job_run(JobName="long", JobRunIds=[queued])
    awaited(glue, "long", queued, "STOPPED")
    again = glue.batch_stop_job_run(JobName="long", JobRunIds=[queued])
    assert again["Errors"][0]["ErrorDetail"]["ErrorCode"] == "JobRunInTerminalStateException"


def test_definitions_are_pages_and_are_replaced_as_a_whole(glue):
    for number in range(5):
        define(glue, f"page-{number}", "/job.py", Description="before", GlueVersion="4.0")
    pages = glue.get_paginator("get_jobs").paginate(PaginationConfig={"PageSize": 2})
    names = [job["Name"] for page in pages for job in page["Jobs"]]
    assert names == sorted(names)
    assert {f"page-{number}" for number in range(5)} <= set(names)
    glue.update_job(
        JobName="page-1", JobUpdate={"Role": "other", "Command": {"Name": "glueetl", "ScriptLocation": "/new.py"}}
    )
    job = glue.get_job(JobName="page-1")["Job"]
    assert (job["Role"], job["Command"]["ScriptLocation"], job["GlueVersion"]) == ("other", "/new.py", "4.0")
    assert "Description" not in job
    glue.delete_job(JobName="page-1")
    glue.delete_job(JobName="page-1")
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.get_job(JobName="page-1")
    assert glue.batch_get_jobs(JobNames=["page-1", "page-2"])["JobsNotFound"] == ["page-1"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "InvalidSignatureException"),
        ({"AWS_ACCESS_KEY_ID": "AKIDUNKNOWN"}, "UnrecognizedClientException"),
    ],
)
def test_other_keys_are_refused(serving, changes, code):
    keys = client_environment(serving.url, serving.region, serving.key)
    with pytest.raises(ClientError) as refused:
        client_with({**keys, **changes}).get_jobs()
    assert refused.value.response["Error"]["Code"] == code


def test_what_is_not_there_yet_says_so(glue):
    with pytest.raises(ClientError) as refused:
        glue.list_blueprints()
    assert refused.value.response["Error"]["Code"] == "UnknownOperationException"
    assert "ListBlueprints" in refused.value.response["Error"]["Message"]


def test_a_link_that_the_command_line_prints_opens_the_console(glue, serving, state, script, monkeypatch, capsys):
    define(glue, "shown", script(""), Description="Defined by boto3.")
    monkeypatch.setenv("GLUEPOT_STATE", str(state))
    console()
    link = capsys.readouterr().out.strip()
    with httpx.Client(follow_redirects=True) as browser:
        assert "Failed lately" in browser.get(link).text
        assert "Defined by boto3." in browser.get(f"{serving.url}/console/job", params={"name": "shown"}).text
    assert httpx.get(link).status_code == 401


def test_a_service_that_was_killed_finds_its_runs_again(tmp_path, script):
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path / "state")}
    location = script(
        "import os, time",
        f"open({str(tmp_path / 'starts')!r}, 'a').write('x')",
        f"while not os.path.exists({str(tmp_path / 'go')!r}): time.sleep(0.05)",
    )
    first, said = started(environ)
    keys = shell_of(environ)
    assert keys["AWS_ENDPOINT_URL_GLUE"] == url_in(said)

    glue = client_with(keys)
    define(glue, "survivor", location)
    run_id = glue.start_job_run(JobName="survivor")["JobRunId"]
    awaited(glue, "survivor", run_id, "RUNNING")
    first.send_signal(signal.SIGKILL)
    first.wait()
    second, said = started(environ)
    try:
        glue = client_with({**keys, "AWS_ENDPOINT_URL_GLUE": url_in(said)})
        assert run_of(glue, "survivor", run_id)["JobRunState"] == "RUNNING"
        (tmp_path / "go").touch()
        assert awaited(glue, "survivor", run_id, "SUCCEEDED", "FAILED")["JobRunState"] == "SUCCEEDED"
        assert (tmp_path / "starts").read_text() == "x"
    finally:
        second.terminate()
        assert second.wait(SECS) == 0


def test_groups_of_clients_and_continuous_logging_with_paginators(glue, serving, script):
    logs = client_of(serving, "logs")
    logs.create_log_group(logGroupName="/app", tags={"team": "data"})
    logs.create_log_stream(logGroupName="/app", logStreamName="one")
    now_ms = round(time.time() * 1000)
    for begin in range(0, 300, 100):
        events = [{"timestamp": now_ms + n, "message": f"event {n}"} for n in range(begin, begin + 100)]
        logs.put_log_events(logGroupName="/app", logStreamName="one", logEvents=events)
    pages = logs.get_paginator("filter_log_events").paginate(
        logGroupName="/app", startTime=now_ms + 50, endTime=now_ms + 250, PaginationConfig={"PageSize": 30}
    )
    assert [one["message"] for page in pages for one in page["events"]] == [f"event {n}" for n in range(50, 250)]

    glue.create_job(
        Name="continuous",
        Role="any",
        Command={"Name": "glueetl", "ScriptLocation": script("import sys", "print('to the errors', file=sys.stderr)")},
        DefaultArguments={"--enable-continuous-cloudwatch-log": "true"},
    )
    run_id = glue.start_job_run(JobName="continuous")["JobRunId"]
    awaited(glue, "continuous", run_id, "SUCCEEDED")
    group = "/aws-glue/jobs/logs-v2"
    groups = logs.get_paginator("describe_log_groups").paginate(PaginationConfig={"PageSize": 3})
    assert {"/app", group} < {one["logGroupName"] for page in groups for one in page["logGroups"]}
    streams = logs.describe_log_streams(logGroupName=group)["logStreams"]
    assert [one["logStreamName"] for one in streams] == [f"{run_id}-driver"]
    found = logs.filter_log_events(logGroupName=group, filterPattern='"to the errors"')["events"]
    assert [one["message"] for one in found] == ["to the errors"]
    logs.delete_log_group(logGroupName="/app")
    with pytest.raises(logs.exceptions.ResourceNotFoundException):
        logs.filter_log_events(logGroupName="/app")
