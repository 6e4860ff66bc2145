"""The list of deliberate faults fits the product, and a run of the tester is judged by what it printed."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.differential.faults.listed import ROOT, Fault, faults
from tests.differential.faults.report import as_markdown
from tests.differential.faults.trial import Run
from tests.differential.registry import NAMES


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.name)
def test_each_fault_changes_its_file(fault):
    right = (ROOT / fault.file).read_text()
    assert fault.applied(right) != right
    assert fault.kind in NAMES


def test_there_are_fifty_faults_and_thirty_of_databases_with_names_of_their_own():
    assert len({fault.name for fault in faults()}) == 80
    assert list(Counter(fault.part for fault in faults()).values()) == [50, 30]
    assert Counter(fault.kind for fault in faults())["sql"] == 16


@pytest.mark.parametrize("text", ["", "a = 1\na = 1"])
def test_a_fault_whose_text_does_not_occur_once_is_refused(text):
    with pytest.raises(ValueError, match="correct its `old`"):
        Fault("one is two", "sql", "a.py", "a = 1", "a = 2", "casts").applied(text)


def test_a_run_is_judged_by_the_first_difference_that_nothing_explains():
    output = "first seed 3\ncsv seed 3 (explained: known)\n  case\ncsv seed 5\n  case\n"
    assert Run(1, output, 1.0).noticed("csv") == ("difference", 5)
    assert Run(1, "csv seed 4 failed\nTraceback", 1.0).noticed("csv") == ("error", 4)
    assert Run(0, "csv: 100 files", 1.0).noticed("csv") is None


def test_the_report_names_what_nothing_noticed():
    one = {
        "kind": "csv",
        "file": "a.py",
        "old": "a",
        "new": "b",
        "seed": 2,
        "secs": 3.0,
        "part": "files",
        "commit": "b",
    }
    report = {
        "at": "now",
        "seed": 1,
        "most_secs": 600.0,
        "listed": {"files": 50},
        "commit": "c",
        "faults": [{**one, "name": "csv: x", "by": "difference"}, {**one, "name": "csv: y", "by": ""}],
    }
    text = as_markdown(report)
    assert "1 of 2" in text
    assert "48 other faults" in " ".join(text.split())
    assert "Kept from earlier runs: 2 of commit b." in " ".join(text.split())
    assert "- csv: y. a.py: `a`" in text
