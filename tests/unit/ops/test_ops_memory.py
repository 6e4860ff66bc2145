from __future__ import annotations

import os

import pytest

from gluepot.ops.memory import Usage, usage_by_role

PAGE = os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def proc(tmp_path):
    """A /proc to which processes are added."""

    def add(pid: int, parent: int, name: str, pages: int, ticks: tuple[int, int, int, int] = (0, 0, 0, 0)) -> None:
        (tmp_path / str(pid)).mkdir()
        fields = ["S", str(parent), *["0"] * 9, *map(str, ticks), *["0"] * 6, str(pages), "0"]
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) {' '.join(fields)}")

    add.folder = tmp_path
    return add


def test_processes_below_the_driver_are_told_apart_by_role(proc):
    proc(10, 1, "gluepot", 100)
    proc(11, 10, "java", 1_000)
    proc(12, 11, "python3", 50)
    proc(13, 12, "python3 (a) b", 60)
    proc(14, 10, "gluepot-forks", 100)  # shares the driver's memory
    proc(15, 14, "gluepot-planner", 30)
    proc(20, 1, "java", 9_999)
    assert usage_by_role(10, proc.folder) == {
        "driver": Usage(1, 100 * PAGE),
        "jvm": Usage(1, 1_000 * PAGE),
        "workers": Usage(3, 140 * PAGE),
    }


def test_processor_time_of_workers_that_ended_stays_with_the_workers(proc):
    per_sec = os.sysconf("SC_CLK_TCK")
    proc(10, 1, "gluepot", 1, (2 * per_sec, per_sec, 0, 0))
    proc(11, 10, "java", 1, (7 * per_sec, 0, 4 * per_sec, per_sec))
    proc(12, 11, "python3", 1, (per_sec, per_sec, 10 * per_sec, 0))
    used = usage_by_role(10, proc.folder)
    assert {role: one.cpu_secs for role, one in used.items()} == {"driver": 3.0, "jvm": 7.0, "workers": 17.0}


def test_a_process_that_ended_meanwhile_is_left_out(proc):
    proc(10, 1, "gluepot", 100)
    (proc.folder / "11").mkdir()
    assert usage_by_role(10, proc.folder)["workers"] == Usage()


def test_without_proc_nothing_is_said(tmp_path):
    assert usage_by_role(10, tmp_path / "none") == {}


def test_this_process_is_found_with_what_it_uses():
    assert usage_by_role(os.getpid())["driver"].resident_bytes > 1 << 20
