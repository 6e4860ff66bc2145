from __future__ import annotations

import threading
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.kafka.positions import Positions
from gluepot.connectors.kinesis.positions import Positions as KinesisPositions
from gluepot.core.clock import FakeClock, SystemClock
from gluepot.core.errors import PermanentError
from gluepot.streaming.observe.lag import EVERY_SECS, MOST_LOOKS, MOST_SECS, Lag, LagWatch, Seen, moved, pause_secs
from tests.e2e.jobs import wait_until

HELD = [Positions.at({}, {("t", 0): 5})]


@dataclass
class Source:
    waiting: dict[str, int] = field(default_factory=dict)
    asked: list[object] = field(default_factory=list)

    def backlog(self, held):
        self.asked.append(held)
        return dict(self.waiting)


def test_nothing_is_known_before_a_batch_is_committed():
    source = Source({"t-0": 5})
    assert LagWatch(source.backlog, FakeClock()).look() == Lag()
    assert source.asked == []


def test_the_oldest_record_that_waits_is_no_older_than_the_newest_committed():
    clock, source = FakeClock(now=100.0), Source({"t-0": 5, "t-1": 0})
    watch = LagWatch(source.backlog, clock)
    watch.committed(HELD, {"t-0": 90_000, "t-1": 50_000})
    assert watch.look() == Lag({"t-0": 5, "t-1": 0}, {"t-0": 10.0, "t-1": 0.0})


def test_the_first_record_after_a_quiet_hour_has_not_waited_for_an_hour():
    clock, source = FakeClock(now=100.0), Source({"t-0": 0})
    watch = LagWatch(source.backlog, clock)
    watch.committed(HELD, {"t-0": 90_000})
    watch.look()
    clock.now = 3_700.0
    watch.look()
    clock.now = 3_702.0
    source.waiting = {"t-0": 1}
    assert watch.look().secs == {"t-0": 2.0}


def test_a_shard_of_which_nothing_was_seen_has_records_that_wait_and_no_age():
    clock, source = FakeClock(now=100.0), Source({"t-0": 0, "t-1": 3})
    watch = LagWatch(source.backlog, clock)
    watch.committed(HELD, {"t-0": 90_000})
    assert watch.look() == Lag({"t-0": 0, "t-1": 3}, {"t-0": 0.0})


def test_a_source_that_is_away_names_no_shard():
    source = Source({})
    watch = LagWatch(source.backlog, FakeClock())
    watch.committed(HELD, {"t-0": 90_000})
    assert watch.look() == Lag()


def test_a_record_that_came_after_the_last_one_committed_is_as_old_as_the_looks_tell():
    clock, source = FakeClock(now=100.0), Source({"t-0": 3})
    watch = LagWatch(source.backlog, clock)
    watch.committed(HELD, {"t-0": 90_000})
    watch.look()  # three records wait
    clock.now = 140.0
    watch.look()  # still
    clock.now = 150.0
    source.waiting = {"t-0": 4}
    watch.look()  # a fourth came since
    source.waiting = {"t-0": 1}
    watch.committed([Positions.at({}, {("t", 0): 8})], {"t-0": 95_000})
    assert watch.look().secs == {"t-0": 10.0}


def test_positions_that_do_not_count_records_tell_nothing_of_looks():
    shard = "shardId-000000000000"
    source, clock = Source({f"t-{shard}": 3}), FakeClock(now=100.0)
    watch = LagWatch(source.backlog, clock)
    watch.committed([KinesisPositions.at({}, {("t", shard): 2**70})], {f"t-{shard}": 90_000})
    watch.look()
    watch.committed([KinesisPositions.at({}, {("t", shard): 2**80})], {f"t-{shard}": 91_000})
    assert watch.look().secs == {f"t-{shard}": 9.0}


@dataclass
class Costly:
    """A source that takes a second of processor time to ask, and what that thread has spent."""

    source: Source
    secs: float = 0.0

    def backlog(self, held):
        self.secs += 1.0
        return self.source.backlog(held)

    def spent(self):
        return self.secs


def test_a_batch_asks_a_source_that_costs_nothing():
    source = Source({"t-0": 5})
    watch = LagWatch(source.backlog, FakeClock(), spent=lambda: 0.0)
    watch.committed(HELD, {})
    assert watch.after_batch().records == {"t-0": 5}
    source.waiting = {"t-0": 7}
    assert watch.after_batch().records == {"t-0": 7}


def test_a_batch_does_not_wait_for_a_source_that_costs_much_to_ask():
    clock, source = FakeClock(now=100.0), Source({"t-0": 5, "t-1": 4})
    costly = Costly(source)
    watch = LagWatch(costly.backlog, clock, costly.spent)
    watch.committed([Positions.at({}, {("t", 0): 5, ("t", 1): 0})], {"t-0": 90_000, "t-1": 90_000})
    watch.after_batch()
    clock.now = 110.0
    watch.committed([Positions.at({}, {("t", 0): 8, ("t", 1): 6})], {"t-0": 95_000, "t-1": 95_000})
    # The look saw two more than are committed now of one partition, and all of the other.
    assert watch.after_batch() == Lag({"t-0": 2, "t-1": 0}, {"t-0": 15.0, "t-1": 0.0})
    assert len(source.asked) == 1
    clock.now = 100.0 + 2 * MOST_SECS
    watch.after_batch()
    assert len(source.asked) == 2


