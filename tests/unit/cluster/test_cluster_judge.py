"""Histories with something wrong in them, each of which has to be noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster import report
from tests.cluster.history import ENDING, History, read
from tests.cluster.judge import PROGRESS_SECS, judge

ROOT = Path(__file__).parents[3]
RUN = {"at": 0.0, "kind": "run", "seed": 1, "minutes": 1.0}


def part(batch: int | None, *ids: int, rejects: int = 0, rows: int | None = None):
    return {"batch": batch, "ids": list(ids), "rejects": rejects, "rows": len(ids) + rejects if rows is None else rows}


def seen(at: float, reader: str, added, removed=()):
    return {"at": at, "kind": "read", "reader": reader, "looks": 1, "added": added, "removed": list(removed)}


def both(at: float, added, removed=()):
    return [seen(at, reader, added, removed) for reader in ("files", "rows")]


def sent(at: float, *ids: int, malformed: int = 0):
    return {"at": at, "kind": "sent", "ids": list(ids), "malformed": malformed, "unanswered": []}


def verdict(lost: int = 0, doubled: int = 0, invented: int = 0):
    return {"at": 40.0, "kind": "verdict", "by": "x", "rows": 3, "lost": lost, "doubled": doubled, "invented": invented}


GOOD = [
    RUN,
    sent(1.0, 0, 1, malformed=1),
    *both(2.0, {"w.1": part(0, 0, 1)}),
    {"at": 3.0, "kind": "nemesis", "begins": True, "hit": True, "what": "cut", "target": "a|b"},
    {"at": 9.0, "kind": "nemesis", "begins": False, "what": "cut", "target": "a|b"},
    {"at": 10.0, "kind": "healed"},
    sent(11.0, 2),
    *both(20.0, {"v.1": part(1, 2)}),
    {"at": 30.0, "kind": "settled"},
    verdict(),
]


def faults(*more, without=()):
    return judge([*[one for one in GOOD if one not in without], *more]).faults


def test_a_history_without_a_fault_is_right_and_has_its_figures():
    found = judge(GOOD)
    assert found.faults == []
    assert (found.sent, found.batches, found.looks, found.nemesis) == (4, 2, 4, {"cut": 1})
    assert found.progress_secs == 10.0


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (seen(21.0, "files", {"u.1": part(2, 2)}), "1 records twice, such as 2"),
        (seen(21.0, "files", {}, ["v.1"]), "1 records were there and are gone, such as 2"),
        (seen(21.0, "files", {"u.1": part(2, rows=1)}), "batch 2 is there in part: 0 of 1 records"),
        (seen(21.0, "rows", {"u.1": part(None, 9)}), "1 rows of u.1 belong to no write on record"),
        ({"at": 21.0, "kind": "read", "reader": "files", "missing": "f", "manifest": "m"}, "names a file"),
        (verdict(lost=1), "by x: 1 lost"),
        (verdict(doubled=2), "by x: 2 doubled"),
        (verdict(invented=3), "by x: 3 invented"),
        ({"at": 22.0, "kind": "stuck", "what": "the first batch"}, "the first batch"),
        (sent(21.0, 7), "by the reader of rows: 1 lost"),
        ({"at": 22.0, "kind": "found", "ids": [7]}, "by the reader of files: 1 lost"),
        (seen(21.0, "rows", {"u.1": part(2, 9)}), "by the reader of rows: 1 invented"),
    ],
)
def test_what_is_wrong_is_told(event, told):
    assert any(told in fault for fault in faults(event))


def test_a_part_that_is_replaced_by_one_with_the_same_records_is_right():
    assert faults(seen(21.0, "files", {"v.2": part(1, 2)}, ["v.1"])) == []


def test_without_an_end_of_the_stream_a_history_is_wrong():
    assert faults(without=[{"at": 30.0, "kind": "settled"}]) == ["no driver came to the end of the stream"]


def test_progress_that_comes_too_late_is_none():
    late = both(10.0 + PROGRESS_SECS + 1, {"v.1": part(1, 2)})
    told = faults(*late, without=both(20.0, {"v.1": part(1, 2)}))
    assert told == [
        f"no progress in {name} within {PROGRESS_SECS:.0f} s of the last fault" for name in ("files", "rows")
    ]


def ended(code: int, message: str, batches: int = 0):
    return {"at": 5.0, "kind": "ended", "host": "driver-a", "code": code, "message": message, "batches": batches}


@pytest.mark.parametrize(
    ("event", "wrong"),
    [
        (ended(4, "it belongs to process 7, which runs; stop that one"), False),
        (ended(-9, ""), False),
        (ended(1, "OSError: [Errno 22] Invalid argument Run again with -v for the stack trace."), True),
        (ended(1, "OSError: [Errno 22] Invalid argument", batches=3), False),
        (ended(-9, "") | {"losses": 1}, True),
        (ended(0, "") | {"unbalanced": ["batch 3"]}, True),
        (ended(3, "Records were lost before they could be read; set failOnDataLoss to false", batches=3), True),
        ({"at": 5.0, "kind": "ended", "host": "kafka-1", "code": 1}, False),
    ],
)
def test_a_start_that_is_refused_has_to_name_a_remedy_and_nobody_may_speak_of_losses(event, wrong):
    assert bool(faults(event)) == wrong


def test_a_start_of_which_a_process_was_killed_was_not_refused():
    kill = {"at": 4.0, "kind": "nemesis", "begins": True, "hit": True, "what": "kill", "target": "driver-a"}
    assert faults(kill, ended(1, "ConnectionRefusedError")) == []
    again = {"at": 4.5, "kind": "started", "host": "driver-a", "start": 2}
    assert faults(kill, again, ended(1, "ConnectionRefusedError")) != []


def test_a_history_that_was_kept_is_read_back_as_it_was_written(tmp_path):
    history = History(tmp_path / f"1{ENDING}")
    history.note("run", seed=1)
    history.note("sent", ids=[1, 2], malformed=0)
    history.close()
    assert [(one["kind"], one.get("ids")) for one in read(history.path)] == [("run", None), ("sent", [1, 2])]


def test_the_page_has_what_the_histories_say_that_are_kept():
    kept = sorted((ROOT / "tests" / "cluster" / "histories").glob(f"*{ENDING}"))
    page = (ROOT / "docs" / "reliability" / "cluster.md").read_text()
    assert report.as_markdown([judge(read(one)) for one in kept]) in page
