"""What a table's manifests add to a diagnosis."""

import json

import pytest

from gluepot.commit.record import CommitRecord
from gluepot.connectors.streams.start import START_FILE, write_start
from gluepot.connectors.values import CommitKey
from gluepot.core.clock import FakeClock
from gluepot.streaming.checkpoints.against_table import against_table
from gluepot.streaming.checkpoints.diagnosis import diagnose
from gluepot.streaming.checkpoints.names import METADATA
from gluepot.streaming.checkpoints.repair import repair
from gluepot.streaming.checkpoints.snapshot import read
from tests.unit.checkpoints.made import (
    COMMIT,
    QUERY,
    GoesOn,
    RunsAgain,
    checkpoint,
    offset_file,
    positions,
    spark_start,
)
from tests.unit.commit.worlds import MemoryStorage

HELD = positions(10)


def published(batches=10, query=QUERY, ctx="sink"):
    return [CommitRecord(CommitKey(query, n, ctx), 1, ranges=HELD[n].ranges()) for n in range(batches)]


def examined(storage, records):
    snapshot = read(storage)
    return against_table(snapshot, diagnose(snapshot), records, "/t")


def without(files, *keys):
    return {key: data for key, data in files.items() if key not in keys}


def test_a_table_that_agrees_adds_nothing():
    assert examined(MemoryStorage(checkpoint(10)), [*published(), *published(ctx="other")]) == []


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param(lambda files: files | {"offsets/9": b""}, id="torn"),
        pytest.param(lambda files: files | {"offsets/9": files["offsets/3"]}, id="copied over"),
        pytest.param(lambda files: without(files, "offsets/9"), id="deleted"),
        pytest.param(lambda files: without(files, "offsets/9", "commits/9"), id="deleted with its commit"),
    ],
)
def test_the_newest_entry_is_restored_from_the_table_so_that_its_batch_is_the_same(damaged):
    storage = MemoryStorage(damaged(checkpoint(10, crc=False)))

    repair(storage, examined(storage, published()), FakeClock(1.8e9))

    assert examined(storage, published()) == []
    match spark_start(storage.files):
        case GoesOn(after, query):
            assert (after, query) == (9, QUERY)
        case RunsAgain(batch, held, query):
            assert (batch, held.spans, query) == (9, HELD[9].spans, QUERY)
    assert read(storage).offsets()[9].positions == [HELD[9]]


@pytest.mark.parametrize("text", [None, b"", b'{"id":"7b546c72-661a-4c2f-a048-bc0862edb2', b'{"id":"no uuid"}'])
def test_a_lost_query_id_is_found_in_the_table(text):
    files = without(checkpoint(10), METADATA) | ({} if text is None else {METADATA: text})
    storage = MemoryStorage(files)

    repair(storage, examined(storage, published()), FakeClock(1.8e9))

    assert json.loads(storage.files[METADATA]) == {"id": QUERY}
    assert spark_start(storage.files) == GoesOn(9, QUERY)


def test_a_query_id_that_two_queries_could_have_is_not_guessed():
    storage = MemoryStorage(without(checkpoint(10), METADATA))
    findings = examined(storage, [*published(), *published(query="another")])
    assert [one.file for one in findings if one.blocks] == [METADATA]
    assert repair(storage, [one for one in findings if one.blocks], FakeClock()) is None


def test_a_lost_checkpoint_is_told_from_a_new_one():
    (finding,) = examined(MemoryStorage({}), published())
    assert finding.blocks
    assert "lost; run `gluepot checkpoint rewind memory: --from-table /t`" in finding.sentence("memory:")
    assert examined(MemoryStorage({}), []) == []


def test_a_rewound_checkpoint_is_not_lost():
    storage = MemoryStorage({})
    write_start(storage, HELD[9])
    assert START_FILE in storage.files
    assert examined(storage, published()) == []


def test_an_older_copy_is_noticed():
    (finding,) = examined(MemoryStorage(checkpoint(4)), published())
    assert finding.blocks
    assert "offsets/3 is the newest entry, and /t holds batches up to 9" in finding.sentence("memory:")


def test_an_entry_that_names_other_records_than_the_table_is_noticed():
    other = positions(10, first=7)
    files = checkpoint(1) | {"metadata": checkpoint(1)["metadata"]}
    files |= {f"offsets/{n}": offset_file(one, at=n) for n, one in enumerate(other)}
    files |= {f"commits/{n}": COMMIT for n in range(10)}
    found = examined(MemoryStorage({key: data for key, data in files.items() if not key.endswith(".crc")}), published())
    assert [one.what for one in found] == [f"names other records than /t holds as batch {n}" for n in range(10)]


@pytest.mark.parametrize(
    ("first", "says"),
    [(0, r"holds offset 0 of t partition 0, as query old did"), (40, r"leaves out t partition 0 from 30")],
)
def test_a_new_query_that_the_table_will_refuse_is_told_before_it_runs(first, says):
    files = {"metadata": checkpoint(1)[METADATA], "offsets/0": offset_file(positions(1, first=first)[0])}
    (finding,) = [one for one in examined(MemoryStorage(files), published(query="old")) if one.blocks]
    assert says in finding.sentence("memory:")
    files["commits/0"] = COMMIT
    assert examined(MemoryStorage(files), published(query="old")) == []
