"""Planner, read-ahead and subscriptions against a Kinesis in memory: renewals, refusals, resharding, consumers."""

import random
import shutil

import pytest

from gluepot.connectors.kinesis.settings import FanOut
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError, DataLoss, TransientError
from tests.unit.kinesis.fan_out_shelf import ARN, FanOutShelf
from tests.unit.kinesis.shelf import STREAM, Shelf, settings
from tests.unit.kinesis.test_kinesis_reading import World, numbered

FIRST = "shardId-000000000000"
BY_ARN = {"fanoutConsumerARN": ARN}
BY_NAME = {"fanoutConsumerName": "job"}


@pytest.fixture
def world(tmp_path, monkeypatch):
    world = World(tmp_path, monkeypatch)
    world.shelf = FanOutShelf()
    yield world
    world.planner.close()


def happen(world, *events):
    """Let something happen in place of the next events, and wait until it has."""
    world.shelf.events.extend(events)
    while world.shelf.events:
        world.planner.latest()


def fetches(world):
    return {"GetShardIterator", "GetRecords"} & set(world.shelf.calls)


def test_records_are_pushed_and_a_planned_batch_is_read_again_with_get_records(world):
    world.shelf.put(FIRST, *numbered(0, 30))
    world.start(**BY_ARN)
    first = world.all(30)
    assert first == numbered(0, 30)
    assert not fetches(world)
    shutil.rmtree(world.folder / "spool")

    assert [value for batch in world.batches for value in world.values(batch)] == first
    assert fetches(world) == {"GetShardIterator", "GetRecords"}


def test_a_subscription_that_ends_is_renewed_from_its_continuation(world):
    world.shelf.put(FIRST, *numbered(0, 5))
    world.start(**BY_ARN)
    assert world.batch() == numbered(0, 5)
    happen(world, "end")
    world.shelf.put(FIRST, *numbered(5, 9))

    assert world.all(4) == numbered(5, 9)
    assert [one["StartingPosition"]["Type"] for one in world.shelf.asked] == ["TRIM_HORIZON", "AFTER_SEQUENCE_NUMBER"]


@pytest.mark.parametrize(
    "event",
    ["lost", (400, "ResourceInUseException"), (500, "InternalFailureException"), (400, "KMSThrottlingException")],
)
def test_what_breaks_a_subscription_loses_and_repeats_nothing(world, event):
    world.shelf.again_secs = 0.02
    world.start(**BY_ARN)
    world.shelf.events.extend([event] * 3)
    world.shelf.put(FIRST, *numbered(0, 12))

    assert world.all(12) == numbered(0, 12)
    assert len(world.shelf.asked) >= 4


@pytest.mark.parametrize("code", ["LimitExceededException", "ResourceInUseException"])
def test_a_subscription_that_is_refused_is_tried_again(world, code):
    world.shelf.put(FIRST, *numbered(0, 5))
    world.start(**BY_ARN, describeShardInterval="1h")
    assert world.batch() == numbered(0, 5)
    world.shelf.script.extend([(400, code)] * 3)
    happen(world, "end")
    world.shelf.put(FIRST, *numbered(5, 9))

    assert world.all(4) == numbered(5, 9)
    throttled = world.source.throttling.throttled_reads()
    assert throttled == (3 if code == "LimitExceededException" else 0)


def test_a_continuation_that_the_service_no_longer_knows_is_replaced_by_the_last_record(world):
    world.shelf.put(FIRST, *numbered(0, 5))
    world.start(**BY_ARN)
    assert world.batch() == numbered(0, 5)
    world.shelf.continuation = "17"
    happen(world, None)
    happen(world, "end")
    world.shelf.put(FIRST, *numbered(5, 9))

    assert world.all(4) == numbered(5, 9)


def test_records_that_come_again_do_not_count_again(world):
    world.shelf.repeats = 3
    world.shelf.put(FIRST, *numbered(0, 12))
    world.start(**BY_ARN)

    assert world.all(12) == numbered(0, 12)


@pytest.mark.parametrize("tells_children", [True, False])
def test_parents_come_before_children_and_nothing_is_lost_or_duplicated_in_random_reshardings(world, tells_children):
    chance = random.Random(11)
    world.shelf.tells_children = tells_children
    world.shelf.event_records = 4
    sent, found = [], []
    options = {"maxFetchRecordsPerShard": "10", **BY_ARN}
    world.start(**options)
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
        world.shelf.events.extend(chance.choices(["end", "lost"], k=2))
        found += world.batch(secs=1)
        if chance.random() < 0.5:
            world.start(**options)
    found += world.all(len(sent) - len(found))

    assert sorted(found, key=int) == sent
    order = [one.shard for batch in world.batches for one in batch.ranges() if one.start < one.end]
    for shard in world.shelf.shards.values():
        for parent in shard.parents:
            if shard.name in order and parent in order:
                assert len(order) - order[::-1].index(parent) <= order.index(shard.name)


