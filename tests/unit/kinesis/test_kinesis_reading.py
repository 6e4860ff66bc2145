"""Planner, read-ahead and reader against a Kinesis in memory: throttling, expired iterators, resharding, loss."""

import json
import random
import shutil
from itertools import chain

import pytest

from gluepot.connectors.kinesis import reader
from gluepot.connectors.kinesis.planner import KinesisPlanner
from gluepot.connectors.kinesis.positions import Note
from gluepot.connectors.kinesis.source import KinesisSource
from gluepot.core.clock import SystemClock
from gluepot.core.errors import DataLoss, PermanentError, TransientError
from gluepot.streaming.checkpoints.chain import judge
from gluepot.streaming.checkpoints.contents import read_offsets
from tests.unit.checkpoints.made import offset_file
from tests.unit.kinesis.packed import aggregate
from tests.unit.kinesis.shelf import STREAM, Shelf, settings

HASTE = 100
WAIT_SECS = 3000.0  # of the hasty clock


class HastyClock(SystemClock):
    """A clock on which a second takes ten milliseconds."""

    def monotonic(self):
        return super().monotonic() * HASTE

    def sleep(self, secs):
        super().sleep(secs / HASTE)


def hasty_wait(condition, secs):
    condition.wait(secs / HASTE)


@pytest.fixture
def world(tmp_path, monkeypatch):
    world = World(tmp_path, monkeypatch)
    yield world
    world.planner.close()


class World:
    """A stream in memory, a query that reads it, and what its batches have held."""

    def __init__(self, folder, monkeypatch):
        self.shelf = Shelf()
        self.folder = folder
        self.planner = None
        self.last = None
        self.batches = []
        self._monkeypatch = monkeypatch

    def start(self, **options):
        read = settings(**{"maxFetchTimeInMs": "1000000"} | options)
        self._monkeypatch.setattr("gluepot.connectors.kinesis.planner.KinesisClient", lambda address: self.shelf)
        self._monkeypatch.setitem(reader._clients, read.address, self.shelf)
        self.source = KinesisSource(read, folder=self.folder)
        if self.planner:
            self.planner.close()
        self.planner = KinesisPlanner(read, self.folder, self.last, HastyClock(), hasty_wait)

    def batch(self, secs=WAIT_SECS):
        """Return the values of the next batch; empty when none comes in time."""
        clock = HastyClock()
        deadline = clock.monotonic() + secs
        while clock.monotonic() < deadline:
            planned = self.planner.latest()
            if planned is not self.last and planned.width():
                self.last = planned
                self.batches.append(planned)
                return self.values(planned)
        return []

    def values(self, planned):
        ranges = self.source.split(planned)
        return list(chain.from_iterable(raw.values for one in ranges for raw in self.source.reading().reader.read(one)))

    def all(self, count):
        found = []
        while len(found) < count and (more := self.batch()):
            found += more
        return found


def numbered(start, end):
    return [str(n).encode() for n in range(start, end)]


def test_a_batch_is_the_same_from_the_spool_and_from_the_stream(world):
    world.shelf.put("shardId-000000000000", *numbered(0, 30))
    world.start(maxRecordPerRead="7")
    first = world.batch()
    shutil.rmtree(world.folder / "spool")

    assert first == numbered(0, 30)
    assert world.values(world.last) == first


def test_a_torn_file_is_fetched_again(world):
    world.shelf.put("shardId-000000000000", *numbered(0, 30))
    world.start(maxRecordPerRead="10")
    first = world.batch()
    torn = sorted(world.folder.rglob("*.arrow"))[1]
    torn.write_bytes(torn.read_bytes()[:-40])

    assert world.values(world.last) == first


def test_reading_again_while_records_arrive_changes_neither_the_batch_nor_the_position(world):
    world.shelf.put("shardId-000000000000", *numbered(0, 5))
    world.start()
    first = world.batch()
    world.shelf.put("shardId-000000000000", *numbered(5, 9))

    assert world.values(world.last) == first == numbered(0, 5)
    assert world.batch() == numbered(5, 9)


def test_a_restart_goes_on_behind_the_last_planned_batch(world):
    world.shelf.put("shardId-000000000000", *numbered(0, 5))
    world.start()
    world.batch()
    world.shelf.put("shardId-000000000000", *numbered(5, 9))
    world.start()

    assert world.batch() == numbered(5, 9)


def test_latest_survives_a_restart_before_the_first_record(world):
    world.shelf.put("shardId-000000000000", *numbered(0, 5), epoch=1.0)
    world.start(startingPosition="latest")
    world.last = world.planner.initial()
    world.shelf.put("shardId-000000000000", *numbered(5, 9), epoch=SystemClock().epoch() + 1)
    world.start(startingPosition="latest")

    assert world.batch() == numbered(5, 9)


