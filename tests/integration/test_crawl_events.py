"""Crawls by events: a server that speaks S3, SQS and SNS, whose bucket notifies a queue of each change."""

from __future__ import annotations

import functools
import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import boto3
import pytest

from gluepot.cli.crawl import crawl_
from gluepot.core.clock import FakeClock, SystemClock
from gluepot.core.errors import ConfigError
from gluepot.crawl import queues, run
from gluepot.crawl.__main__ import main
from gluepot.crawl.queues import open_queue
from gluepot.crawl.run import crawl
from gluepot.crawl.settings import crawl_settings
from gluepot.service.server import ServeOptions, service
from tests.integration.test_crawl_s3 import parquet_bytes, put, requests  # noqa: F401  a fixture
from tests.integration.test_service_crawlers import until_ready
from tests.service_answers import client_of
from tests.unit.crawl.crawling import a_catalog, columns, outcomes

DELETE = {"SchemaChangePolicy": {"DeleteBehavior": "DELETE_FROM_DATABASE"}}
POINTS = ("crawl.sent_away", "crawl.received", "crawl.partitions", "crawl.written")
OTHER_POINTS = (
    *("crawl.begun", "crawl.reading", "crawl.listed", "crawl.grouped", "crawl.classified", "crawl.planned"),
    "crawl.writing",
)


class Killed(BaseException):
    """The crawl is killed at this point."""


@dataclass
class Queue:
    """A queue of one test."""

    client: Any
    url: str
    arn: str

    def bodies(self) -> list[str]:
        """The messages that wait."""
        found: dict[str, str] = {}
        while True:
            some = self.client.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10).get("Messages", [])
            if all(one["MessageId"] in found for one in some):
                return list(found.values())
            found |= {one["MessageId"]: one["Body"] for one in some}

    def send(self, *bodies: str) -> None:
        for body in bodies:
            self.client.send_message(QueueUrl=self.url, MessageBody=body)


@pytest.fixture
def sqs(client, endpoint):
    sqs = boto3.client("sqs", endpoint_url=endpoint, region_name="us-east-1")
    yield sqs
    sqs.close()