def test_an_end_is_known_only_from_a_subscription_that_began_later(world):
    world.shelf.put(FIRST, *numbered(0, 5))
    world.start(**BY_ARN)
    before = SystemClock().epoch()
    assert world.batch() == numbered(0, 5)
    world.planner.latest()
    while None in (ends := world.source.admin.ends_at(before)).values():
        world.planner.latest()
    assert ends == world.last.ends_by_id()
    assert set(world.source.admin.ends_at(SystemClock().epoch()).values()) == {None}


def test_a_closed_planner_ends_its_subscriptions(world):
    world.start(**BY_ARN)
    world.planner.latest()
    while not world.shelf.open_events:
        world.planner.latest()
    world.planner.close()

    assert all(one.is_closed for one in world.shelf.open_events)


def test_a_consumer_that_is_named_is_registered_once_and_awaited(world):
    world.shelf.consumers.clear()
    world.shelf.put(FIRST, *numbered(0, 5))
    world.start(**BY_NAME)
    assert world.batch() == numbered(0, 5)
    world.shelf.put(FIRST, *numbered(5, 9))
    world.start(**BY_NAME)

    assert world.all(4) == numbered(5, 9)
    assert world.shelf.calls.count("RegisterStreamConsumer") == 1
    assert "DeregisterStreamConsumer" not in world.shelf.calls


def test_a_consumer_that_is_being_deleted_is_registered_again(world):
    world.shelf.consumers["job"] = "DELETING"
    world.shelf.put(FIRST, *numbered(0, 5))
    world.start(**BY_NAME)

    assert world.batch() == numbered(0, 5)


def test_a_consumer_with_an_arn_must_be_registered(world):
    world.shelf.consumers.clear()
    world.start(**BY_ARN)

    with pytest.raises(ConfigError, match=r"has no consumer arn:.*RegisterStreamConsumer.*fanoutConsumerName"):
        world.batch()


def test_a_stream_with_too_many_consumers_is_an_error_that_says_so(world):
    world.shelf.consumers.clear()
    world.start(**BY_NAME)
    world.shelf.do_RegisterStreamConsumer = refuse

    with pytest.raises(ConfigError, match="at most 20 consumers"):
        world.batch()


def refuse(**_):
    from gluepot.connectors.kinesis.errors import from_service

    raise from_service("RegisterStreamConsumer", "here", 400, "LimitExceededException", "20")


def test_a_consumer_that_is_deregistered_while_it_reads_ends_the_query_for_a_new_start(world):
    world.start(**BY_NAME)
    world.planner.latest()
    world.shelf.consumers.clear()
    world.shelf.events.extend(["end"] * 2)
    with pytest.raises(TransientError, match="no longer has consumer"):
        world.batch()
    world.shelf.put(FIRST, *numbered(0, 5))
    world.start(**BY_NAME)

    assert world.batch() == numbered(0, 5)


def test_a_place_that_the_stream_no_longer_has_is_a_loss(world):
    world.shelf.put(FIRST, *numbered(0, 5))
    world.start(**BY_ARN)
    world.batch()
    world.shelf.shards[FIRST].records.clear()
    world.shelf.put(FIRST, *numbered(5, 9))
    world.start(**BY_ARN)

    with pytest.raises(DataLoss, match="failOnDataLoss"):
        world.batch()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fanoutConsumerARN": "job"}, "use the ARN that RegisterStreamConsumer returns"),
        ({"fanoutConsumerARN": ARN.replace("clicks", "orders")}, "consumer of stream orders, but the script reads"),
        ({"fanoutConsumerName": "a job"}, "up to 128 characters"),
        ({**BY_ARN, **BY_NAME}, "both given"),
    ],
)
def test_a_consumer_that_cannot_be_meant_is_refused(options, said):
    with pytest.raises(ConfigError, match=said):
        settings(**options)


def test_the_option_is_read_in_any_case_and_polling_is_the_default():
    assert settings().fan_out is None
    assert settings(fanoutconsumerarn=ARN).fan_out == FanOut(arn=ARN)
    assert settings(**BY_NAME).fan_out == FanOut(name="job")


def test_a_bounded_read_polls(world):
    world.shelf = Shelf()
    world.shelf.put(FIRST, *numbered(0, 5))
    world.start(**BY_ARN)

    assert [one.stream for one in world.source.bounded()] == [STREAM]
