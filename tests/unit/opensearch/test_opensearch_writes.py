"""Lines of bulk calls, and what their answers leave to do."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from gluepot.connectors.documents.bulk import Entry, Refused
from gluepot.connectors.opensearch.client import of_answer
from gluepot.connectors.opensearch.settings import read_settings, write_settings
from gluepot.connectors.opensearch.source import Slice, row_of, search_body, slices
from gluepot.connectors.opensearch.store import actions, sorted_out
from gluepot.connectors.values import Document
from gluepot.core.errors import ConfigError, TransientError

GIVEN = {"opensearch.nodes": "http://one", "opensearch.resource": "orders"}


def made(fields, **more):
    settings = write_settings("opensearch", {**GIVEN, **{f"opensearch.{name}": value for name, value in more.items()}})
    entries, refused = actions([Document(f"own{at}", one) for at, one in enumerate(fields)], settings)
    return entries, refused


def lines(entry):
    return [json.loads(line) for line in entry.body.splitlines()]


def test_a_row_is_put_under_the_id_that_a_repetition_gives_again():
    (entry,), refused = made([{"n": 1}])
    assert lines(entry) == [{"index": {"_id": "own0"}}, {"n": 1}]
    assert not refused
    assert entry.size_bytes == len(entry.body)


def test_a_field_may_be_the_id():
    entries, _ = made([{"n": 1, "in": {"k": 7}}, {"n": 2, "in": {"k": "x"}}], **{"mapping.id": "in.k"})
    assert [lines(one)[0] for one in entries] == [{"index": {"_id": "7"}}, {"index": {"_id": "x"}}]
    assert lines(entries[0])[1] == {"n": 1, "in": {"k": 7}}


def test_fields_can_be_left_out():
    (entry,), _ = made([{"n": 1, "k": "a", "z": 2}], **{"mapping.id": "k", "mapping.exclude": "k, z"})
    assert lines(entry) == [{"index": {"_id": "a"}}, {"n": 1}]


def test_values_are_json():
    fields = {
        "price": Decimal("12.50"), "day": date(2026, 2, 28), "at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        "bytes": b"\x00\xff", "nan": float("nan"), "list": [1, None], "inner": {"none": None, "a": 1},
    }  # fmt: skip
    (entry,), _ = made([fields])
    assert lines(entry)[1] == {
        "price": 12.5, "day": "2026-02-28", "at": "2026-01-02T03:04:05.000Z", "bytes": "AP8=", "nan": "NaN",
        "list": [1, None], "inner": {"a": 1},
    }  # fmt: skip
    assert b'"price":12.50' in entry.body


def test_of_rows_with_one_id_the_last_is_sent():
    entries, _ = made([{"k": "a", "n": 1}, {"k": "b"}, {"k": "a", "n": 3}], **{"mapping.id": "k"})
    assert sorted((one.index, one.key) for one in entries) == [(1, ""), (2, "")]


def test_updates_of_one_document_are_sent_one_after_the_other():
    given = {"mapping.id": "k", "write.operation": "upsert"}
    entries, _ = made([{"k": "a", "n": 1}, {"k": "b"}, {"k": "a", "m": 3}], **given)
    assert [one.key for one in entries] == ["a", "", "a"]
    assert lines(entries[0]) == [
        {"update": {"_id": "a", "retry_on_conflict": 3}}, {"doc": {"k": "a", "n": 1}, "doc_as_upsert": True},
    ]  # fmt: skip
    (entry,), _ = made([{"k": "a"}], **{"mapping.id": "k", "write.operation": "update"})
    assert lines(entry)[1] == {"doc": {"k": "a"}}


@pytest.mark.parametrize("fields", [{"n": 1}, {"k": None}, {"k": ""}, {"k": [1]}, {"k": {"a": 1}}, {"k": "x" * 513}])
def test_a_row_without_a_fit_id_is_refused(fields):
    entries, (refusal,) = made([fields], **{"mapping.id": "k"})
    assert not entries
    assert (refusal.index, refusal.reason) == (0, "bad_id")
    assert refusal.message.startswith("The index orders at http://one:9200 cannot hold it: ")


def test_text_that_is_no_unicode_is_refused():
    entries, (refusal,) = made([{"n": 1}, {"t": "\ud800"}])
    assert [one.index for one in entries] == [0]
    assert (refusal.index, refusal.reason) == (1, "bad_value")


PART = [Entry(at, b"", 1) for at in (10, 11, 12, 13)]


def answered(*items):
    return sorted_out(PART, {"errors": True, "items": [{"index": one} for one in items]}, "It")


def test_an_answer_without_errors_leaves_nothing():
    assert not any((sorted_out(PART, {"errors": False}, "It").again, sorted_out(PART, {"errors": False}, "It").refused))


def test_a_full_queue_is_tried_again_and_a_wrong_type_is_refused():
    full = {"status": 429, "error": {"type": "rejected_execution_exception", "reason": "queue is full"}}
    wrong = {
        "status": 400,
        "error": {"type": "mapper_parsing_exception", "reason": "no long", "caused_by": {"reason": 'input "x"'}},
    }
    blocked = {"status": 403, "error": {"type": "cluster_block_exception", "reason": "read-only"}}
    answer = answered({"status": 201}, full, wrong, blocked)
    assert [one.index for one in answer.again] == [11, 13]
    assert answer.said
    (refusal,) = answer.refused
    assert (refusal.index, refusal.reason) == (12, "refused_by_store")
    assert refusal.message == 'It refuses it (mapper_parsing_exception: no long; input "x").'


def test_a_conflict_of_updates_is_tried_again():
    conflict = {"status": 409, "error": {"type": "version_conflict_engine_exception", "reason": "v"}}
    assert [one.index for one in answered(conflict, {"status": 200}, {"status": 200}, {"status": 200}).again] == [10]


@pytest.mark.parametrize(
    ("status", "error"),
    [(429, TransientError), (503, TransientError), (401, ConfigError), (403, ConfigError), (404, ConfigError),
     (400, Refused), (413, Refused)],
)  # fmt: skip
def test_answers_are_sorted_by_what_to_do_next(status, error):
    found = of_answer(status, "s", "It")
    assert isinstance(found, error)
    assert str(status) in str(found)


def test_an_index_is_divided_by_shards_or_by_documents():
    assert slices(5, 10**6, None) == 5
    assert slices(1, 1000, 300) == 4
    assert slices(5, 1000, 300) == 5
    assert slices(0, 0, None) == 1
    assert slices(1, 10**9, 1) == 1024


def test_a_search_has_slice_query_and_fields():
    given = {**GIVEN, "opensearch.query": "?q=a", "opensearch.read.field.include": "a,b", "es.read.field.exclude": "c"}
    settings = read_settings("opensearch", given)
    assert search_body(settings, Slice(1, 3, 0)) == {
        "query": {"query_string": {"query": "a"}}, "sort": ["_doc"], "slice": {"id": 1, "max": 3},
        "_source": {"includes": ["a", "b"], "excludes": ["c"]},
    }  # fmt: skip
    assert search_body(read_settings("opensearch", GIVEN), Slice(0, 1, 0)) == {
        "query": {"match_all": {}}, "sort": ["_doc"],
    }  # fmt: skip


def test_rows_may_have_index_and_id():
    hit = {"_index": "orders", "_id": "7", "_source": {"n": 1}}
    assert row_of(hit, has_metadata=False) == {"n": 1}
    assert row_of(hit, has_metadata=True) == {"n": 1, "_metadata": {"_index": "orders", "_id": "7"}}
