"""What a power cut leaves of Spark's entries, which nobody flushes: a start sets it aside and goes on exactly."""

from __future__ import annotations

from itertools import product

import pytest

from gluepot.core.clock import FakeClock
from gluepot.core.errors import CheckpointError
from gluepot.streaming.checkpoints.diagnosis import diagnose
from gluepot.streaming.checkpoints.names import METADATA, checksum_of
from gluepot.streaming.checkpoints.snapshot import read
from gluepot.streaming.checkpoints.start import prepare
from tests.unit.checkpoints.made import QUERY, Fresh, GoesOn, RunsAgain, checkpoint, spark_start
from tests.unit.commit.worlds import MemoryStorage

CLOCK = FakeClock(1_800_000_000)
LAST = 2  # the function of this batch was called, so its entry and the query's id were flushed

STATES = ("whole", "empty", "half", "zeros", "gone", "gone but for its checksum", "checksum empty", "checksum torn")


def torn(files: dict[str, bytes], key: str, state: str) -> dict[str, bytes]:
    """The folder with a file as a cut may have left it."""
    crc, data = checksum_of(key), files[key]
    without = {name: one for name, one in files.items() if name not in {key, crc}}
    match state:
        case "whole":
            return files
        case "gone":
            return without
        case "gone but for its checksum":
            return without | {crc: files[crc]}
        case "checksum empty":
            return files | {crc: b""}
        case "checksum torn":
            return files | {crc: files[crc][:8] + bytes(len(files[crc]) - 8)}
    return files | {key: {"empty": b"", "half": data[: len(data) // 2], "zeros": bytes(len(data))}[state]}


def started(files: dict[str, bytes]):
    """What Spark does on the folder after our start has looked at it."""
    storage = MemoryStorage(dict(files))
    prepare(storage, CLOCK)
    return spark_start(storage.files)


@pytest.mark.parametrize("planned", STATES)
def test_a_start_goes_on_exactly_whatever_is_left_of_entries_that_nobody_flushed(planned):
    whole = checkpoint(LAST + 2, done=LAST + 1)
    for before, newest in product(STATES, repeat=2):
        files = torn(torn(whole, f"offsets/{LAST + 1}", planned), f"commits/{LAST - 1}", before)
        files = torn(files, f"commits/{LAST}", newest)
        readable = {"whole", "checksum empty"}
        if planned in {*readable, "checksum torn"}:  # our own checksum proves the entry
            assert isinstance(found := started(files), RunsAgain)
            assert (found.batch, found.query) == (LAST + 1, QUERY), (before, newest)
        elif newest in readable:
            assert started(files) == GoesOn(LAST, QUERY), before
        else:
            assert isinstance(found := started(files), RunsAgain)
            assert (found.batch, found.query) == (LAST, QUERY), (before, newest)


@pytest.mark.parametrize("metadata", STATES)
@pytest.mark.parametrize("planned", STATES)
def test_a_start_begins_again_if_no_function_was_called(metadata, planned):
    files = torn(torn(checkpoint(1, done=0), METADATA, metadata), "offsets/0", planned)
    found = started(files)
    if metadata in {"whole", "checksum empty"} and planned in {"whole", "checksum empty", "checksum torn"}:
        assert isinstance(found, RunsAgain)
        assert (found.batch, found.query) == (0, QUERY)
    else:
        assert isinstance(found, Fresh)


@pytest.mark.parametrize(
    ("key", "state"),
    [
        (f"offsets/{LAST}", "empty"),
        (f"offsets/{LAST - 1}", "zeros"),
        (f"offsets/{LAST}", "gone"),
        (METADATA, "empty"),
        (METADATA, "gone"),
    ],
)
def test_what_was_flushed_before_a_function_was_called_is_not_a_power_cuts_and_is_refused(key, state):
    files = torn(checkpoint(LAST + 1), key, state)
    storage = MemoryStorage(dict(files))
    with pytest.raises(CheckpointError, match=r"run `gluepot checkpoint "):
        prepare(storage, CLOCK)
    assert storage.files == files


def test_an_entry_that_a_later_version_of_spark_wrote_is_refused_and_stays():
    files = checkpoint(LAST + 2, done=LAST + 1, crc=False)
    storage = MemoryStorage(files | {f"offsets/{LAST + 1}": files[f"offsets/{LAST + 1}"].replace(b"v1", b"v2", 1)})
    with pytest.raises(CheckpointError, match=f"offsets/{LAST + 1} is of version v2, this Gluepot knows v1"):
        prepare(storage, CLOCK)
    assert storage.files[f"offsets/{LAST + 1}"].startswith(b"v2")


def test_no_checksum_of_a_lost_entry_stays_for_later_starts_to_find():
    storage = MemoryStorage(torn(checkpoint(LAST + 1), f"commits/{LAST}", "gone but for its checksum"))
    prepare(storage, CLOCK)
    assert diagnose(read(storage)) == []


def test_a_torn_commit_is_set_aside_also_if_the_entry_of_its_batch_was_purged():
    purged = ("offsets/0", checksum_of("offsets/0"), f"commits/{LAST}", "commits/1")
    files = {key: data for key, data in torn(checkpoint(LAST + 1), "commits/0", "empty").items() if key not in purged}
    assert isinstance(found := started(files), RunsAgain)
    assert (found.batch, found.query) == (LAST, QUERY)


def test_what_is_set_aside_is_kept():
    files = torn(checkpoint(LAST + 1), f"commits/{LAST}", "half")
    storage = MemoryStorage(dict(files))
    prepare(storage, CLOCK)
    (backup,) = {key.split("/commits/")[0] for key in storage.files if key.startswith("gluepot/backup/")}
    for key in (f"commits/{LAST}", checksum_of(f"commits/{LAST}")):
        assert storage.files[f"{backup}/{key}"] == files[key]
        assert key not in storage.files


def test_a_checkpoint_that_nothing_is_torn_in_is_left_alone():
    files = checkpoint(LAST + 1)
    storage = MemoryStorage(dict(files))
    prepare(storage, CLOCK)
    assert storage.files == files
