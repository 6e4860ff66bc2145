"""The planner over a broker made of plain values."""

import pytest

from gluepot.connectors.kafka.losses import LOOK_SECS, SURE_SECS
from gluepot.connectors.kafka.planner import KafkaPlanner
from gluepot.connectors.kafka.positions import Bounds, Positions, Span
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.core.checkpoint import OffsetEntry
from gluepot.core.clock import FakeClock
from gluepot.core.errors import DataLoss, TransientError


class Shelf:
    """One partition that holds offsets [earliest, latest), or does not answer."""

    def __init__(self, latest=0, earliest=0):
        self.earliest, self.latest, self.away = earliest, latest, False

    def require_topics(self):
        pass

    def reconnect(self):
        pass

    def resolve(self, bound, now):
        at = now.earliest if bound == "earliest" else now.latest
        return Positions(now.topic_ids, {p: Span(o, o) for p, o in at.items()})

    def bounds(self):
        if self.away:
            raise TransientError("the broker is away")
        return Bounds({"clicks": "id"}, {("clicks", 0): self.earliest}, {("clicks", 0): self.latest})


def planner(shelf, clock=None, entry=None, **options):
    settings = KafkaReadSettings.from_options({"bootstrap.servers": "h:1", "topicName": "clicks", **options})
    return KafkaPlanner(settings, clock or FakeClock(), entry, "/ck", shelf)


def span(positions):
    return positions.spans[("clicks", 0)]


def entry(start, end):
    return OffsetEntry(7, (Positions({"clicks": "id"}, {("clicks", 0): Span(start, end)}).to_json(),))


def test_a_fresh_query_starts_where_it_is_told():
    assert span(planner(Shelf(9), startingOffsets="earliest").latest()) == Span(0, 9)


def test_latest_is_fixed_by_the_first_plan():
    shelf = Shelf(9)
    fresh = planner(shelf)
    assert span(fresh.latest()) == Span(9, 9)
    shelf.latest = 12
    assert span(fresh.latest()) == Span(9, 12)


def test_a_restart_goes_on_from_the_newest_entry_whatever_the_starting_offsets_say():
    assert span(planner(Shelf(9), entry=entry(2, 5), startingOffsets="earliest").latest()) == Span(5, 9)


def test_nothing_new_gives_the_last_batch_again():
    again = planner(Shelf(5), entry=entry(2, 5))
    assert again.latest().to_json() == entry(2, 5).sources[0]


def test_the_limit_holds_from_the_first_batch_on_after_a_restart():
    limited = planner(Shelf(100), entry=entry(2, 5), maxOffsetsPerTrigger=10)
    assert [span(limited.latest()), span(limited.latest())] == [Span(5, 15), Span(15, 25)]


def test_a_batch_waits_for_its_least_size_but_not_longer_than_the_delay():
    shelf, clock = Shelf(3), FakeClock()
    patient = planner(shelf, clock, startingOffsets="earliest", minOffsetsPerTrigger=10, maxTriggerDelay="60s")
    assert span(patient.latest()).width == 0
    clock.sleep(61)
    assert span(patient.latest()) == Span(0, 3)


def test_an_outage_leaves_the_position_where_it_is_until_the_deadline():
    shelf, clock = Shelf(9), FakeClock()
    steady = planner(shelf, clock, entry=entry(2, 5))
    shelf.away = True
    assert span(steady.latest()) == Span(2, 5)
    clock.sleep(301)
    with pytest.raises(TransientError):
        steady.latest()


def test_after_an_outage_it_goes_on():
    shelf = Shelf(9)
    steady = planner(shelf, entry=entry(2, 5))
    shelf.away = True
    steady.latest()
    shelf.away = False
    assert span(steady.latest()) == Span(5, 9)


def test_expired_records_fail_unless_the_loss_is_accepted():
    with pytest.raises(DataLoss, match="clicks partition 0"):
        planner(Shelf(9, earliest=7), entry=entry(2, 5)).latest()
    accepting = planner(Shelf(9, earliest=7), entry=entry(2, 5), failOnDataLoss="false")
    assert span(accepting.latest()) == Span(7, 9)


class LaggingShelf(Shelf):
    """Its first answers are those of a broker that lags behind the others; a new client talks to another one."""

    def __init__(self, latest, answers):
        super().__init__(latest)
        self.answers = [*answers]

    def reconnect(self):
        self.answers.pop(0)

    def bounds(self):
        return self.answers[0] if self.answers else super().bounds()


UNKNOWN_TOPIC = Bounds({}, {}, {})
OLD_END = Bounds({"clicks": "id"}, {("clicks", 0): 0}, {("clicks", 0): 3})
OLD_TOPIC = Bounds({"clicks": "old"}, {("clicks", 0): 0}, {("clicks", 0): 3})


@pytest.mark.parametrize("told", [UNKNOWN_TOPIC, OLD_END, OLD_TOPIC])
@pytest.mark.parametrize("accepts", ["true", "false"])
def test_what_one_broker_lacks_is_not_taken_for_lost_before_another_one_was_asked(told, accepts):
    clock = FakeClock()
    shelf = LaggingShelf(9, [told, told])
    assert span(planner(shelf, clock, entry(2, 5), failOnDataLoss=accepts).latest()) == Span(5, 9)
    assert clock.waits == [LOOK_SECS] * 2


@pytest.mark.parametrize("told", [UNKNOWN_TOPIC, OLD_END, OLD_TOPIC])
def test_what_all_brokers_lack_for_some_seconds_is_lost(told):
    clock = FakeClock()
    with pytest.raises(DataLoss, match="clicks partition 0"):
        planner(LaggingShelf(9, [told] * 100), clock, entry(2, 5)).latest()
    assert clock.now == SURE_SECS


def test_no_broker_is_asked_again_about_records_that_have_expired():
    clock = FakeClock()
    planner(Shelf(9, earliest=7), clock, entry(2, 5), failOnDataLoss="false").latest()
    assert clock.waits == []
