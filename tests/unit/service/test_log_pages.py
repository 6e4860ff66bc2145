"""Which events a page holds, how much text a call looks at, and where the next page begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.service.decisions.log_pages import Limits, Position, log_page, position_in
from gluepot.service.decisions.log_streams import LogEvent, LogStream, Window

LINE = 10


def stream(number):
    times = {"created_ms": number, "first_ms": number, "last_ms": number, "written_ms": 0, "carried_ms": 0}
    return LogStream("/group", number, f"s{number}", f"s{number}", "", **times, size=0, is_open=False)


class Texts:
    """The lines of streams; each has ten bytes, and a read returns a few of them."""

    def __init__(self, *lines, at_once=2):
        self.lines, self.at_once, self.opened, self.bytes = lines, at_once, [], 0

    def read(self, of, offset, carried_ms):
        self.opened.append(of.number)
        lines = self.lines[of.number][offset // LINE :][: self.at_once]
        self.bytes += LINE * len(lines)
        return [
            LogEvent(offset + LINE * n, offset + LINE * (n + 1), carried_ms + 1, line) for n, line in enumerate(lines)
        ]

    def page(self, begin=None, wanted="", **limits):
        limits = Limits(**limits)
        first = begin.number if begin else 0
        streams = [stream(n) for n in range(first, len(self.lines))][: limits.streams + 1]
        found = log_page(streams, self.read, begin, lambda event: wanted in event.message, limits)
        return [event.message for _, event in found.events], found


def test_a_page_ends_before_the_event_that_it_has_no_room_for():
    texts = Texts(["a", "b"], ["c"])
    events, page = texts.page(events=1)
    assert (events, page.end, page.is_last) == (["a"], Position(0, 10, 1), False)
    events, page = texts.page(page.end, events=1)
    assert (events, page.end) == (["b"], Position(1, 0, 1))
    events, page = texts.page(page.end, events=1)
    assert (events, page.end, page.is_last) == (["c"], Position(1, 10, 2), True)


def test_a_page_holds_so_much_text_but_always_one_event():
    texts = Texts(["a", "b", "c"])
    assert texts.page(text_bytes=25)[0] == ["a", "b"]
    assert texts.page(text_bytes=1)[0] == ["a"]


def test_a_call_that_finds_nothing_looks_at_so_much_text_and_returns_an_empty_page():
    texts = Texts(["a"] * 100, ["b"])
    events, page = texts.page(wanted="b", read_bytes=40)
    assert (events, texts.bytes, page.end, page.is_last) == ([], 40, Position(0, 40, 2), False)


def test_a_call_opens_so_many_streams():
    texts = Texts(*[["a"]] * 100)
    events, page = texts.page(wanted="b", streams=10)
    assert (events, set(texts.opened), page.end, page.is_last) == ([], set(range(10)), Position(9, 10, 10), False)


def test_lines_behind_a_page_carry_the_time_of_the_last_line_before_them():
    texts = Texts(["a", "b", "c", "d"], at_once=1)
    whole = [event.at_ms for _, event in texts.page()[1].events]
    first = texts.page(events=2)[1]
    rest = texts.page(first.end)[1]
    assert [event.at_ms for _, event in (*first.events, *rest.events)] == whole == [1, 2, 3, 4]


@given(
    st.lists(st.lists(st.sampled_from(["a", "b"]), max_size=5), max_size=5),
    st.integers(1, 4),
    st.integers(1, 60),
    st.integers(1, 60),
    st.integers(2, 4),
)
def test_pages_together_have_each_wanted_event_once(lines, events, text_bytes, read_bytes, streams):
    texts, found, begin = Texts(*lines), [], None
    for _ in range(200):
        some, page = texts.page(
            begin, "a", events=events, text_bytes=text_bytes, read_bytes=read_bytes, streams=streams
        )
        found, begin = [*found, *some], page.end
        if page.is_last:
            break
    assert page.is_last
    assert found == [line for one in lines for line in one if line == "a"]


@pytest.mark.parametrize("token", ["", "0", "0/0", "1/2/3/4", "1/2/x", "1/-2/3", "1/2/²", "1/2/" + "9" * 30])
def test_tokens_that_no_answer_had(token):
    assert position_in(token) is None


def test_a_token_stands_for_its_position():
    assert position_in(Position(7, 30, 5).token) == Position(7, 30, 5)


def test_a_window_has_its_begin_and_not_its_end():
    assert [at for at in range(5) if Window(1, 3).has(at)] == [1, 2]
    assert Window(3).has(10**15)
