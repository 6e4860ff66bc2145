"""Bookmarks of the ledger, as the API shows them."""

import json

import pytest

from gluepot.bookmarks.ledger import Owner, RunStart, open_ledger
from gluepot.bookmarks.ledger.connect import ledger_url
from gluepot.bookmarks.ledger.values import Change


@pytest.fixture
def committed(world):
    """A world in which a run of the job `copy` has left a bookmark."""
    ledger = open_ledger(ledger_url(world.service.environ), world.clock)
    run = ledger.begin(RunStart("copy", "jr_1", "enable"), Owner("host", 1), None)
    ledger.commit(run, {"orders": Change('{"files": 2}')})
    ledger.close()
    return world


def marks_of(answer):
    return json.loads(answer["JobBookmarkEntry"]["JobBookmark"])


def test_a_bookmark_that_was_reset_is_empty_and_comes_back_with_its_run(committed):
    assert marks_of(committed.call("GetJobBookmark", JobName="copy")) == {"orders": [{"files": 2}]}
    assert marks_of(committed.call("ResetJobBookmark", JobName="copy")) == {}
    assert marks_of(committed.call("GetJobBookmark", JobName="copy")) == {}
    assert marks_of(committed.call("ResetJobBookmark", JobName="copy", RunId="jr_1")) == {"orders": [{"files": 2}]}


def test_the_bookmark_goes_with_its_job(committed):
    committed.call("DeleteJob", JobName="copy")  # the service knows no such job; its bookmark is that of `gluepot run`
    assert marks_of(committed.call("GetJobBookmark", JobName="copy")) == {"orders": [{"files": 2}]}
    committed.call("CreateJob", Name="copy", Role="any", Command={"Name": "glueetl", "ScriptLocation": "s3://b/job.py"})
    committed.call("DeleteJob", JobName="copy")
    assert marks_of(committed.call("GetJobBookmark", JobName="copy")) == {}