@pytest.mark.parametrize("answer", [(400, "ExpiredIteratorException"), (500, ""), (503, "ServiceUnavailable")])
def test_an_iterator_that_is_lost_is_renewed_where_it_stood(world, answer):
    world.shelf.put("shardId-000000000000", *numbered(0, 5))
    world.start()
    world.batch()
    world.shelf.script.extend([answer] * 3)
    world.shelf.put("shardId-000000000000", *numbered(5, 9))

    assert world.batch() == numbered(5, 9)
    assert world.shelf.calls.count("GetShardIterator") >= 2


def test_throttling_delays_and_fails_nothing(world):
    world.start()
    world.shelf.put("shardId-000000000000", *numbered(0, 50))
    chance = random.Random(3)
    world.shelf.script.extend(
        (400, "ProvisionedThroughputExceededException") if chance.random() < 0.3 else None for _ in range(40)
    )
    world.shelf.script.extend([(400, "ProvisionedThroughputExceededException")] * 20)

    assert world.all(50) == numbered(0, 50)


def test_reads_that_were_refused_are_counted_for_the_driver(world):
    world.start(describeShardInterval="1h")
    world.planner.latest()
    assert world.source.throttling.throttled_reads() == 0
    world.shelf.script.extend([(400, "ProvisionedThroughputExceededException")] * 3)
    world.shelf.put("shardId-000000000000", *numbered(0, 5))

    assert world.batch() == numbered(0, 5)
    assert world.source.throttling.throttled_reads() == 3


def test_a_service_that_stays_away_is_said_after_the_deadline(world):
    world.start()
    world.planner.latest()
    world.shelf.script.extend([(500, "InternalFailure")] * 10_000)
    clock = HastyClock()
    began = clock.monotonic()

    with pytest.raises(TransientError, match="InternalFailure"):
        world.batch(secs=1000)
    assert clock.monotonic() - began >= world.source.settings.retry_deadline_secs


def test_parents_are_finished_before_children_and_nothing_is_lost_or_doubled_in_random_reshardings(world):
    chance = random.Random(7)
    sent = []
    world.start(maxRecordPerRead="5", maxFetchRecordsPerShard="10")
    found = []
    for _ in range(6):
        leaves = [one.name for one in world.shelf.shards.values() if not one.closed]
        for name in leaves:
            new = numbered(len(sent), len(sent) + chance.randrange(12))
            sent += new
            world.shelf.put(name, *new)
        if chance.random() < 0.6 or len(leaves) < 2:
            parent = chance.choice(leaves)
            world.shelf.open(parent)
            world.shelf.open(parent)
        else:
            world.shelf.open(*chance.sample(leaves, 2))
        found += world.batch(secs=1)
        if chance.random() < 0.5:
            world.start(maxRecordPerRead="5", maxFetchRecordsPerShard="10")
    found += world.all(len(sent) - len(found))

    assert sorted(found, key=int) == sent
    order = [one.shard for batch in world.batches for one in batch.ranges()]
    for shard in world.shelf.shards.values():
        for parent in shard.parents:
            if shard.name in order and parent in order:
                assert len(order) - order[::-1].index(parent) <= order.index(shard.name)


def test_aggregated_records_are_taken_apart_with_positions_of_their_own_and_never_cut(world):
    packed = [(str(n), f"sub{n}".encode()) for n in range(5)]
    world.shelf.put("shardId-000000000000", b"plain", aggregate(packed), b"after")
    world.start(maxFetchRecordsPerShard="1", maxRecordPerRead="1")

    assert world.all(7) == [b"plain", *(data for _, data in packed), b"after"]
    (one,) = world.source.split(world.batches[1])
    positions = [at for raw in world.source.reading().reader.read(one) for at in raw.positions]
    assert positions == sorted(set(positions))
    assert len(positions) == 5
    assert world.source.reading().reader.count(one) == 5
    sub = one.piece(positions[3], positions[3] + 1)
    (original,) = world.source.admin.originals([sub])
    assert (original.value, original.key, original.position) == (b"sub3", b"3", positions[3])


def test_an_answer_that_makes_no_sense_ends_the_query_instead_of_stalling_it(world):
    world.start()
    world.planner.latest()
    world.shelf.do_GetRecords = lambda **_: {}

    with pytest.raises(PermanentError, match="Reading ahead in Kinesis stream clicks failed: KeyError"):
        world.batch()


def test_records_that_expired_are_a_loss_and_not_an_empty_batch(world):
    world.shelf.put("shardId-000000000000", *numbered(0, 30))
    world.start()
    world.batch()
    shutil.rmtree(world.folder / "spool")
    del world.shelf.shards["shardId-000000000000"].records[:10]

    with pytest.raises(DataLoss, match=r"20 records .* where 30 were planned"):
        world.values(world.last)


