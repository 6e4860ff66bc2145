"""What the console makes of runs, logs and graphs, before any page is drawn."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.core.clock import FakeClock
from gluepot.service.console import graph, values
from gluepot.service.console.log_lines import LogLine, first_lines, log_line, newest_lines
from gluepot.service.console.sessions import LINK_SECS, SESSION_SECS, Links, Notice, Sessions, new_link_token
from gluepot.service.decisions.states import Run, State
from gluepot.service.errors import ServiceError
from gluepot.service.log_events import LogEvent

SECRET = "the key"
RUN = Run(1, "jr_" + "a" * 64, "daily", State.RUNNING, {}, started_ms=1_000, running_ms=3_000)


def columns(edges):
    nodes = sorted({node for edge in edges for node in edge})
    return {node: place.x for node, place in graph.layout(nodes, edges).places.items()}


def test_a_node_stands_right_of_all_that_lead_to_it():
    x = columns([("a", "b"), ("b", "d"), ("a", "c"), ("c", "d"), ("a", "d")])
    assert x["a"] < x["b"] == x["c"] < x["d"]


def test_nodes_stand_beside_their_neighbours_so_that_edges_do_not_cross():
    found = graph.layout(["a", "b", "y", "x"], [("a", "x"), ("b", "y")]).places
    assert (found["a"].y, found["b"].y) == (found["x"].y, found["y"].y)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_every_graph_is_drawn_also_one_with_circles_and_no_two_nodes_overlap(edges):
    nodes = [str(number) for number in range(8)]
    drawn = graph.layout(nodes, [(str(start), str(end)) for start, end in edges])
    places = list(drawn.places.values())
    assert set(drawn.places) == set(nodes)
    assert len(drawn.paths) == len(set(edges))
    assert all(0 <= one.x <= drawn.width - graph.WIDTH and 0 <= one.y <= drawn.height - graph.HEIGHT for one in places)
    apart = [
        abs(one.x - other.x) >= graph.WIDTH or abs(one.y - other.y) >= graph.HEIGHT
        for number, one in enumerate(places)
        for other in places[:number]
    ]
    assert all(apart)


def test_an_empty_graph_is_drawn_as_nothing():
    assert graph.layout([], []).places == {}


def test_attempts_share_one_axis_of_time():
    first = replace(RUN, state=State.FAILED, completed_ms=5_000)
    again = replace(RUN, id=f"{RUN.id}_attempt_1", attempt=1, started_ms=5_000, running_ms=6_000)
    one, two = values.timeline([first, again], 11_000)
    assert (one.waits_from, one.waits, one.runs_from, one.runs) == (0, 200, 200, 200)
    assert (two.waits_from, two.waits, two.runs_from, two.runs) == (400, 100, 500, 500)
    assert two.row.short == "jr_aaaaaaaa… attempt 1"


@pytest.mark.parametrize(
    ("after", "told"), [("", ""), ("_attempt_2", " attempt 2"), ("_restart_1_attempt_1", " restart 1 attempt 1")]
)
def test_a_short_id_keeps_what_follows_the_digits(after, told):
    assert values.short_id(RUN.id + after) == f"jr_aaaaaaaa…{told}"


def test_a_run_that_never_began_takes_no_time():
    waits = replace(RUN, state=State.WAITING, running_ms=0, waits_for="for room")
    assert values.run_row(waits, 9_000).took_secs is None
    (bar,) = values.timeline([waits], 9_000)
    assert (bar.waits, bar.runs) == (1000, 0)


def test_an_argument_tells_where_its_value_comes_from_and_no_secret():
    definition = {
        "DefaultArguments": {"--day": "today", "--db_password": "x1", "--size": "1"},
        "NonOverridableArguments": {"--fixed": "1"},
    }
    run = replace(RUN, definition=definition, arguments={"--day": "friday", "--fixed": "2"})
    assert values.arguments_of(run) == [
        ("--day", "friday", "this run"),
        ("--db_password", "***", "the job"),
        ("--fixed", "1", "the job, not overridable"),
        ("--size", "1", "the job"),
    ]


def test_arguments_of_a_form_stand_on_lines():
    text = "--day 2026-05-04\n\n  --flag\r\n--query=a = b\n--text two words "
    assert values.given_arguments(text) == {
        "--day": "2026-05-04",
        "--flag": "",
        "--query": "a = b",
        "--text": "two words",
    }
    with pytest.raises(ServiceError, match="'day' is no argument"):
        values.given_arguments("day")


def test_completed_says_so_when_jobs_failed():
    run = {"WorkflowRunId": "wr_1", "Name": "w", "Status": "COMPLETED", "StartedOn": 1.0, "CompletedOn": 3.0}
    statistics = {"TotalActions": 3, "FailedActions": 1, "SucceededActions": 2}
    row = values.workflow_run_row({**run, "Statistics": statistics}, 0)
    assert (row.state.word, row.state.mood) == ("Completed, with failures", "bad")
    assert (row.statistics, row.took_secs) == ("2 succeeded, 1 failed of 3", 2.0)
    assert values.workflow_run_row(run, 0).state.word == "Completed"


def test_addresses_quote_what_names_have():
    assert values.url("job", name="a/b?c&d=é", page="") == "/console/job?name=a%2Fb%3Fc%26d%3D%C3%A9"


def test_times_are_told_from_now():
    space = "\N{NARROW NO-BREAK SPACE}"
    assert values.distance(90_000, 180_000) == f"1:30{space}min ago"
    assert values.distance(190_000, 180_000) == f"in 10{space}s"


def test_a_line_of_our_own_log_is_taken_apart_and_others_stay():
    own = {"ts": "2026-03-02T12:20:03.1Z", "level": "error", "logger": "x", "msg": "failed", "password": "p", "n": 1}
    assert log_line(json.dumps(own)) == LogLine("12:20:03", "error", "failed", "password=*** n=1")
    assert log_line("--token abc next") == LogLine("", "", "--token *** next", "")
    for odd in ('{"ts": 1}', "{", "[" * 9, '{"a":' * 9_000, '{"ts": 1, "msg": 2, "level": "<b>"}'):
        assert log_line(odd).level == ""
    assert len(log_line("x" * 9_000).text) < 4_100


def test_a_part_of_a_log_says_where_the_next_one_begins():
    events = [LogEvent(n * 10, n * 10 + 10, 0, f"line {n}") for n in range(3, 8)]
    newest, first = newest_lines(events, 30, 2), first_lines(events, 30, 2)
    assert ([one.text for one in newest.lines], newest.end, newest.left_out) == (["line 6", "line 7"], 80, 3)
    assert ([one.text for one in first.lines], first.end) == (["line 3", "line 4"], 50)
    assert newest_lines([], 30, 2).end == 30


def test_a_link_is_good_once_and_for_ten_minutes():
    clock = FakeClock(1_000.0)
    links = Links(SECRET, clock)
    token, late = new_link_token(SECRET, 1_000.0), new_link_token(SECRET, 1_000.0)
    assert [links.take(token), links.take(token)] == [True, False]
    clock.now += LINK_SECS
    assert not links.take(late)


@pytest.mark.parametrize(
    "token",
    ["", "..", "x.y.z", "é", "1" * 5_000, new_link_token("another key", 1_000.0)],
    ids=["empty", "dots", "letters", "not ascii", "long", "of another key"],
)
def test_a_link_that_nobody_signed_is_no_good(token):
    assert not Links(SECRET, FakeClock(1_000.0)).take(token)


def test_a_changed_link_is_no_good():
    until, nonce, signature = new_link_token(SECRET, 1_000.0).split(".")
    links = Links(SECRET, FakeClock(1_000.0))
    assert not links.take(f"{int(until) + 1}.{nonce}.{signature}")
    assert not links.take(f"{until}.{nonce}0.{signature}")


def test_a_link_from_before_the_service_began_may_have_been_used():
    token = new_link_token(SECRET, 1_000.0)
    assert not Links(SECRET, FakeClock(1_005.0)).take(token)


def test_a_session_ends_by_time_and_by_logout():
    clock = FakeClock(0.0)
    sessions = Sessions(clock)
    first, second = sessions.begin("key"), sessions.begin("key")
    assert sessions.of(first).csrf != sessions.of(second).csrf
    sessions.end(first)
    assert (sessions.of(first), sessions.of("")) == (None, None)
    clock.now = SESSION_SECS
    assert sessions.of(second) is None


def test_the_oldest_session_goes_when_there_are_too_many():
    sessions = Sessions(FakeClock(0.0))
    first = sessions.begin("key")
    last = [sessions.begin("key") for _ in range(1_000)][-1]
    assert sessions.of(first) is None
    assert sessions.of(last) is not None


def test_a_notice_is_taken_once():
    sessions = Sessions(FakeClock(0.0))
    session = sessions.of(sessions.begin("key"))
    session.notice = Notice("good", "done")
    assert (session.take_notice(), session.take_notice()) == (Notice("good", "done"), None)
