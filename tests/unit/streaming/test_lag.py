from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from etlcore.clock import FakeClock, SystemClock
from etlcore.errors import PermanentError
from streaming.lag import EVERY_SECS, MOST_SECS, Lag, LagWatch, Seen, pause_secs
from tests.e2e.jobs import wait_until


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
    watch.committed(["held"], {"t-0": 90_000, "t-1": 50_000})
    assert watch.look() == Lag({"t-0": 5, "t-1": 0}, {"t-0": 10.0, "t-1": 0.0})


def test_the_first_record_after_a_quiet_hour_has_not_waited_for_an_hour():
    clock, source = FakeClock(now=100.0), Source({"t-0": 0})
    watch = LagWatch(source.backlog, clock)
    watch.committed(["held"], {"t-0": 90_000})
    watch.look()
    clock.now = 3_700.0
    watch.look()
    clock.now = 3_702.0
    source.waiting = {"t-0": 1}
    assert watch.look().secs == {"t-0": 2.0}


def test_a_shard_of_which_nothing_was_seen_has_records_that_wait_and_no_age():
    clock, source = FakeClock(now=100.0), Source({"t-0": 0, "t-1": 3})
    watch = LagWatch(source.backlog, clock)
    watch.committed(["held"], {"t-0": 90_000})
    assert watch.look() == Lag({"t-0": 0, "t-1": 3}, {"t-0": 0.0})


def test_a_source_that_is_away_names_no_shard():
    source = Source({})
    watch = LagWatch(source.backlog, FakeClock())
    watch.committed(["held"], {"t-0": 90_000})
    assert watch.look() == Lag()


@given(st.lists(st.tuples(st.sampled_from(["arrives", "commits", "looks"]), st.floats(0.1, 50.0)), max_size=30))
def test_no_record_has_waited_for_longer_than_is_shown(steps):
    now, seen, waiting, committed = 0.0, Seen(), [], []
    for what, later_secs in steps:
        now += later_secs
        if what == "arrives":
            waiting.append(now)
        elif what == "commits" and waiting:
            committed.append(waiting.pop(0))
            seen = seen.committed({"t-0": int(committed[-1] * 1000)})
        backlog = {"t-0": len(waiting)}
        seen = seen.looked(backlog, now)
        if (shown := seen.lag(backlog, now).secs.get("t-0")) is not None:
            assert shown + 1e-6 >= (now - waiting[0] if waiting else 0.0)
            assert waiting or shown == 0.0


def test_a_watch_shows_what_waits_until_it_is_left():
    source, shown = Source({"t-0": 1}), []
    watch = LagWatch(source.backlog, SystemClock())
    watch.committed(["held"], {})
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
    watch.committed(["held"], {})
    with watch.looking(shown.append, every_secs=0.01):
        wait_until(lambda: shown, "a look after one that failed")
    assert len(answers) == 1
    assert shown[0].records == {"t-0": 1}


def test_a_source_that_costs_much_to_ask_is_asked_less_often():
    assert pause_secs(0.001) == EVERY_SECS
    assert pause_secs(0.1) == 5.0
    assert pause_secs(10.0) == MOST_SECS