def test_a_position_the_stream_no_longer_has_is_a_loss_unless_that_is_accepted(world):
    world.shelf.put("shardId-000000000000", *numbered(0, 5))
    world.start()
    world.batch()
    world.shelf.shards["shardId-000000000000"].records.clear()
    world.shelf.put("shardId-000000000000", *numbered(5, 9))
    world.start()
    with pytest.raises(DataLoss, match="failOnDataLoss"):
        world.batch()
    world.start(failOnDataLoss="false", maxFetchTimeInMs="20000")

    assert world.batch() == numbered(5, 9)


def test_a_stream_made_anew_is_a_loss_unless_that_is_accepted(world):
    world.shelf.put("shardId-000000000000", *numbered(0, 5))
    world.start()
    world.batch()
    world.shelf = Shelf()
    world.shelf.created = 2000.0
    world.shelf.put("shardId-000000000000", *numbered(5, 9))
    world.start()
    with pytest.raises(DataLoss, match="created again"):
        world.batch()
    world.start(failOnDataLoss="false")

    assert world.batch() == numbered(5, 9)


@pytest.mark.parametrize(("accepts", "error"), [("true", DataLoss), ("false", TransientError)])
def test_a_stream_made_anew_before_its_first_record_was_read_gives_no_record_under_the_old_id(world, accepts, error):
    world.start(failOnDataLoss=accepts)
    world.planner.latest()
    world.shelf.created = 2000.0
    world.shelf.script.append((400, "ExpiredIteratorException"))
    world.shelf.put("shardId-000000000000", *numbered(5, 9))

    with pytest.raises(error, match="created again while it was read"):
        world.batch()
    world.start(failOnDataLoss=accepts)
    assert world.batch() == numbered(5, 9)


def test_a_stream_is_looked_up_again_only_when_a_shard_was_entered_by_name(world):
    world.shelf.put("shardId-000000000000", *numbered(0, 5))
    world.start()
    world.batch()
    world.shelf.calls.clear()
    world.shelf.put("shardId-000000000000", *numbered(5, 9))

    assert world.batch() == numbered(5, 9)
    assert "DescribeStreamSummary" not in world.shelf.calls


def test_files_of_a_batch_that_is_done_are_removed_and_those_of_the_next_stay(world):
    world.shelf.put("shardId-000000000000", *numbered(0, 5))
    world.start()
    world.batch()
    first = set(world.folder.rglob("*.arrow"))
    world.shelf.put("shardId-000000000000", *numbered(5, 9))
    world.batch()
    world.planner.committed(world.batches[0])

    left = set(world.folder.rglob("*.arrow"))
    assert first
    assert not first & left
    assert left


def test_ends_are_known_once_a_later_read_found_nothing_behind(world):
    world.shelf.put("shardId-000000000000", *numbered(0, 5))
    world.start()
    began = SystemClock().epoch()
    assert world.source.admin.ends_at(began) is None
    world.batch()

    ends = world.source.admin.ends_at(began)
    assert set(ends) == {("1000000", "shardId-000000000000")}
    while None in ends.values():  # until the clock's next read
        world.planner.latest()
        ends = world.source.admin.ends_at(began)
    assert ends == world.last.ends_by_id()
    assert world.source.admin.backlog(world.last) == {f"{STREAM}-shardId-000000000000": 0}


def logged(planned, number):
    return read_offsets(offset_file(json.dumps(planned.to_json()), at=number), None)


@pytest.mark.parametrize("at_once", [True, False])
def test_the_first_answer_begins_a_log_that_is_sound_whether_or_not_it_holds_a_record(world, at_once):
    world.start()
    if not at_once:
        world.batches.append(world.planner.latest())
        world.last = world.batches[0]
    for n in range(3):
        world.shelf.put("shardId-000000000000", *numbered(n, n + 1))
        world.batch()
        if n == 1:
            world.start()

    log = {n: logged(planned, n) for n, planned in enumerate(world.batches)}
    assert judge(log).sound == log.keys()


def test_a_start_that_a_person_chose_is_what_the_first_entry_follows(world):
    world.shelf.put("shardId-000000000000", *numbered(0, 5))
    world.start()
    world.batch()
    chosen = world.last = type(world.last).at(world.last.stream_ids, world.last.ends())
    world.shelf.put("shardId-000000000000", *numbered(5, 9))
    world.start()

    assert world.batch() == numbered(5, 9)
    assert world.last.after == chosen.check


def test_what_a_batch_says_of_itself_is_what_it_holds(world):
    world.shelf.put("shardId-000000000000", *numbered(0, 30))
    world.start(maxRecordPerRead="7", maxFetchRecordsPerShard="14")
    sizes = [(len(world.batch()), world.last.records()) for _ in range(3)]

    assert sizes == [(14, 14), (14, 14), (2, 2)]
    assert world.source.admin.any_record(world.source.split(world.last))
    assert not Note.parse(world.source.split(world.last)[0].proof).closed
