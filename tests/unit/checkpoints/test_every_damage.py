"""Every file of a checkpoint with 60 batches, damaged in every way: a start is exact, or refused with file and remedy.

What a start would do is told by a model of Spark (`made.spark_start`) that shares no code with the diagnosis.
"""

import random

import pytest

from gluepot.connectors.kafka.positions import Span
from gluepot.core.checkpoint import BACKUP
from gluepot.core.clock import FakeClock
from gluepot.core.errors import CheckpointError
from gluepot.streaming.checkpoints.diagnosis import diagnose
from gluepot.streaming.checkpoints.repair import repair
from gluepot.streaming.checkpoints.snapshot import read
from gluepot.streaming.checkpoints.start import blocking, refuse_damage
from tests.unit.checkpoints.made import QUERY, Fresh, GoesOn, RunsAgain, checkpoint, positions, spark_start
from tests.unit.commit.worlds import MemoryStorage

BATCHES = 60
HELD = positions(BATCHES)
LAST = BATCHES - 1


def flipped(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def single_damages(files):
    """Yield a name and the damaged folder for each file and each kind of damage."""
    rng = random.Random(4)
    looked_at = {0, 1, 30, LAST - 2, LAST - 1, LAST}
    for key in sorted(files):
        stem = key.rpartition("/")[2].strip(".").removesuffix(".crc")
        if stem.isdecimal() and int(stem) not in looked_at:
            continue
        data = files[key]
        log, _, number = key.partition("/")
        yield f"{key} empty", files | {key: b""}
        yield f"{key} half", files | {key: data[: len(data) // 2]}
        for bit in rng.sample(range(len(data) * 8), 3):
            yield f"{key} bit {bit}", files | {key: flipped(data, bit)}
        yield f"{key} deleted", {other: one for other, one in files.items() if other != key}
        yield f"{key} of a later version", files | {key: data.replace(b"v1", b"v9", 1)}
        yield f"{key} with a stray temporary", files | {f"offsets/.{number}.0b1c.tmp": data}
        if number.isdecimal():
            for other in {0, 1, 30, LAST - 1, LAST, LAST + 1, LAST + 2} - {int(number)}:
                yield f"{key} copied to {other}", files | {f"{log}/{other}": data}


def is_exact(outcome, done, *, may_plan_anew=False):
    """Whether a start goes on where the commits end, or runs a batch again with the same records.

    After a repair the last batch may be planned anew: the table's own check then replaces or refuses it.
    """
    match outcome:
        case GoesOn(after, query):
            return query == QUERY and after in ({done - 1, done - 2} if may_plan_anew else {done - 1})
        case RunsAgain(batch, held, query):
            return query == QUERY and batch >= done - 1 and held.spans == HELD[batch].spans
        case _:
            return False


@pytest.mark.parametrize("crc", [True, False], ids=["local disk", "object store"])
@pytest.mark.parametrize("done", [BATCHES, LAST], ids=["at rest", "after a crash in a batch"])
def test_a_start_is_exact_or_refused_with_file_and_remedy(crc, done):
    files = checkpoint(BATCHES, done=done, crc=crc)
    wrong, refused, went_on = [], 0, 0
    for name, damaged in single_damages(files):
        try:
            refuse_damage(MemoryStorage(damaged))
        except CheckpointError as sentence:
            refused += 1
            if "gluepot checkpoint " not in str(sentence) or "The checkpoint file memory:/" not in str(sentence):
                wrong.append((name, str(sentence)))
        else:
            went_on += 1
            if not is_exact(spark_start(damaged), done) and not known_limit(name, crc, done):
                wrong.append((name, spark_start(damaged)))
    assert wrong == []
    assert refused > 50
    assert went_on > 100


def known_limit(name, crc, done):
    """The two limits that the product states: copied commits, and a query id changed where nothing has checksums."""
    copied_commit = done < BATCHES and name.startswith("commits/") and name.endswith(f"copied to {LAST}")
    return copied_commit or (not crc and name.startswith("metadata bit"))


@pytest.mark.parametrize("crc", [True, False], ids=["local disk", "object store"])
def test_a_repair_leaves_a_checkpoint_that_starts_exactly_and_keeps_what_it_moved(crc):
    files = checkpoint(BATCHES, crc=crc)
    repaired = 0
    for name, damaged in single_damages(files):
        storage = MemoryStorage(dict(damaged))
        findings = diagnose(read(storage))
        backup = repair(storage, findings, FakeClock(1_800_000_000))
        if not blocking(storage):
            repaired += backup is not None
            assert is_exact(spark_start(storage.files), BATCHES, may_plan_anew=True) or known_limit(
                name, crc, BATCHES
            ), name
        kept = {key.removeprefix(f"{backup}/"): data for key, data in storage.files.items() if key.startswith(BACKUP)}
        changed = {key for key, data in damaged.items() if storage.files.get(key) != data}
        assert kept == {key: damaged[key] for key in changed}, name
    assert repaired > 100


def test_an_untouched_checkpoint_has_no_findings_and_a_sound_one_starts():
    for batches, done in [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (BATCHES, LAST)]:
        files = checkpoint(batches, done=done)
        assert diagnose(read(MemoryStorage(files))) == []
        assert not isinstance(spark_start(files), Fresh) or batches == 0


def test_a_start_on_a_sound_checkpoint_reads_as_few_files_of_a_long_log_as_of_a_short_one():
    class Counting(MemoryStorage):
        gets = 0

        def get(self, key):
            self.gets += 1
            return super().get(key)

    short, long = Counting(checkpoint(6)), Counting(checkpoint(BATCHES))
    assert blocking(short) == blocking(long) == []
    assert short.gets == long.gets


def test_the_model_of_spark_tells_damage_that_only_java_would_notice():
    files = checkpoint(3)
    assert spark_start(files) == GoesOn(2, QUERY)
    assert spark_start(checkpoint(3, done=2)) == RunsAgain(
        2, positions(3)[2].__class__({"t": "id-1"}, HELD[2].spans), QUERY
    )
    assert HELD[2].spans[("t", 0)] == Span(6, 9)
