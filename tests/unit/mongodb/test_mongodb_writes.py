"""Statements of a write, and what the answers of the server leave to do."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import bson
import pytest

from gluepot.connectors.documents.bulk import Entry
from gluepot.connectors.mongodb.client import of_answer
from gluepot.connectors.mongodb.settings import write_settings
from gluepot.connectors.mongodb.store import keyed, sorted_out, statements
from gluepot.connectors.values import Document
from gluepot.core.errors import ConfigError, TransientError

GIVEN = {"connection.uri": "mongodb://one:27017", "database": "shop", "collection": "orders"}
REPLACING, UPDATING = (write_settings("mongodb", {**GIVEN, "replaceDocument": flag}) for flag in ("true", "false"))


def documents(*fields):
    return [Document(f"own {at}", one) for at, one in enumerate(fields)]


def made(given, settings):
    """Return statements and refusals."""
    refused = []
    numbered, in_order = keyed(given, settings, refused)
    sent = statements(numbered, settings, refused)
    entries = [Entry(one.index, bson.decode(one.body.raw), one.size_bytes, one.key) for one in sent]
    assert in_order == any(one.key for one in entries)
    return entries, refused


def test_each_row_replaces_the_document_of_its_id_or_makes_it():
    (one, other), refused = made(documents({"n": 1}, {"_id": 5, "n": 2}), REPLACING)
    assert not refused
    assert (one.body["q"], one.body["u"], one.body["upsert"]) == (
        {"_id": "own 0"}, {"_id": "own 0", "n": 1}, True,
    )  # fmt: skip
    assert (other.body["q"], other.body["u"]) == ({"_id": 5}, {"_id": 5, "n": 2})


def test_of_rows_that_replace_each_other_the_last_is_sent():
    entries, _ = made(documents({"_id": 5, "n": 1}, {"_id": 6}, {"_id": 5, "n": 3}), REPLACING)
    assert sorted((one.index, one.body["q"]["_id"], one.key) for one in entries) == [(1, 6, ""), (2, 5, "")]


def test_ids_that_only_python_takes_for_one_are_two_and_those_that_only_mongodb_does_are_one():
    entries, _ = made(
        documents({"_id": 1}, {"_id": True}, {"_id": "True"}, {"_id": {"a": 1}}, {"_id": "{'a': 1}"}), REPLACING
    )
    assert [one.index for one in entries] == [0, 1, 2, 3, 4]
    entries, _ = made(
        documents({"_id": date(2026, 1, 1), "n": 1}, {"_id": datetime(2026, 1, 1, tzinfo=UTC), "n": 2}), REPLACING
    )
    assert [one.index for one in entries] == [1]


def test_updates_of_one_document_are_sent_one_after_the_other():
    entries, _ = made(documents({"_id": 5, "n": 1}, {"_id": 6}, {"_id": 5, "m": 3}), UPDATING)
    assert [one.body["u"] for one in entries] == [{"$set": {"n": 1}}, {"$setOnInsert": {"_id": 6}}, {"$set": {"m": 3}}]
    assert entries[0].key == entries[2].key != ""
    assert not entries[1].key


def test_what_bson_cannot_hold_is_refused_and_the_others_are_sent():
    entries, (refusal,) = made(documents({"n": 1}, {"d": Decimal("1" * 40)}, {"n": 3}), REPLACING)
    assert [one.index for one in entries] == [0, 2]
    assert (refusal.index, refusal.reason) == (1, "bad_value")
    assert refusal.message == (
        "The collection shop.orders at one:27017 cannot hold it: a decimal of it has more than 34 digits, or is beyond"
        " Decimal128."
    )


def answered(errors, doubted=None):
    entries, _ = made(documents(*({"n": n} for n in range(4))), REPLACING)
    return sorted_out(entries, {"ok": 1, "n": 4, "writeErrors": errors}, "It", set() if doubted is None else doubted)


def test_an_answer_without_errors_leaves_nothing():
    assert not any((answered([]).again, answered([]).refused))


def test_errors_that_pass_are_tried_again():
    answer = answered([{"index": 1, "code": 16500, "errmsg": "too many requests"}, {"index": 3, "code": 112}])
    assert [one.index for one in answer.again] == [1, 3]
    assert not answer.refused
    assert answer.said


def test_a_duplicate_key_is_tried_once_more_and_refused_then():
    error, doubted = {"index": 2, "code": 11000, "errmsg": "E11000 duplicate key"}, set()
    assert [one.index for one in answered([error], doubted).again] == [2]
    (refusal,) = answered([error], doubted).refused
    assert (refusal.index, refusal.reason) == (2, "duplicate_key")
    assert refusal.message == "It refuses it (error 11000: E11000 duplicate key)."


def test_what_the_server_does_not_accept_is_refused_with_its_reason():
    one, other = answered([{"index": 0, "code": 121, "errmsg": "failed validation"}, {"index": 1}]).refused
    assert (one.index, one.reason, one.message) == (
        0,
        "refused_by_store",
        "It refuses it (error 121: failed validation).",
    )
    assert (other.index, other.message) == (1, "It refuses it (no reason given).")


def test_a_write_that_too_few_members_have_is_tried_again():
    with pytest.raises(TransientError, match="waiting for replication"):
        sorted_out([], {"ok": 1, "writeConcernError": {"code": 64, "errmsg": "waiting for replication"}}, "It", set())


@pytest.mark.parametrize("code", [10107, 13435, 11602, 189, 91, 16500])
def test_elections_and_throttling_pass(code):
    assert isinstance(of_answer(code, "m", "It"), TransientError)


@pytest.mark.parametrize("code", [13, 18])
def test_users_and_roles_are_for_a_person(code):
    assert isinstance(of_answer(code, "m", "It"), ConfigError)


def test_other_answers_concern_what_was_sent():
    assert of_answer(15, "too deep", "It").said == "error 15: too deep"
