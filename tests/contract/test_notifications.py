"""What every target of notifications promises: each row arrives, and a repetition carries the same id."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence

import pytest

from gluepot.connectors.contracts import DocumentStore
from gluepot.connectors.registry import connector
from gluepot.connectors.values import Document
from gluepot.core.errors import ConfigError, TransientError
from tests.notifications import TARGETS, Aws, Target, fifo_sqs, http_server, unpacked

ROWS = 25
"""More than two calls of ten, which is the most that all services but Firehose take."""


@pytest.fixture
def aws(kinesis) -> Aws:
    return Aws(kinesis)


@pytest.fixture(params=TARGETS)
def target(request, aws) -> Iterator[Target]:
    with request.param(aws) as made:
        yield made


def store_of(target: Target, **other: str) -> DocumentStore:
    return connector(target.kind).new_document_store({**target.options, **other})


def documents(numbers: Sequence[int]) -> list[Document]:
    return [Document(f"{n:032x}", {"n": n, "shop": f"s{n % 3}", "euro": "€"}) for n in numbers]


def test_every_row_arrives_with_its_id_and_a_repetition_has_the_same_one(target):
    store = store_of(target)
    store.check()
    sent = [(one.id, dict(one.fields)) for one in documents(range(ROWS))]
    for _ in range(2):
        assert not store.put(documents(range(ROWS)))
    arrived = sorted(target.received(), key=lambda one: one[0])
    assert arrived == [one for one in sent for _ in range(2 if target.repeats else 1)]


def test_a_target_that_does_not_exist_is_told_before_data_flows(target):
    if not target.elsewhere:  # a web server is asked nothing before it is sent rows
        store_of(target).check()
        return
    with pytest.raises(ConfigError, match="nowhere"):
        store_of(target, **target.elsewhere).check()


def test_a_store_reaches_its_tasks_and_says_where_it_is(target):
    store = store_of(target)
    again = pickle.loads(pickle.dumps(store))
    assert again == store
    assert all([again.place, again.guarantee, again.dataset.name])
    assert not again.put([])


def test_messages_of_a_group_arrive_in_order(aws):
    with fifo_sqs(aws) as target:
        assert not store_of(target).put(documents(range(30)))
        arrived = [row["n"] for _, row in target.received()]
    for shop in range(3):
        own = [n for n in arrived if n % 3 == shop]
        assert own == sorted(own)
        assert len(own) == 10


def test_a_server_that_is_busy_gets_the_rows_later():
    with http_server() as (url, posted):
        posted.answers += [503, 429, 200]
        assert not connector("webhook").new_document_store({"url": url}).put(documents([1]))
        assert [row["n"] for _, row in unpacked(posted)] == [1]


def test_a_row_that_the_server_refuses_is_told_with_its_answer():
    with http_server() as (url, posted):
        posted.answers += [422, 200, 422, 200]
        store = connector("webhook").new_document_store({"url": url, "batchSize": 3})
        (refusal,) = store.put(documents([1, 2, 3]))
        assert (refusal.index, refusal.message.endswith("refuses it (HTTP 422: so it is).")) == (1, True)
        assert sorted(row["n"] for _, row in unpacked(posted)) == [1, 3]


def test_a_server_that_does_not_let_us_in_ends_the_write():
    with http_server() as (url, posted):
        posted.answers += [401]
        with pytest.raises(ConfigError, match=r"may not be used \(HTTP 401: so it is\)"):
            connector("webhook").new_document_store({"url": f"{url}?token=secret"}).put(documents([1]))


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("sqs", {}, "queueUrl or queueName is missing"),
        ("sns", {"topicArn": "orders"}, "topicArn is 'orders'; use the ARN of a topic"),
        ("firehose", {}, "deliveryStreamName is missing"),
        ("webhook", {"url": "ftp://x"}, "The url of the webhook begins with 'ftp'"),
        ("webhook", {"url": "http://x/", "method": "GET"}, "method is 'GET'; use one of POST, PUT"),
        ("webhook", {"url": "http://x/", "headers": "a: b"}, "headers is not a JSON object"),
    ],
)
def test_wrong_options_are_told(kind, options, said):
    with pytest.raises(ConfigError, match=said):
        connector(kind).new_document_store(options)


def test_secrets_of_a_webhook_are_not_told():
    store = connector("webhook").new_document_store(
        {"url": "https://me:pass@host/p?token=abc", "headers": {"Authorization": "Bearer abc"}}
    )
    for text in (repr(store), store.place, str(store.dataset)):
        assert "abc" not in text
        assert "pass" not in text


def test_a_server_that_is_away_is_told(monkeypatch):
    monkeypatch.setattr("gluepot.connectors.documents.bulk.DEADLINE_SECS", 0.0)
    store = connector("webhook").new_document_store({"url": "http://127.0.0.1:9/rows"})
    with pytest.raises(TransientError, match="has not accepted 1 of 1 rows yet"):
        store.put(documents([1]))