@pytest.fixture
def new_queue(sqs):
    # With this timeout a message is there again at once, as after a crash or a crawl that took long.
    def new() -> Queue:
        url = sqs.create_queue(QueueName=f"q-{uuid4().hex[:8]}", Attributes={"VisibilityTimeout": "0"})["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        return Queue(sqs, url, arn)

    return new


@pytest.fixture
def queue(new_queue):
    return new_queue()


@pytest.fixture
def catalog(tmp_path):
    return a_catalog(tmp_path)


def notify(client, **more):
    client.put_bucket_notification_configuration(Bucket="lake", NotificationConfiguration=more)


@pytest.fixture
def notified(client, queue):
    """The queue gets the events of the bucket, the test event first."""
    events = ["s3:ObjectCreated:*", "s3:ObjectRemoved:*"]
    notify(client, QueueConfigurations=[{"QueueArn": queue.arn, "Events": events}])
    return queue


def by_events(queue, path="s3://lake/clicks/", dead_letters="", **members):
    target = {"Path": path, "EventQueueArn": queue.arn, **({"DlqEventQueueArn": dead_letters} if dead_letters else {})}
    return {
        "Name": "nightly",
        "DatabaseName": "web",
        "Targets": {"S3Targets": [target]},
        "RecrawlPolicy": {"RecrawlBehavior": "CRAWL_EVENT_MODE"},
        **members,
    }


def crawled(catalog, given, **more):
    return crawl(
        crawl_settings(given),
        catalog,
        random.Random(7),
        "run-1",
        open_queue=functools.partial(open_queue, wait_secs=0),
        **more,
    )


def day(client, number, table="clicks", file="x", **more):
    put(client, f"{table}/day={number}/{file}.parquet", parquet_bytes(id=1, a=1, b="x", **more))


def remove(client, *keys):
    for key in keys:
        client.delete_object(Bucket="lake", Key=key)


def days(catalog, name="clicks"):
    return [one.values[0] for one in catalog.partitions(catalog.table("web", name))]


def listed(requests):  # noqa: F811
    return [one for one in requests if "list-type" in one]


def test_the_first_crawl_looks_at_everything_and_later_ones_at_what_events_name(
    client,
    catalog,
    queue,
    requests,  # noqa: F811
):
    day(client, 1)
    assert outcomes(crawled(catalog, by_events(queue))) == {"clicks": "created"}

    day(client, "lost")  # before the queue gets events
    notify(client, QueueConfigurations=[{"QueueArn": queue.arn, "Events": ["s3:ObjectCreated:*"]}])
    day(client, "a b+ü")
    put(client, "clicks/_temporary/0/x.parquet", b"x")
    put(client, "orders/x.csv", b"id,n\n1,2\n")
    assert len(queue.bodies()) >= 3
    requests.clear()
    report = crawled(catalog, by_events(queue))

    assert days(catalog) == ["1", "a b+ü"]
    assert [one.name for one in catalog.tables("web")] == ["clicks"]
    assert len(listed(requests)) == 1
    assert not any("lost" in one or "day%3D1" in one or "day=1" in one for one in requests)
    assert catalog.table("web", "clicks").parameters["objectCount"] == "2"
    assert "only folders that events name are listed: 1 folder" in report.steps[0].line()
    assert queue.bodies() == []

    requests.clear()
    assert crawled(catalog, by_events(queue)).tables == []
    assert listed(requests) == []


def test_new_columns_and_wider_types_come_and_what_other_files_have_stays(client, catalog, notified):
    put(client, "clicks/day=1/x.json", b'{"id": 1, "a": 1, "b": "x", "old": true}\n')
    crawled(catalog, by_events(notified))
    put(client, "clicks/day=2/x.json", b'{"id": 1.5, "a": 1, "b": "x", "old": true, "new": {"c": 1}}\n')
    put(client, "clicks/day=3/x.json", b'{"id": 1, "a": 1, "b": "x"}\n')
    report = crawled(catalog, by_events(notified))
    table = catalog.table("web", "clicks")
    assert columns(table) == "id double, a int, b string, old boolean, new struct<c:int>"
    assert table.body["StorageDescriptor"]["SerdeInfo"]["Parameters"]["paths"] == "a,b,id,new,old"
    assert table.parameters["objectCount"] == "3"
    assert table.parameters["recordCount"] == "3"
    assert report.tables[0].outcome == "updated"

    day(client, 4, other=1, another=1, more=1)
    put(client, "clicks/day=1/stray/x.json", b'{"id": 1}\n')
    report = crawled(catalog, by_events(notified))
    assert days(catalog) == ["1", "2", "3"]
    assert {one.outcome for one in report.steps[1:]} == {"left out"}

    log = {"SchemaChangePolicy": {"UpdateBehavior": "LOG", "DeleteBehavior": "LOG"}}
    put(client, "clicks/day=5/x.json", b'{"id": 1, "a": 1, "b": "x", "old": true, "new": {"c": 1}, "last": 1}\n')
    report = crawled(catalog, by_events(notified, **log))
    assert report.tables[0].why.startswith("UpdateBehavior is LOG: new column last int; ")
    assert days(catalog) == ["1", "2", "3", "5"]
    assert catalog.table("web", "clicks").body == table.body


def test_a_partition_and_then_a_table_without_files_follow_the_policy(client, catalog, notified):
    for number in (1, 2, 3):
        day(client, number)
    put(client, "plain/x.csv", b"id,n\n1,2\n3,4\n")
    given = by_events(notified, "s3://lake/")
    assert set(outcomes(crawled(catalog, given))) == {"clicks", "plain"}

    remove(client, "clicks/day=1/x.parquet")
    crawled(catalog, given)
    first = catalog.partitions(catalog.table("web", "clicks"))[0]
    assert first.parameters["DEPRECATED_BY_CRAWLER"] == "nightly"
    assert catalog.table("web", "clicks").parameters["objectCount"] == "2"

    remove(client, "clicks/day=2/x.parquet", "plain/x.csv")
    report = crawled(catalog, {**given, **DELETE})
    assert days(catalog) == ["1", "3"]
    assert outcomes(report) == {"clicks": "unchanged", "plain": "deleted"}

    notify(client)
    remove(client, "clicks/day=3/x.parquet")
    crawled(catalog, {**given, **DELETE})
    assert days(catalog) == ["1", "3"], "no event named it"
    notified.send(json.dumps({"Records": [record("clicks/day=3/x.parquet", "ObjectRemoved:Delete")]}))
    assert outcomes(crawled(catalog, {**given, **DELETE})) == {"clicks": "deleted"}
    assert catalog.tables("web") == []


def test_an_event_about_a_folder_says_nothing_about_the_folders_in_it(client, catalog, notified):
    day(client, 1)
    put(client, "plain/x.csv", b"id,n\n1,2\n3,4\n")
    given = {**by_events(notified, "s3://lake/"), **DELETE}
    crawled(catalog, given)
    for key in ("top.csv", "clicks/top.csv"):
        put(client, key, b"id,n\n1,2\n3,4\n")
        remove(client, key)
    assert crawled(catalog, given).tables == []
    assert [one.name for one in catalog.tables("web")] == ["clicks", "plain"]
    assert days(catalog) == ["1"]


def test_partitions_of_a_table_without_files_are_deprecated_too_and_come_back_one_by_one(client, catalog, notified):
    day(client, 1)
    day(client, 2)
    put(client, "clicks/day=1/", b"")  # the marker of a folder
    crawled(catalog, by_events(notified))
    remove(client, "clicks/day=1/x.parquet", "clicks/day=1/", "clicks/day=2/x.parquet")
    assert outcomes(crawled(catalog, by_events(notified))) == {"clicks": "deprecated"}

    def deprecated():
        table = catalog.table("web", "clicks")
        return ["DEPRECATED_BY_CRAWLER" in one.parameters for one in (table, *catalog.partitions(table))]

    assert deprecated() == [True, True, True]
    assert catalog.table("web", "clicks").parameters["objectCount"] == "0"
    day(client, 2)
    crawled(catalog, by_events(notified))
    assert deprecated() == [False, True, False]
    assert catalog.table("web", "clicks").parameters["objectCount"] == "1"


def test_keys_that_are_not_paths_are_told_and_the_others_are_followed(client, catalog, notified):
    day(client, 1)
    crawled(catalog, by_events(notified))
    day(client, 2)
    day(client, 3)
    put(client, "clicks/day=2//x.parquet", parquet_bytes(id=1))
    report = crawled(catalog, by_events(notified))
    assert days(catalog) == ["1", "3"]
    assert [(one.place, one.why) for one in report.left_out] == [
        ("s3://lake/clicks/day=2//x.parquet", "the key is not a path, so it cannot be listed"),
        (
            "s3://lake/clicks/day=2",
            "s3://lake/clicks has a key that is not a path, 'clicks/day=2//'; rename the object",
        ),
    ]
    assert notified.bodies() == []


def record(key, name="ObjectCreated:Put"):
    return {"eventName": name, "s3": {"bucket": {"name": "lake"}, "object": {"key": key}}}


def test_folders_that_fit_no_table_are_new_tables_and_files_beside_folders_stay_what_they_are(
    client, catalog, notified
):
    day(client, 1)
    put(client, "mixed/a.csv", b"id,n\n1,2\n3,4\n")
    put(client, "mixed/deep/x.json", b'{"q": 1}\n')
    put(client, "flat/x.csv", b"id,n\n1,2\n3,4\n")
    given = by_events(notified, "s3://lake/")
    assert set(outcomes(crawled(catalog, given))) == {"clicks", "a_csv", "mixed", "flat"}

    put(client, "returns/year=2026/month=1/x.json", b'{"id": 1}\n')
    put(client, "mixed/a.csv", b"id,n,more\n1,2,3\n3,4,5\n")
    put(client, "flat/x.csv", b"other,n\n1,2\n3,4\n")
    report = crawled(catalog, given)
    assert outcomes(report) == {"a_csv": "updated", "flat": "updated", "returns": "created"}
    returns = catalog.table("web", "returns")
    assert [key.name for key in returns.partition_keys] == ["year", "month"]
    assert columns(catalog.table("web", "a_csv")) == "id bigint, n bigint, more bigint"
    # All files of this table were read, so columns that are gone go.
    assert columns(catalog.table("web", "flat")) == "other bigint, n bigint"

    remove(client, "mixed/a.csv")
    assert outcomes(crawled(catalog, {**given, **DELETE})) == {"a_csv": "deleted"}


def test_lake_tables_are_followed_by_their_metadata(client, catalog, notified):
    def commit(number, *names):
        fields = [{"name": name, "type": "long", "nullable": True, "metadata": {}} for name in names]
        schema = json.dumps({"type": "struct", "fields": fields})
        line = json.dumps({"metaData": {"schemaString": schema}})
        put(client, f"d/_delta_log/{number:020}.json", line.encode())

    day(client, 1)
    put(client, "plain/x.csv", b"id,n\n1,2\n3,4\n")
    given = by_events(notified, "s3://lake/")
    crawled(catalog, given)
    day(client, 1, "d")  # its event comes without those of the log
    notify(client)
    commit(0, "id")
    assert outcomes(crawled(catalog, given)) == {"d": "created"}
    assert catalog.table("web", "d").parameters["classification"] == "delta"
    notified.send(json.dumps({"Records": [record("d/_delta_log/1.json")]}))
    commit(1, "id", "n")
    assert outcomes(crawled(catalog, given)) == {"d": "updated"}
    assert columns(catalog.table("web", "d")) == "id bigint, n bigint"
    remove(client, *(one["Key"] for one in client.list_objects_v2(Bucket="lake", Prefix="d/")["Contents"]))
    notified.send(json.dumps({"Records": [record("d/_delta_log/1.json", "ObjectRemoved:Delete")]}))
    assert outcomes(crawled(catalog, {**given, **DELETE})) == {"d": "deleted"}


def test_messages_that_are_not_understood_go_to_the_queue_of_dead_letters(client, catalog, notified, new_queue):
    day(client, 1)
    crawled(catalog, by_events(notified))
    other = new_queue()
    notified.send("hello", "{}")
    day(client, 2)
    report = crawled(catalog, by_events(notified, dead_letters=other.arn))
    assert days(catalog) == ["1", "2"]
    assert sorted(other.bodies()) == ["hello", "{}"]
    assert notified.bodies() == []
    assert report.misunderstood_messages == 2
    assert all(one.why.endswith(f"; it was sent to {other.arn}") for one in report.misunderstood)

    notified.send("hello")
    given = by_events(notified, dead_letters=f"{other.arn}-none")
    with pytest.raises(ConfigError, match=f"There is no queue {other.arn}-none"):
        crawled(catalog, given)
    assert notified.bodies() == ["hello"]


def test_a_message_that_is_understood_in_part_stays_until_this_part_is_in_the_catalog(
    client, catalog, queue, new_queue
):
    day(client, 1)
    other = new_queue()
    given = by_events(queue, dead_letters=other.arn)
    crawled(catalog, given)
    day(client, 2)
    body = json.dumps({"Records": [{}, record("clicks/day=2/x.parquet")]})
    queue.send(body)
    failing = by_events(queue, dead_letters=other.arn)
    failing["Targets"]["S3Targets"].append({**failing["Targets"]["S3Targets"][0], "Path": "s3://nowhere/x/"})
    crawled(catalog, failing)
    assert queue.bodies() == [body]
    crawled(catalog, given)
    assert days(catalog) == ["1", "2"]
    assert queue.bodies() == []
    assert set(other.bodies()) == {body}


def test_without_a_queue_of_dead_letters_they_are_deleted_and_the_log_says_so(
    client, catalog, notified, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    day(client, 1)
    notified.send("hello")
    (tmp_path / "request.json").write_text(json.dumps({"id": "c1", "crawler": by_events(notified), "classifiers": []}))
    assert main(["request.json"], {"GLUEPOT_CATALOG": f"sqlite:///{tmp_path}/catalog.db"}, FakeClock(0.0)) == 0
    assert days(catalog) == ["1"]
    assert notified.bodies() == []
    [line] = [line for line in capsys.readouterr().out.splitlines() if "WARN" in line]
    assert line.startswith("[c1] WARN : Not understood: message ")
    assert line.endswith("it is not JSON (Expecting value: line 1 column 1 (char 0)); it was deleted")


def test_events_may_come_through_a_topic(client, catalog, queue, endpoint):
    day(client, 1)
    crawled(catalog, by_events(queue))
    sns = boto3.client("sns", endpoint_url=endpoint, region_name="us-east-1")
    topic = sns.create_topic(Name="lake-events")["TopicArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=queue.arn)
    notify(client, TopicConfigurations=[{"TopicArn": topic, "Events": ["s3:ObjectCreated:*"]}])
    day(client, 2)
    assert all(json.loads(body)["Type"] == "Notification" for body in queue.bodies())
    crawled(catalog, by_events(queue))
    assert days(catalog) == ["1", "2"]
    assert queue.bodies() == []
    sns.close()


def test_many_messages_are_taken_in_rounds_of_one_transaction_each(client, catalog, queue):
    day(client, 1)
    crawled(catalog, by_events(queue))
    for number in range(2, 32):
        day(client, number)
        queue.send(json.dumps({"Records": [record(f"clicks/day={number}/x.parquet")]}))
    report = crawled(catalog, by_events(queue), most_messages=10)
    assert [len(one.added) for one in report.tables] == [10, 10, 10]
    assert len(days(catalog)) == 31
    assert queue.bodies() == []


def test_two_targets_may_share_a_queue_and_if_one_fails_its_messages_stay(client, catalog, notified):
    day(client, 1)
    day(client, 1, "orders")
    given = by_events(notified)
    other = {**given["Targets"]["S3Targets"][0], "Path": "s3://lake/orders/"}
    given["Targets"]["S3Targets"].append(other)
    assert set(outcomes(crawled(catalog, given))) == {"clicks", "orders"}
    day(client, 2)
    day(client, 2, "orders")
    given["Targets"]["S3Targets"].append({**other, "Path": "s3://nowhere/x/"})
    report = crawled(catalog, given)
    assert [one.place for one in report.failed_targets] == ["s3://nowhere/x/"]
    assert (days(catalog), days(catalog, "orders")) == (["1", "2"], ["1", "2"])
    assert len(notified.bodies()) == 2
    del given["Targets"]["S3Targets"][-1]
    assert set(outcomes(crawled(catalog, given)).values()) == {"unchanged"}
    assert notified.bodies() == []


def test_a_dry_run_writes_nothing_and_leaves_all_messages(client, catalog, notified):
    day(client, 1)
    crawled(catalog, by_events(notified))
    day(client, 2)
    notified.send("hello")
    report = crawled(catalog, by_events(notified), dry_run=True)
    assert len(report.tables[0].added) == 1
    assert days(catalog) == ["1"]
    assert len(notified.bodies()) == 2


FILES = {
    **{f"a/day={day}/{name}": b'{"id": 1, "x": 2}\n' for day in range(3) for name in "xy"},
    **{f"b/y={year}/m=1/{name}": b"p,q\n1,2\n3,4\n" for year in range(3) for name in "xy"},
    **{f"c/{part}/{name}": b'{"k": "z", "l": "m", "n": 1}\n' for part in range(3) for name in "xy"},
    **{f"flat{number}/{name}": b'{"f": 1, "g": 2}\n' for number in range(2) for name in "xy"},
}


def content(catalog):
    """Everything that files say of tables and partitions."""

    def of(one):
        counts = [one.parameters[name] for name in ("objectCount", "sizeKey", "recordCount")]
        columns = [(column["Name"], column["Type"]) for column in one.body["StorageDescriptor"]["Columns"]]
        return one.body["StorageDescriptor"]["Location"], counts, columns

    return {
        table.name: (of(table), [(one.values, of(one)) for one in catalog.partitions(table)])
        for table in catalog.tables("web")
    }


@pytest.mark.parametrize("seed", [0, *(pytest.param(one, marks=pytest.mark.long) for one in range(1, 20))])
def test_whatever_changes_the_events_lead_to_what_a_crawl_of_everything_finds(client, notified, tmp_path, seed):
    chance = random.Random(seed)
    given = by_events(notified, "s3://lake/", **DELETE)
    everything = {**given, "RecrawlPolicy": {"RecrawlBehavior": "CRAWL_EVERYTHING"}}
    by_event = a_catalog(tmp_path)
    for key in (there := {key for key in FILES if chance.random() < 0.7}):
        put(client, key, FILES[key])
    crawled(by_event, given)
    for step in range(3):
        for key in chance.sample(list(FILES), chance.choice([1, 3, 8, 20])):
            if key in there:
                remove(client, key)
            else:
                put(client, key, FILES[key])
            there ^= {key}
        report = crawled(by_event, given)
        assert report.failed_targets == []
        (tmp_path / str(step)).mkdir()
        other = a_catalog(tmp_path / str(step))
        crawled(other, everything)
        assert content(by_event) == content(other)
        other.close()


def test_a_queue_that_is_not_there_is_told(client, catalog, queue):
    day(client, 1)
    queue.arn += "-none"
    with pytest.raises(ConfigError, match=f"There is no queue {queue.arn}; create it"):
        crawled(catalog, by_events(queue))


@pytest.mark.parametrize("point", [*POINTS, *(pytest.param(one, marks=pytest.mark.long) for one in OTHER_POINTS)])
def test_a_crawl_that_is_killed_is_done_again_and_changes_each_thing_once(client, catalog, notified, new_queue, point):
    day(client, 1)
    day(client, "gone")
    crawled(catalog, by_events(notified))
    day(client, 2, c=1.5)
    remove(client, "clicks/day=gone/x.parquet")
    other = new_queue()
    notified.send("hello")
    given = by_events(notified, dead_letters=other.arn, **DELETE)

    def reach(name):
        if name == point:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        for module in (run, queues):
            patch.setattr(module, "reach", reach)
        with pytest.raises(Killed):
            crawled(catalog, given)
    is_written = point == "crawl.written"
    assert days(catalog) == (["1", "2"] if is_written else ["1", "gone"])
    versions = len(catalog.table_versions("web", "clicks"))
    crawled(catalog, given)

    assert days(catalog) == ["1", "2"]
    assert columns(catalog.table("web", "clicks")) == "id bigint, a bigint, b string, c double"
    assert catalog.table("web", "clicks").parameters["objectCount"] == "2"
    assert len(catalog.table_versions("web", "clicks")) == (versions if is_written else versions + 1)
    assert other.bodies() == ["hello"] * (2 if point == "crawl.sent_away" else 1)
    assert notified.bodies() == []


def test_the_command_follows_events_and_survives_a_kill_between_the_commit_and_the_deletion(
    client, notified, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path))
    day(client, 1)
    command = [sys.executable, "-m", "gluepot", "crawl", "s3://lake/clicks", "--event-queue", notified.arn]
    environ = {**os.environ, "GLUEPOT_FAILPOINT": "crawl.written"}
    killed = subprocess.run(command, env=environ, capture_output=True, check=False, start_new_session=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(notified.bodies()) == 2

    crawl_("s3://lake/clicks", event_queue=notified.arn)
    assert "1 table, 0 changed" in capsys.readouterr().out
    assert notified.bodies() == []


def test_a_crawler_of_the_service_follows_its_queue(client, notified, tmp_path):
    day(client, 1)
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path)}
    with service(ServeOptions(port=0), environ, SystemClock()) as serving:
        glue = client_of(serving, "glue")
        glue.create_database(DatabaseInput={"Name": "web"})
        glue.create_crawler(**by_events(notified, Role="any"))
        for number in (2, 3):
            glue.start_crawler(Name="nightly")
            assert until_ready(glue, "nightly")["LastCrawl"]["Status"] == "SUCCEEDED"
            day(client, number)
        found = glue.get_partitions(DatabaseName="web", TableName="clicks")["Partitions"]
        logs = client_of(serving, "logs").filter_log_events(
            logGroupName="/aws-glue/crawlers", logStreamNames=["nightly"]
        )

    assert sorted(one["Values"] for one in found) == [["1"], ["2"]]
    assert any("only folders that events name are listed: 1 folder" in one["message"] for one in logs["events"])
    assert len(notified.bodies()) == 1