def test_a_batch_waits_for_a_source_that_is_slow_to_answer_only_now_and_then():
    clock, source = FakeClock(now=100.0), Source({"t-0": 5})

    def slow(held):
        clock.now += 0.01
        return source.backlog(held)

    watch = LagWatch(slow, clock, spent=lambda: 0.0)
    watch.committed(HELD, {})
    for _ in range(100):
        watch.after_batch()
        clock.now += 0.05
    assert len(source.asked) == 5  # 50 ms of 5 s


def test_what_waits_is_less_what_was_committed_and_never_more_than_was_seen():
    waited, began = {"t-0": 5, "t-1": 5, "t-2": 5, "t-3": 5}, {"t-0": 10, "t-1": 10, "t-2": 10}
    assert moved(waited, began, {"t-0": 12, "t-1": 99, "t-2": 0}) == {"t-0": 3, "t-1": 0, "t-2": 5, "t-3": 5}


def test_a_batch_does_not_wait_for_a_look_of_another_thread():
    asked, answered = threading.Event(), threading.Event()

    def backlog(held):
        asked.set()
        assert answered.wait(10)
        return {"t-0": 5}

    watch = LagWatch(backlog, SystemClock())
    watch.committed(HELD, {})
    shown = []
    looking = threading.Thread(target=watch.look, args=[shown.append])
    looking.start()
    assert asked.wait(10)
    watch.committed([Positions.at({}, {("t", 0): 8})], {})
    assert watch.after_batch() == Lag()
    answered.set()
    looking.join()
    assert shown == [Lag({"t-0": 2})]  # three of the five were committed before the answer came


STEPS = st.lists(st.tuples(st.sampled_from(["arrives", "commits", "looks"]), st.floats(0.1, 50.0)), max_size=200)


@given(STEPS, st.booleans())
def test_no_record_has_waited_for_longer_than_is_shown(steps, dense):
    now, seen, waiting, done = 0.0, Seen(), [], 0
    for what, later_secs in steps:
        now += later_secs
        if what == "arrives":
            waiting.append(now)
        elif what == "commits" and waiting:
            newest, done = waiting.pop(0), done + 1
            seen = seen.committed({"t-0": int(newest * 1000)}, {"t-0": done} if dense else {})
        backlog = {"t-0": len(waiting)}
        seen = seen.looked(backlog, now, {"t-0": done} if dense else {})
        assert len(seen.looks.get("t-0", ())) <= MOST_LOOKS + 1
        if (shown := seen.lag(backlog, now).secs.get("t-0")) is not None:
            assert shown + 1e-6 >= (now - waiting[0] if waiting else 0.0)
            assert waiting or shown == 0.0


def test_a_stream_that_was_made_anew_is_looked_at_anew():
    seen = Seen().looked({"t-0": 5}, 10.0, {"t-0": 1_000}).looked({"t-0": 5}, 20.0, {"t-0": 0})
    assert seen.committed({}, {"t-0": 5}).lag({"t-0": 1}, 23.0).secs == {"t-0": 3.0}


def test_a_watch_shows_what_waits_until_it_is_left():
    source, shown = Source({"t-0": 1}), []
    watch = LagWatch(source.backlog, SystemClock())
    watch.committed(HELD, {})
    with watch.looking(shown.append, every_secs=0.01):
        wait_until(lambda: shown, "a look")
    assert shown[0].records == {"t-0": 1}


def test_a_watch_outlives_a_source_that_refuses():
    answers = [PermanentError("the topic is gone"), {"t-0": 1}]
    shown = []

    def backlog(held):
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, PermanentError):
            raise answer
        return answer

    watch = LagWatch(backlog, SystemClock())
    watch.committed(HELD, {})
    with watch.looking(shown.append, every_secs=0.01):
        wait_until(lambda: len(shown) > 1, "a look after one that failed")
    assert len(answers) == 1
    assert [lag.records for lag in shown[:2]] == [{}, {"t-0": 1}]


def test_a_watch_outlives_whatever_cannot_show_it_and_tells_of_it():
    failures, shown = [], []

    def show(lag):
        if not failures:
            raise KeyError("job")
        shown.append(lag)

    watch = LagWatch(Source({"t-0": 1}).backlog, SystemClock(), failed=failures.append)
    watch.committed(HELD, {})
    with watch.looking(show, every_secs=0.01):
        wait_until(lambda: shown, "a look after one that failed")
    assert [type(failed) for failed in failures] == [KeyError]


def test_a_source_that_costs_much_to_ask_is_asked_less_often():
    assert pause_secs(0.001) == EVERY_SECS
    assert pause_secs(0.1) == 5.0
    assert pause_secs(10.0) == MOST_SECS
