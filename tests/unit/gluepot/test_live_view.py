import io
from dataclasses import replace

import pytest
from rich.console import Console

from gluepot.core.clock import SystemClock
from gluepot.job.live import LiveView, render
from gluepot.streaming.progress import BatchStats

CLICKS = BatchStats(
    query="clicks",
    batch_id=12,
    window_secs=10.0,
    started_epoch=1_000.0,
    duration_secs=4.0,
    previous_started_epoch=990.0,
    rows_in=12_000,
    rejected={"malformed_json": 3, "null_value": 1},
    lag_records={"events-0": 1_500, "events-1": 500},
    lag_secs={"events-0": 2.0, "events-1": 7.4},
)
NOW = CLICKS.committed_epoch


def shown(*stats):
    console = Console(file=io.StringIO(), width=160)
    console.print(render({one.query: one for one in stats}, NOW))
    return [line.split("  ") for line in console.file.getvalue().splitlines()]


def cells(line):
    """What stands behind the clock."""
    return [cell.strip() for cell in line if cell.strip()][1:]


def test_a_query_is_one_line_with_batch_rows_rates_time_and_lag():
    [line] = shown(CLICKS)
    assert cells(line) == [
        "clicks",
        "batch 12",
        "12,000 rows (4 rejected)",
        "in 1,200/s",
        "process 3,000/s",
        "4.0 of 10 s",
        "lag 2,000, 7 s",
    ]


def test_every_query_has_its_own_line():
    lines = shown(CLICKS, replace(CLICKS, query="orders"))
    assert [cells(line)[0] for line in lines] == ["clicks", "orders"]


def test_what_is_not_known_is_left_out():
    [line] = shown(replace(CLICKS, rejected={}, lag_records={}, lag_secs={}, window_secs=0.0))
    assert cells(line) == ["clicks", "batch 12", "12,000 rows", "in 1,200/s", "process 3,000/s", "4.0 s"]


def test_a_query_stays_on_one_line_of_a_narrow_terminal():
    console = Console(file=io.StringIO(), width=60)
    console.print(render({"clicks": CLICKS}, NOW))
    assert len(console.file.getvalue().splitlines()) == 1


@pytest.mark.parametrize(("secs", "colour"), [(8.0, "\x1b[32m"), (8.1, "\x1b[33m"), (10.1, "\x1b[31m")])
def test_batch_time_is_green_then_yellow_near_the_window_and_red_beyond(secs, colour):
    console = Console(file=io.StringIO(), width=160, force_terminal=True, color_system="standard", no_color=False)
    console.print(render({"clicks": replace(CLICKS, duration_secs=secs)}, NOW))
    assert f"{colour}{secs} of 10 s" in console.file.getvalue()


def test_markup_in_a_query_name_is_shown_as_it_is():
    [line] = shown(replace(CLICKS, query="[red]q[/red]"))
    assert cells(line)[0] == "[red]q[/red]"


def test_the_live_view_shows_the_newest_batch_of_each_query():
    console = Console(file=io.StringIO(), width=160, force_terminal=True)
    with LiveView(console, SystemClock()) as view:
        view.update(CLICKS)
        view.update(replace(CLICKS, batch_id=13))
        view.update(replace(CLICKS, query="orders", batch_id=2))
    last_frame = console.file.getvalue().rpartition("\x1b[2K")[2]
    screen = console.file.getvalue()
    assert screen.rindex("batch 13") > screen.rindex("batch 12")
    assert "batch 2" in last_frame


@pytest.mark.parametrize(
    ("window_secs", "after_secs", "said"),
    [
        (10.0, 19.0, []),
        (10.0, 21.0, ["idle 21 s"]),
        (0.0, 9.0, []),
        (0.0, 11.0, ["idle 11 s"]),
        (0.0, 600.0, ["idle 10 min"]),
        (0.0, 5400.0, ["idle 1.5 h"]),
    ],
)
def test_a_stream_without_batches_says_for_how_long(window_secs, after_secs, said):
    console = Console(file=io.StringIO(), width=160)
    stats = replace(CLICKS, window_secs=window_secs, lag_records={})
    console.print(render({"clicks": stats}, NOW + after_secs))
    assert cells(console.file.getvalue().split("  "))[6:] == said
