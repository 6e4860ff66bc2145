"""The budget of processor time of `make test`: what is measured, compared and printed."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from scripts.test_budget import Budget, excesses, read, report, write
from scripts.test_run import file_secs
from tests.processor_time import ProcessorTimes

BUDGET = Budget(100.0, {"tests/e2e/test_a.py": 40.0, "tests/unit/test_b.py": 2.0})
WITHIN = {"tests/e2e/test_a.py": 79.9, "tests/unit/test_b.py": 11.9, "tests/unit/test_new.py": 9.9}

ORPHAN = """
import os, sys, time
if os.fork() == 0:
    if os.fork() == 0:
        while time.process_time() < 0.3: pass
        os.write(1, b".")
    os._exit(0)
os.wait()
"""
MEASURE = f"""
import subprocess, sys
from scripts.reaping import Children, adopt_orphans, used_secs
import os
os.environ["PYTEST_CURRENT_TEST"] = "tests/a.py::b (call)"
adopt_orphans()
children = Children()
children.start([sys.executable, "-S", "-c", {ORPHAN!r}])
failed = children.start([sys.executable, "-S", "-c", "raise SystemExit(3)"])
assert children.wait(failed) == 3
children.wait_for_orphans(60)
print(used_secs(), *children.orphan_secs, *children.orphan_secs.values())
"""


def test_a_run_within_the_budget_is_not_named():
    assert excesses(150.0, WITHIN, BUDGET) == []


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"tests/e2e/test_a.py": 80.1}, "tests/e2e/test_a.py took 80.1 units of processor time; its share is 40.0."),
        ({"tests/unit/test_b.py": 12.1}, "tests/unit/test_b.py took 12.1 units of processor time; its share is 2.0."),
        (
            {"tests/unit/test_new.py": 12.0},
            "tests/unit/test_new.py took 12.0 units of processor time; its share is 0.0.",
        ),
    ],
)
def test_a_file_over_its_share_is_named(files, sentence):
    assert excesses(100.0, files, BUDGET) == [sentence]


def test_the_file_that_grew_most_comes_first_and_the_total_last():
    assert [line.split()[0] for line in excesses(151.0, {"b": 11.0, "a": 20.0}, BUDGET)] == ["a", "b", "The"]


def test_a_recorded_run_is_within_its_own_budget(tmp_path):
    write(75.4, {**WITHIN, "tests/unit/test_cheap.py": 0.4}, tmp_path / "budget.json")
    budget = read(tmp_path / "budget.json")
    assert budget == Budget(75, WITHIN)
    assert excesses(75.4, {**WITHIN, "tests/unit/test_cheap.py": 0.4}, budget) == []


def test_the_report_adds_up_folders_and_shows_what_belongs_to_no_test():
    secs = {"tests/e2e/test_a.py": 20.0, "tests/unit/x/test_b.py": 4.0, "tests/unit/test_c.py": 2.0, "collection": 4.0}
    assert report(40.0, secs, 2.0) == [
        "Processor time (a unit is 2.00 s on this machine):",
        "folder           secs    units",
        "collection          4      2.0",
        "e2e                20     10.0",
        "unit                6      3.0",
        "elsewhere          10      5.0",
        "all                40     20.0",
        "The 25 most expensive files:",
        "   20.0 s  tests/e2e/test_a.py",
        "    4.0 s  tests/unit/x/test_b.py",
        "    4.0 s  collection",
        "    2.0 s  tests/unit/test_c.py",
    ]


def test_each_file_gets_what_was_used_since_the_one_before(tmp_path):
    clock = iter([2.0, 5.0, 4.0])  # the last is lower: a process has lost its parent
    times = ProcessorTimes(tmp_path / "1.jsonl", lambda: next(clock))
    for test in ("a.py::x", "a.py::y", "b.py::x"):
        protocol = times.pytest_runtest_protocol(SimpleNamespace(nodeid=test))
        next(protocol)
    times.pytest_sessionfinish()
    (tmp_path / "2.jsonl").write_text(json.dumps({"name": "a.py", "secs": 1.5}) + "\n")
    assert file_secs(tmp_path) == {"collection": 2.0, "a.py": 4.5, "b.py": 0.0}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere orphans are not adopted")
def test_the_time_of_processes_without_a_parent_counts():
    measured = subprocess.run([sys.executable, "-c", MEASURE], check=True, capture_output=True, text=True).stdout
    orphans, all_secs, file, orphan_secs = measured[:1], *measured[1:].split()
    assert (orphans, file) == (".", "tests/a.py")
    assert 0.3 < float(orphan_secs) < float(all_secs)
