"""`gluepot bookmarks` of a job whose stream is mirrored in the ledger; checkpoints made by hand."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from gluepot.bookmarks import jobrun
from gluepot.bookmarks.ledger import Ledger, Owner, RunStart, open_ledger
from gluepot.bookmarks.ledger.lease import Heartbeat
from gluepot.cli.main import _outcome
from gluepot.connectors.streams.start import read_start
from gluepot.core.clock import FakeClock
from gluepot.core.errors import TransientError
from gluepot.core.storage import open_storage
from gluepot.streaming.query.ledger_positions import EVERY_SECS, LedgerPositions
from tests.unit.checkpoints.made import QUERY, checkpoint, positions

STREAM = "clicks"


@dataclass
class Streaming:
    """A job with bookmarks and one stream; `batches` are done one after the other."""

    ledger: Ledger
    clock: FakeClock
    location: Path
    mirror: LedgerPositions

    def batches(self, *numbers: int, secs: float = EVERY_SECS) -> None:
        for n in numbers:
            self.mirror.done(QUERY, n, [positions(n + 1)[n]])
            self.clock.sleep(secs)

    def noted(self) -> list[int]:
        return [json.loads(change.body)["batch_id"] for change in self.ledger.history("job", STREAM)][::-1]


@pytest.fixture
def streaming(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path}/ledger.db"
    monkeypatch.setenv("GLUEPOT_LEDGER", url)
    clock = FakeClock(1_700_000_000.0)
    location = tmp_path / "ck"
    for key, data in checkpoint(5).items():
        (location / key).parent.mkdir(parents=True, exist_ok=True)
        (location / key).write_bytes(data)
    ledger = open_ledger(url, clock)
    run = ledger.begin(RunStart("job", "jr_1", "enable"), Owner("h", 1), None)
    marks = jobrun.Bookmarks(ledger, run, Heartbeat(ledger, run, ttl_secs=3600))
    monkeypatch.setattr(jobrun, "_current", jobrun.JobRun("job", "jr_1", None, marks))
    yield Streaming(ledger, clock, location, LedgerPositions(STREAM, str(location), clock))
    marks.heartbeat.stop()
    ledger.close()


@pytest.fixture
def gluepot(capsys):
    def call(*tokens: object, code: int = 0) -> str:
        assert _outcome(["bookmarks", *map(str, tokens)], verbose=False) == code
        said = capsys.readouterr()
        return said.out if code == 0 else said.err

    return call


def test_batches_are_noted_once_a_minute_and_at_the_end(streaming):
    streaming.batches(0, 1, 2, 3, secs=EVERY_SECS / 2)
    assert streaming.noted() == [0, 2]
    streaming.mirror.note()
    assert streaming.noted() == [0, 2, 3]


def test_a_ledger_that_fails_is_asked_again_a_minute_later_and_at_the_end(streaming, monkeypatch):
    asked = []

    def fail(run, ctx, body):
        asked.append(json.loads(body)["batch_id"])
        raise TransientError("the ledger does not answer")

    with monkeypatch.context() as away:
        away.setattr(jobrun.current().bookmarks.ledger, "mirror", fail)
        for n in range(3):
            with suppress(TransientError):
                streaming.batches(n)
            streaming.clock.sleep(EVERY_SECS / 2)
    assert asked == [0, 2]
    streaming.mirror.note()
    assert streaming.noted() == [2]


def test_a_mirrored_stream_does_not_stand_in_the_way_of_the_jobs_commit(streaming):
    streaming.batches(0)
    jobrun.current().bookmarks.commit()
    assert streaming.ledger.runs("job")[0].status == "committed"


def test_get_shows_where_a_stream_stands(streaming, gluepot):
    streaming.batches(0, 1)
    bookmark = json.loads(json.loads(gluepot("get", "job", "--output", "json"))["JobBookmark"])
    assert (bookmark[STREAM]["kind"], bookmark[STREAM]["position"]) == ("stream", "t 0:6 1:4")


def test_explain_tells_where_the_checkpoint_goes_on(streaming, gluepot):
    streaming.batches(0)
    rows = json.loads(gluepot("explain", "job", "--ctx", STREAM, "--output", "json"))
    assert [(row["partition"], row["next_offset"], row["in_ledger"]) for row in rows] == [(0, 15, 3), (1, 10, 2)]


def test_a_rewind_to_a_time_makes_the_checkpoint_begin_there(streaming, gluepot):
    streaming.batches(0, 1, 2)
    said = gluepot("rewind", "job", "--to-time", "2023-11-14T22:14:30", "--yes")
    assert f"{STREAM}: t partition 0 goes from 15 to 6: 9 read again" in said
    start = read_start(open_storage(str(streaming.location)))
    assert start.ends() == {("t", 0): 6, ("t", 1): 4}
    assert not (streaming.location / "offsets" / "4").exists()


def test_a_rehearsed_rewind_leaves_the_checkpoint_as_it_is(streaming, gluepot):
    streaming.batches(0, 1)
    assert "9 read again" in gluepot("rewind", "job", "--to-time", "2023-11-14T22:14:30", "--dry-run")
    assert read_start(open_storage(str(streaming.location))) is None


def test_a_fork_begins_where_the_stream_stands(streaming, gluepot, tmp_path):
    streaming.batches(0, 1)
    gluepot("fork", "job", "copy", "--checkpoint", tmp_path / "other")
    assert read_start(open_storage(str(tmp_path / "other"))).ends() == {("t", 0): 6, ("t", 1): 4}


def test_a_fork_into_a_checkpoint_with_a_history_is_refused(streaming, gluepot):
    streaming.batches(0)
    assert "has the history of a query" in gluepot("fork", "job", "copy", "--checkpoint", streaming.location, code=2)


def test_a_stream_is_not_reset_behind_its_checkpoint(streaming, gluepot):
    streaming.batches(0)
    assert "is a stream and begins where its checkpoint says" in gluepot("reset", "job", "--yes", code=2)
