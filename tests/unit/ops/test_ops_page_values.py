"""What the page works out: history, verdict, figures, origins, log."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gluepot.connectors.values import SourceRange
from gluepot.core import logging
from gluepot.engine.write_totals import WrittenFile
from gluepot.ops.page.charts import series
from gluepot.ops.page.history import (
    MOST_BATCHES,
    MOST_CHANGES,
    MOST_FILES,
    MOST_POSITIONS,
    MOST_QUERIES,
    MOST_REJECTS_FILES,
    Batch,
    History,
)
from gluepot.ops.page.log_tail import MOST_CHARS, MOST_LINES, LogTail
from gluepot.ops.page.origins import RunOption, Setting, changed_first, of_job, of_query, of_run
from gluepot.ops.page.records import MOST_FILE_BYTES, Read, RecordReader, read
from gluepot.ops.page.verdict import verdict
from gluepot.ops.page.view import phases
from gluepot.streaming.observe.status import QueryStatus
from gluepot.streaming.progress import BatchStats
from gluepot.web import figures
from tests.ops_scene import column

STATS = BatchStats("clicks", 1, window_secs=5.0, started_epoch=100.0, duration_secs=2.0, rows_in=1_000)
RUNNING = QueryStatus("clicks", window_secs=5.0, lease="held", source_reached=True, last_commit_epoch=102.0)


def batch(**changes) -> Batch:
    return Batch.of(replace(STATS, **changes))


def judged(query: QueryStatus = RUNNING, *batches: Batch, now: float = 103.0, stopping=False, pausing=False) -> str:
    found = verdict(query, batches or (batch(),), now, stopping=stopping, pausing=pausing)
    return f"{found.mood}: {found.word}"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lease": "lost"}, "bad: Lease lost"),
        ({"ended": True}, "quiet: Ended"),
        ({"failures_in_a_row": 1}, "bad: Failing"),
        ({"batch_began_epoch": 103.0 - 7_200, "batch_id": 2}, "bad: Stuck"),
        ({}, "good: On time"),
    ],
)
def test_a_query_is_judged_by_what_it_told(change, said):
    assert judged(replace(RUNNING, **change)) == said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"duration_secs": 5.1}, "bad: Falling behind"),
        ({"duration_secs": 4.1}, "warn: Close to its window"),
        ({"duration_secs": 50.0, "window_secs": 0.0}, "good: On time"),
    ],
)
def test_batch_time_is_judged_against_the_window(change, said):
    assert judged(RUNNING, batch(**change)) == said


def test_lag_that_grows_batch_by_batch_is_falling_behind_and_lag_that_wavers_is_not():
    lags = [10, 20, 30, 40, 50, 60]
    assert judged(RUNNING, *(batch(lag_records={"clicks-0": lag}) for lag in lags)) == "warn: Falling behind"
    assert judged(RUNNING, *(batch(lag_records={"clicks-0": lag}) for lag in lags[:5])) == "good: On time"
    assert judged(RUNNING, *(batch(lag_records={"clicks-0": lag}) for lag in [*lags, 59])) == "good: On time"


def test_a_stream_without_records_is_idle_and_well():
    assert judged(now=162.0) == "good: On time"
    assert judged(now=163.0) == "good: Idle"


def test_a_pause_is_told_while_it_is_asked_for_and_while_it_lasts():
    assert judged(pausing=True) == "warn: Pausing"
    assert judged(replace(RUNNING, paused=True), pausing=True) == "warn: Paused"
    assert judged(replace(RUNNING, paused=True), stopping=True, pausing=True) == "quiet: Stopping"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"source_reached": False}, "quiet: Starting"),
        ({}, "quiet: Waiting"),
        ({"batch_began_epoch": 101.0, "batch_id": 0}, "quiet: First batch"),
    ],
)
def test_before_the_first_commit_a_query_is_told_by_how_far_it_came(change, said):
    found = verdict(replace(RUNNING, **change), (), 103.0, stopping=False, pausing=False)
    assert f"{found.mood}: {found.word}" == said


def test_the_memory_of_a_query_does_not_grow():
    history = History()
    files = [WrittenFile("s3://lake", f"{n}.parquet", 1, 1, rejects=n % 2 == 0) for n in range(40)]
    ranges = [SourceRange("kafka", "clicks", "id", str(n), 0, 1) for n in range(5_000)]
    lag = {f"clicks-{n}": n for n in range(5_000)}
    changes = [column(f"c{n}", "string") for n in range(50)]
    for n in range(MOST_BATCHES + 10):
        history.update(
            replace(
                STATS,
                batch_id=n,
                written=files,
                ranges=ranges if n > MOST_BATCHES else (),
                lag_records=lag if n > MOST_BATCHES else {},
                column_changes=changes,
            )
        )
    kept = history.of("clicks")
    assert [len(one) for one in (kept.batches, kept.files, kept.rejects, kept.changes, kept.positions)] == [
        MOST_BATCHES,
        MOST_FILES,
        MOST_REJECTS_FILES,
        MOST_CHANGES,
        MOST_POSITIONS,
    ]
    assert kept.shards == 5_000
    assert kept.positions[0].shard == "4999"
    assert kept.newest is not None
    assert kept.newest.batch_id == MOST_BATCHES + 9


def test_queries_beyond_the_limit_are_left_out():
    history = History()
    for n in range(MOST_QUERIES + 1):
        history.update(replace(STATS, query=f"q{n}"))
    assert history.of(f"q{MOST_QUERIES - 1}").newest
    assert not history.of(f"q{MOST_QUERIES}").newest


def test_rejected_records_are_added_up_over_the_run():
    history = History()
    history.update(replace(STATS, rejected={"malformed_json": 2}))
    history.update(replace(STATS, rejected={"malformed_json": 1, "too_long": 4}))
    assert history.of("clicks").rejected == {"malformed_json": 3, "too_long": 4}


def test_charts_have_a_point_per_batch_and_a_gap_for_what_is_not_known():
    first, second = batch(), batch(batch_id=2, previous_started_epoch=95.0, lag_records={"clicks-0": 7})
    assert series([first, second]) == {
        "t": [102.0, 102.0],
        "batch": [1, 2],
        "input": [None, 200.0],
        "process": [500.0, 500.0],
        "took": [2.0, 2.0],
        "window": [5.0, 5.0],
        "lag": [None, 7],
    }


def test_phases_come_in_the_order_of_the_batch_and_make_up_the_whole():
    found = phases(batch(phase_secs={"write": 1.0, "fetch": 2.0, "ours": 1.0}))
    assert [(one.name, one.before, one.share) for one in found] == [
        ("fetch", 0.0, 0.5),
        ("write", 0.5, 0.25),
        ("ours", 0.75, 0.25),
    ]
    assert phases(batch()) == []


@pytest.mark.parametrize(
    ("figure", "shown"),
    [
        (figures.count(0), "0"),
        (figures.count(9_999), "9,999"),
        (figures.count(9_999.6), "10.0 k"),
        (figures.count(123_456), "123 k"),
        (figures.count(999_960), "1.00 M"),
        (figures.count(None), figures.UNKNOWN),
        (figures.rate(0.25), "0.2 rows/s"),
        (figures.rate(12_345), "12.3 k rows/s"),
        (figures.size(999), "999 B"),
        (figures.size(1_500_000), "1.50 MB"),
        (figures.span(0.85), "850 ms"),
        (figures.span(0.9996), "1 s"),
        (figures.span(9.96), "10 s"),
        (figures.span(59.7), "1:00 min"),
        (figures.span(3_661), "1:01 h"),
        (figures.span(90_000), "1.0 d"),
        (figures.share(0.424), "42 %"),
    ],
)
def test_figures_have_few_digits_and_a_unit(figure, shown):
    assert str(figure).replace("\N{NARROW NO-BREAK SPACE}", " ") == shown


def test_the_log_keeps_the_newest_lines_and_cuts_long_ones():
    tail = LogTail()
    for n in range(MOST_LINES + 5):
        tail.take({"ts": "t", "level": "info", "event": f"e{n}", "text": "x" * 1_000})
    lines = tail.newest_first()
    assert (len(lines), lines[0].event) == (MOST_LINES, f"e{MOST_LINES + 4}")
    assert len(lines[0].values) < MOST_CHARS + 10


def test_the_log_shows_no_secrets():
    tail = LogTail()
    tail.take({"event": "connect", "password": "hunter2", "url": "jdbc:x//u:hunter2@h/db"})
    assert "hunter2" not in tail.newest_first()[0].values


def test_the_log_hears_what_the_process_logs_while_it_listens(capsys):
    logging.configure(json=True)
    tail = LogTail()
    with logging.heard_by(tail.take), logging.bind_context(query="clicks"):
        logging.get_logger("a").warning("heard", token="t0p")
    logging.get_logger("a").info("unheard")
    assert [(line.level, line.event, line.values) for line in tail.newest_first()] == [
        ("warning", "heard", "token=*** query=clicks")
    ]
    assert [json.loads(line)["msg"] for line in capsys.readouterr().err.splitlines()] == ["heard", "unheard"]


def test_options_of_the_run_are_told_with_where_they_came_from():
    options = [
        RunOption("master", "local[2]", "local[*]"),
        RunOption("metrics_port", 9_400, None, "GLUEPOT_METRICS_PORT"),
        RunOption("lease_secs", 15.0, 15.0),
        RunOption("max_batches", 3, None, file="gluepot.toml"),
    ]
    shown = {one.name: one.value for one in options}
    assert of_run(options, shown, {"GLUEPOT_METRICS_PORT": "9400"}) == [
        Setting("master", "local[2]", "command line"),
        Setting("metrics-port", "9400", "GLUEPOT_METRICS_PORT"),
        Setting("lease-secs", "15.0", "default"),
        Setting("max-batches", "3", "gluepot.toml"),
    ]


def test_a_variable_that_the_command_line_overrules_is_no_origin():
    option = RunOption("metrics_port", 9_400, None, "GLUEPOT_METRICS_PORT")
    (found,) = of_run([option], {"metrics_port": 9_400}, {"GLUEPOT_METRICS_PORT": "9500"})
    assert found.origin == "command line"


def test_settings_of_a_query_have_the_names_that_scripts_use_and_no_secrets():
    settings = {"window_size_secs": 5.0, "checkpoint_location": "s3://user:pw@host/c", "persist": True}
    assert changed_first(of_query(settings, {"persist": True}))[-1] == Setting("persistDataFrame", "yes", "default")
    assert not [one for one in of_query(settings, {}) if "pw" in one.value]


def test_parameters_of_the_job_are_told_by_the_option_that_holds_them():
    config = {"arguments": {"output_path": "s3://lake"}, "conf": {"spark.x": "1"}}
    assert of_job(config) == [Setting("output_path", "s3://lake", "after --"), Setting("spark.x", "1", "--conf")]


def test_a_file_of_records_is_read_once(tmp_path):
    asked = []
    reader = RecordReader(run=lambda work: (asked.append(1), work()))
    file = WrittenFile(str(tmp_path), "_rejects/gone.rejects", 10, 1, rejects=True)
    first = reader.first_of(file)
    assert isinstance(first, Read)
    assert "gone" in first.note
    assert reader.first_of(file) is first
    assert len(asked) == 1


def test_files_are_read_one_at_a_time(tmp_path):
    begun = []
    reader = RecordReader(run=begun.append)
    files = [WrittenFile(str(tmp_path), f"{n}.rejects", 10, 1, rejects=True) for n in range(2)]
    assert [reader.first_of(one) for one in files] == [None, None]
    assert len(begun) == 1
    begun[0]()
    assert reader.first_of(files[0]) is not None


def test_a_large_file_is_left_to_the_command_line(tmp_path):
    file = WrittenFile(str(Path(tmp_path)), "big.rejects", MOST_FILE_BYTES + 1, 1, rejects=True)
    assert "gluepot dlq show" in read(file).note
