"""Every situation of the model holds for the protocol as it is, and some situation fails for each wrong version of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

import pytest

from gluepot.commit import OpenTable, QueryWrites
from gluepot.commit.decide import Skip, Write, decide
from gluepot.commit.record import CommitRecord
from gluepot.connectors.values import CommitKey, Manifest, write_label
from gluepot.engine.writer import TableWriter
from tests.unit.commit import explore, messages
from tests.unit.commit.power import PowerDisk

publish = import_module("gluepot.commit.publish")  # the package has a function of that name

Explore = Callable[[], int]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("situations", "at_least"),
    [
        (explore.lost_power, 500),
        (explore.killed_before_lost_power, 50),
        (explore.two_drivers, 1000),
        (explore.taken_over_while_recovering, 30),
        (explore.three_drivers, 2300),
        (explore.rewound, 16),
        (explore.woken_by_a_rewind, 100),
        (messages.one_fault, 3000),
    ],
)
def test_every_row_is_there_once_whatever_happens_when(situations, at_least):
    assert situations() >= at_least


def skip_by_id_alone(monkeypatch):
    monkeypatch.setattr(
        publish, "decide", lambda manifest, newest: Skip(newest) if newest else decide(manifest, newest)
    )


def no_intent(monkeypatch):
    monkeypatch.setattr(publish, "_announce", lambda target, record: True)


def manifest_before_files(monkeypatch):
    move = publish._move
    create = publish._create

    def created_first(target, record):
        return record

    def moved_last(target, manifest, generation):
        create(target, CommitRecord.of(manifest, generation))
        move(target, manifest, generation)

    monkeypatch.setattr(publish, "_create", created_first)
    monkeypatch.setattr(publish, "_move", moved_last)


def no_flush(monkeypatch):
    monkeypatch.setattr(PowerDisk, "flushes", False)
    right = PowerDisk.__init__
    monkeypatch.setattr(
        PowerDisk, "__init__", lambda self, *args, **given: right(self, *args, **given | {"flushes": False})
    )


def no_token(monkeypatch):
    def by_input_only(manifest, newest):
        if newest is None:
            return Write(CommitRecord.of(manifest, 1), None)
        if newest.input == CommitRecord.of(manifest, 1).input:
            return Skip(newest)
        return Write(CommitRecord.of(manifest, newest.generation + 1), newest)

    monkeypatch.setattr(publish, "decide", by_input_only)


def token_checked_before_and_not_in_the_create(monkeypatch):
    """Ownership is looked up first, and what somebody else created meanwhile is overwritten."""

    def created_over(target, record):
        target.table.put(publish.commit_key(record.key, record.generation), record.to_bytes())
        return record

    monkeypatch.setattr(publish, "_create", created_over)


def names_without_token(monkeypatch):
    right = publish.published_name
    monkeypatch.setattr(publish, "published_name", lambda final, generation, token: right(final, generation, 0))
    of = CommitRecord.of.__func__

    def of_shared_names(cls, manifest, generation):
        return replace(of(cls, replace(manifest, token=0), generation), token=manifest.token)

    monkeypatch.setattr(CommitRecord, "of", classmethod(of_shared_names))


def files_removed_before_the_generation_is_taken(monkeypatch):
    """A request to create the manifest may still be under way when an earlier try of the same driver is undone."""

    def undone(target, manifest, record, superseded):
        intent = publish._begun(target, record)
        if intent is not None:
            publish._end(target, intent, None, None)

    monkeypatch.setattr(publish, "_settle_own", undone)


def writes_counted_over_all_targets(monkeypatch):
    """What takes a write back that does not come again would mend this, too, where a write can be taken back."""
    nothing_is_taken_back(monkeypatch)

    def counted(self, place, transformation_ctx):
        self._writes["", transformation_ctx] += 1
        return self.upcoming("", transformation_ctx)

    def upcoming(self, place, transformation_ctx):
        label = write_label(transformation_ctx, self._writes["", transformation_ctx])
        return Manifest(CommitKey(self.by.query_id, self.by.batch_id, label), (), self.given.ranges, "", self.by.token)

    monkeypatch.setattr(TableWriter, "next_write", counted)
    monkeypatch.setattr(TableWriter, "upcoming", upcoming)


def nothing_is_taken_back(monkeypatch):
    monkeypatch.setattr(QueryWrites, "settle", lambda self: None)


def a_new_query_settles_its_own_publications_alone(monkeypatch):
    def own(self, target, place):
        publish.recover(target, self.query_id, self._token, place)

    monkeypatch.setattr(QueryWrites, "_recover", own)


def no_fence(monkeypatch):
    monkeypatch.setattr(explore, "fence", lambda target, key, token: target.table.list(""))


def equal_input_is_skipped_whatever_the_work(monkeypatch):
    right = publish.decide

    def by_input(manifest, newest):
        return right(manifest if newest is None else replace(manifest, work=newest.work), newest)

    monkeypatch.setattr(publish, "decide", by_input)


def every_write_is_taken_for_new(monkeypatch):
    monkeypatch.setattr(OpenTable, "_is_new", lambda _table, _key: True)


def own_tries_are_not_noted(monkeypatch):
    monkeypatch.setattr(OpenTable, "tries", lambda _table, _key: None)


@pytest.mark.slow
def test_tables_written_in_another_order_need_nothing_taken_back(monkeypatch):
    nothing_is_taken_back(monkeypatch)
    assert messages.another_order() >= 400


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "situations"),
    [
        (skip_by_id_alone, explore.two_drivers),
        (no_intent, explore.lost_power),
        (manifest_before_files, explore.lost_power),
        (no_flush, explore.lost_power),
        (no_token, explore.two_drivers),
        (token_checked_before_and_not_in_the_create, explore.two_drivers),
        (names_without_token, explore.two_drivers),
        (files_removed_before_the_generation_is_taken, messages.one_fault),
        (writes_counted_over_all_targets, messages.another_order),
        (nothing_is_taken_back, messages.one_fault),
        (a_new_query_settles_its_own_publications_alone, explore.rewound),
        (no_fence, explore.woken_by_a_rewind),
        (equal_input_is_skipped_whatever_the_work, messages.one_fault),
        (every_write_is_taken_for_new, messages.one_fault),
        (own_tries_are_not_noted, messages.one_fault),
    ],
)
def test_a_wrong_version_is_caught(monkeypatch, wrong: Callable[[pytest.MonkeyPatch], None], situations: Explore):
    wrong(monkeypatch)
    with pytest.raises(explore.Violation):
        situations()
