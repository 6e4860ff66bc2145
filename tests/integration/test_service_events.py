"""Events of a running service: a bucket's notification starts a workflow, whose end is posted to a URL."""

import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import urllib3

from gluepot.core.clock import SystemClock
from gluepot.service.server import ServeOptions, events_environment, service
from tests.service_answers import client_of

SECS = 60


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path_factory.mktemp("service"))}
    with service(ServeOptions(port=0), environ, SystemClock()) as running:
        yield running


class Hook:
    """A URL that takes what is posted to it, after it has failed once."""

    def __init__(self):
        self.taken = []
        self.failures = 1
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.failures -= 1
                if hook.failures < 0:
                    hook.taken.append(json.loads(body))
                self.send_response(500 if hook.failures >= 0 else 204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever).start()


@pytest.fixture
def hook():
    running = Hook()
    yield running
    running.server.shutdown()
    running.server.server_close()


def send(serving, body, **headers):
    url = events_environment(serving.url, serving.events_token)["GLUEPOT_EVENTS_URL"]
    return urllib3.request("POST", url, body=json.dumps(body).encode(), headers=headers)


def test_a_file_starts_a_workflow_and_its_end_is_posted(serving, hook, tmp_path):
    glue, events = client_of(serving), client_of(serving, "events")
    script = tmp_path / "load.py"
    script.write_text("")
    glue.create_job(Name="load", Role="any", Command={"Name": "glueetl", "ScriptLocation": str(script)})
    glue.create_workflow(Name="arrivals")
    glue.create_trigger(Name="file", Type="EVENT", WorkflowName="arrivals", Actions=[{"JobName": "load"}])
    rules = {
        "files": ({"source": ["aws.s3"]}, "arn:aws:glue:us-east-1:000000000000:workflow/arrivals"),
        "ends": ({"source": ["aws.glue"], "detail": {"state": ["SUCCEEDED"]}}, hook.url),
    }
    for name, (pattern, target) in rules.items():
        events.put_rule(Name=name, EventPattern=json.dumps(pattern))
        assert events.put_targets(Rule=name, Targets=[{"Id": "1", "Arn": target}])["FailedEntryCount"] == 0

    record = {"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": "in"}, "object": {"key": "a.csv"}}}
    answer = send(serving, {"Records": [record]}, Authorization=f"Bearer {serving.events_token}")
    assert (answer.status, answer.json()) == (200, {"Accepted": 1})
    until = time.monotonic() + SECS
    while not hook.taken:
        assert time.monotonic() < until
        time.sleep(0.1)
    [run] = glue.get_workflow_runs(Name="arrivals")["Runs"]
    [event] = json.loads(run["WorkflowRunProperties"]["gluepot:events"])
    assert event["detail"]["object"]["key"] == "a.csv"
    assert [(one["detail"]["jobName"], one["detail"]["state"]) for one in hook.taken] == [("load", "SUCCEEDED")]


def test_changes_of_the_catalog_are_posted(serving, hook):
    glue, events = client_of(serving), client_of(serving, "events")
    hook.failures = 0
    events.put_rule(Name="catalog", EventPattern=json.dumps({"detail-type": [{"prefix": "Glue Data Catalog"}]}))
    events.put_targets(Rule="catalog", Targets=[{"Id": "1", "Arn": hook.url}])
    table = {"Name": "clicks", "PartitionKeys": [{"Name": "day", "Type": "string"}]}
    glue.create_database(DatabaseInput={"Name": "web"})
    glue.create_table(DatabaseName="web", TableInput=table)
    days = [{"Values": [f"2026-05-{day:02}"]} for day in (1, 2)]
    glue.batch_create_partition(DatabaseName="web", TableName="clicks", PartitionInputList=days)
    until = time.monotonic() + SECS
    while len(hook.taken) < 3:
        assert time.monotonic() < until, hook.taken
        time.sleep(0.1)
    assert [one["detail"]["typeOfChange"] for one in hook.taken] == [
        *("CreateDatabase", "CreateTable", "BatchCreatePartition")
    ]
    assert hook.taken[2]["detail"]["changedPartitions"] == ["2026-05-01", "2026-05-02"]
    events.remove_targets(Rule="catalog", Ids=["1"])
    events.delete_rule(Name="catalog")


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer "}])
def test_events_without_the_token_are_refused(serving, header):
    answer = send(serving, {"source": "shop", "detail-type": "t", "detail": {}}, **header)
    assert (answer.status, answer.json()["__type"]) == (403, "AccessDeniedException")


def test_what_is_no_event_is_refused_with_its_reason(serving):
    answer = send(serving, {"source": "shop"}, Authorization=f"Bearer {serving.events_token}")
    assert (answer.status, answer.json()["__type"]) == (400, "ValidationException")
    assert "detail-type" in answer.json()["Message"]
