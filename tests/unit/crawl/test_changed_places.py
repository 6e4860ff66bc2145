"""What messages of event queues say, and which folders of a target they name."""

import json
from urllib.parse import quote_plus

import pytest

from gluepot.core.errors import ConfigError
from gluepot.crawl.events import ObjectEvent, changed_places, read_message
from gluepot.crawl.settings import QueueArn, Target, crawl_settings, read_queue_arn

ARN = "arn:aws:sqs:eu-central-1:123456789012:lake-events"


def record(key, name="ObjectCreated:Put", bucket="lake"):
    return {"eventName": name, "s3": {"bucket": {"name": bucket}, "object": {"key": quote_plus(key, safe="/")}}}


def notification(*records):
    return json.dumps({"Records": list(records)})


def bridge(key, kind="Object Created", **more):
    detail = {"bucket": {"name": "lake"}, "object": {"key": key}}
    return json.dumps({"source": "aws.s3", "detail-type": kind, "detail": detail, **more})


def envelope(body):
    return json.dumps({"Type": "Notification", "MessageId": "1", "Message": body})


def events_of(body):
    found = read_message(body)
    assert not found.wrong
    return [(one.key, one.is_removed) for one in found.events]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (notification(record("a/x.json")), [("a/x.json", False)]),
        (notification(record("a/x.json", "ObjectCreated:CompleteMultipartUpload")), [("a/x.json", False)]),
        (notification(record("a/x.json", "s3:ObjectCreated:Put")), [("a/x.json", False)]),
        (notification(record("a/x.json", "ObjectRemoved:Delete")), [("a/x.json", True)]),
        (notification(record("a/x.json", "ObjectRemoved:DeleteMarkerCreated")), [("a/x.json", True)]),
        (notification(record("a/x.json", "LifecycleExpiration:Delete")), [("a/x.json", True)]),
        (notification(record("a/x.json", "ObjectTagging:Put")), []),
        (notification(record("a"), record("b", "ObjectRemoved:Delete")), [("a", False), ("b", True)]),
        (notification(record("a b/ü+=&%.json")), [("a b/ü+=&%.json", False)]),
        (notification(), []),
        (bridge("a b+c%20.json"), [("a b+c%20.json", False)]),
        (bridge("a", "Object Deleted"), [("a", True)]),
        (bridge("a", "Object Tags Added"), []),
        (envelope(notification(record("a"))), [("a", False)]),
        (envelope(bridge("a")), [("a", False)]),
        (json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "lake"}), []),
    ],
)
def test_a_message_says_which_objects_were_written_and_removed(body, said):
    assert events_of(body) == said


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("hello", "it is not JSON"),
        ("[1]", "it is not a JSON object"),
        ("{}", "it is neither"),
        ('{"Records": {"a": 1}}', "it is neither"),
        (json.dumps({"source": "shop", "detail-type": "Object Created"}), "it is neither"),
        (envelope("hello"), "it is not JSON"),
        (notification({"s3": {}}), "it has no eventName"),
        (notification("text"), "it has no eventName"),
        (notification({"eventName": "ObjectCreated:Put", "s3": {"bucket": {}}}), "it has no s3.object.key"),
        (notification({"eventName": "ObjectCreated:Put", "s3": {"object": {"key": "a"}}}), "it has no s3.bucket.name"),
        (notification(record("a")).replace('"a"', '"%ff"'), "can't decode"),
        (bridge(""), "it has no detail.object.key"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_a_message_that_is_not_understood_says_why(body, why):
    found = read_message(body)
    assert found.events == ()
    assert why in found.wrong


def test_of_a_message_that_is_understood_in_part_this_part_counts():
    found = read_message(notification({"eventName": 1}, record("a/x.json")))
    assert found.events == (ObjectEvent("lake", "a/x.json"),)
    assert found.wrong == "it has no eventName"


def places(*keys, removed=(), url="s3://lake/clicks/", exclusions=(), bucket="lake"):
    events = [ObjectEvent(bucket, key, key in removed) for key in (*keys, *removed)]
    return changed_places(Target(url, exclusions), events)


@pytest.mark.parametrize(
    ("key", "folder"),
    [
        ("clicks/day=1/x.json", "day=1"),
        ("clicks/x.json", ""),
        ("clicks/a/b/c/x.json", "a/b/c"),
        ("clicks/day=a b/ü.json", "day=a b"),
        ("clicks", ""),  # the target is a file
    ],
)
def test_an_event_names_the_folder_of_its_object(key, folder):
    assert places(key, key).folders == {folder}
    assert places(removed=[key]).folders == {folder}


@pytest.mark.parametrize(
    "key",
    [
        "clicks-old/x.json",
        "orders/clicks/x.json",
        "click",
        "clicks/day=1/",  # the marker of a folder
        "clicks/day=1/_SUCCESS",
        "clicks/.x.json.crc",
        "clicks/_temporary/0/x.json",
        "clicks/tmp/x.json",
    ],
)
def test_new_objects_that_no_crawl_looks_at_name_no_folder(key):
    assert places(key, exclusions=("tmp/**",)).number == 0


def test_objects_of_other_buckets_name_no_folder():
    assert places("clicks/day=1/x.json", bucket="other").number == 0


def test_a_hidden_file_that_is_gone_may_have_been_the_last_one_of_its_folder():
    assert places(removed=["clicks/day=1/_SUCCESS", "clicks/day=2/", "clicks/_temporary/x"]).folders == {
        "day=1",
        "day=2",
    }


def test_the_target_may_be_a_bucket():
    assert places("a/x.json", "y.json", url="s3://lake").folders == {"a", ""}


def test_metadata_of_lake_tables_name_the_table():
    found = places(
        "clicks/d/_delta_log/00000000000000000000.json",
        "clicks/i/metadata/00001-a.metadata.json",
        "clicks/metadata/readme.json",
        "clicks/_delta_log/x.json",
    )
    assert found.lakes == {"d": "delta", "i": "iceberg", "": "delta"}
    assert found.folders == {"metadata"}


@pytest.mark.parametrize(
    "key", ["clicks/a//x.json", "clicks//x.json", "clicks/a/../x.json", "clicks/./x.json", "clicks/a\x07b/x"]
)
def test_keys_that_are_not_paths_are_told(key):
    found = places(key)
    assert found.number == 0
    assert found.odd == {f"s3://lake/{key}"}


def test_places_of_several_messages_are_one_set():
    found = places("clicks/day=1/x.json")
    found.update(places("clicks/day=1/y.json", "clicks/day=2/x.json"))
    assert found.folders == {"day=1", "day=2"}


def given(recrawl="CRAWL_EVENT_MODE", path="s3://lake/clicks/", **target):
    return {
        "Name": "c",
        "DatabaseName": "web",
        "Targets": {"S3Targets": [{"Path": path, **target}]},
        "RecrawlPolicy": {"RecrawlBehavior": recrawl},
    }


@pytest.mark.parametrize(
    ("crawler", "said"),
    [
        (given(), "The target s3://lake/clicks/ has no EventQueueArn"),
        (given(path="/data/clicks", EventQueueArn=ARN), "The target /data/clicks is not in S3"),
        (given(EventQueueArn="lake-events"), "EventQueueArn is 'lake-events'; write the ARN"),
        (given(EventQueueArn=ARN, DlqEventQueueArn="x"), "DlqEventQueueArn is 'x'; write the ARN"),
        (given("CRAWL_EVERYTHING", EventQueueArn="x"), "EventQueueArn is 'x'"),
        (
            {**given(EventQueueArn=ARN), "Targets": {"JdbcTargets": [{"ConnectionName": "w", "Path": "shop/%"}]}},
            "CRAWL_EVENT_MODE needs S3Targets; use CRAWL_EVERYTHING for JdbcTargets.",
        ),
        (
            {**given(EventQueueArn=ARN), "Targets": {"DeltaTargets": [{"DeltaTables": ["s3://lake/d"]}]}},
            "The target s3://lake/d has no EventQueueArn",
        ),
        (
            {
                **given(EventQueueArn=ARN),
                "Targets": {"CatalogTargets": [{"DatabaseName": "d", "Tables": ["t"], "EventQueueArn": ARN}]},
                "SchemaChangePolicy": {"DeleteBehavior": "LOG"},
            },
            "CRAWL_EVENT_MODE needs S3Targets; use CRAWL_EVERYTHING for CatalogTargets.",
        ),
    ],
)
def test_a_crawler_that_could_not_follow_events_is_refused(crawler, said):
    with pytest.raises(ConfigError) as caught:
        crawl_settings(crawler)
    assert said in str(caught.value)


def test_a_queue_stays_with_a_crawler_that_looks_at_everything():
    [target] = crawl_settings(given("CRAWL_EVERYTHING", EventQueueArn=ARN)).targets
    assert target.queue == ARN


def test_the_arn_of_a_queue_has_region_account_and_name():
    assert read_queue_arn(ARN) == QueueArn("eu-central-1", "123456789012", "lake-events")
    assert read_queue_arn("arn:aws:sqs:::events") == QueueArn("", "", "events")
