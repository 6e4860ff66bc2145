from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from gluepot.connectors.lake.commits import LakeCommit
from gluepot.connectors.lake.delta_history import Version, commit_of, marks, past
from gluepot.connectors.values import CommitKey

FIRST = datetime(2026, 1, 1)


def version(number, batch=None, restored_version=None, restored_minute=None):
    commit = None if batch is None else LakeCommit(CommitKey("q", batch, "sink"), "i", 1)
    restored_at = None if restored_minute is None else FIRST + timedelta(minutes=restored_minute)
    return Version(number, FIRST + timedelta(minutes=number), commit, restored_version, restored_at)


def undone(*versions):
    return {one.earlier.at: one.is_undone for one in past(reversed(versions))}


def test_the_marks_of_a_version_are_read_back():
    commit = LakeCommit(CommitKey("q", 3, "sink"), "i", 5, "12")

    assert marks(commit)["txnAppId"] == "gluepot/q/sink"
    assert marks(commit)["txnVersion"] == "3"
    assert commit_of(marks(commit)["userMetadata"]) == commit


@pytest.mark.parametrize("text", [None, "", "text", "[]", "{}", "1"])
def test_metadata_of_others_is_not_ours(text):
    assert commit_of(text) is None


def test_nothing_is_undone_in_a_table_that_was_never_restored():
    assert undone(version(0), version(1, batch=0), version(2, batch=1)) == {1: False, 2: False}


@pytest.mark.parametrize("restored", [{"restored_version": 1}, {"restored_minute": 1}])
def test_a_restore_undoes_the_versions_after_its_target(restored):
    assert undone(version(1, batch=0), version(2, batch=1), version(3, **restored), version(4, batch=2)) == {
        1: False,
        2: True,
        4: False,
    }


def test_a_restore_that_was_undone_itself_undoes_nothing():
    assert undone(
        version(1, batch=0), version(2, batch=1), version(3, restored_version=1), version(4, restored_version=2)
    ) == {1: False, 2: False}


def test_two_restores_undo_what_either_leaves_out():
    assert undone(
        version(1, batch=0),
        version(2, batch=1),
        version(3, restored_version=1),
        version(4, batch=1),
        version(5, restored_version=3),
    ) == {1: False, 2: True, 4: True}
