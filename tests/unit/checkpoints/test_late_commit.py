"""An entry of the commit log that came while its batch ran again: a start sets it aside, and the batch ends."""

from __future__ import annotations

import pytest

from gluepot.commit import Journal
from gluepot.core.clock import FakeClock
from gluepot.streaming.checkpoints.names import checksum_of
from gluepot.streaming.checkpoints.snapshot import read_newest
from gluepot.streaming.checkpoints.start import mend_late_commit, prepare
from tests.unit.checkpoints.made import QUERY, GoesOn, RunsAgain, checkpoint, spark_start
from tests.unit.commit.worlds import MemoryStorage

CLOCK = FakeClock(1_800_000_000)
LAST = 4


def started(files, batch, query=QUERY, mend=prepare):
    storage = MemoryStorage(dict(files))
    Journal(storage, 1).repeat(query, batch)
    mend(storage, CLOCK)
    return storage, read_newest(storage), spark_start(storage.files)


@pytest.mark.parametrize("crc", [True, False], ids=["local disk", "object store"])
@pytest.mark.parametrize("planned", [LAST + 1, LAST + 2], ids=["none behind it", "one planned behind it"])
@pytest.mark.parametrize("mend", [prepare, mend_late_commit], ids=["next driver", "same driver"])
def test_the_batch_runs_again_with_the_same_records(crc, planned, mend):
    files = checkpoint(planned, done=LAST + 1, crc=crc)
    storage, found, starts = started(files, LAST, mend=mend)
    assert isinstance(starts, RunsAgain)
    assert (starts.batch, starts.query, found.begun()) == (LAST, QUERY, LAST)
    gone = {key for key in files if key not in storage.files}
    late = {f"commits/{LAST}", *(f"offsets/{n}" for n in range(LAST + 1, planned))}
    assert gone == {key for key in (*late, *map(checksum_of, late)) if key in files}
    kept = {key.split("/", 3)[3] for key in storage.files if key.startswith("gluepot/backup/")}
    assert kept == gone


@pytest.mark.parametrize(
    ("batch", "query"),
    [
        pytest.param(LAST, "another", id="of a query that was rewound"),
        pytest.param(LAST - 1, QUERY, id="a later batch is committed"),
        pytest.param(LAST + 1, QUERY, id="a batch that is not planned"),
    ],
)
def test_a_commit_stays_if_the_journal_speaks_of_another_batch(batch, query):
    files = checkpoint(LAST + 1)
    _, found, starts = started(files, batch, query)
    assert starts == GoesOn(LAST, QUERY)
    assert found.begun() is None


def test_a_batch_whose_commit_is_not_there_runs_again_anyway():
    files = checkpoint(LAST + 1, done=LAST)
    storage, _, starts = started(files, LAST)
    assert isinstance(starts, RunsAgain)
    assert all(key in storage.files for key in files)
