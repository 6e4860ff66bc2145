"""What is published of a run of kills."""

from __future__ import annotations

from pathlib import Path

from tests.crash.checker import Verdict
from tests.crash.outcome import Kill, Outcome
from tests.crash.report import BEGIN, END, as_json, as_markdown, write_into

WORKER, GROUP = (Kill(who, "", fired=True, seen=True, batch_id=1) for who in ("worker", "group"))
MISSED = Kill("2 after the offset log", "batch.planned@1", fired=False, seen=False, batch_id=1)


def campaign(number: int, **more) -> Outcome:
    given = {"records": 10, "starts": 2, "batches": 3, "looks": 4, "kills": [WORKER, GROUP], **more}
    return Outcome(f"mixed-local-{number}", "local", "copy_clicks.py", "7", **given)


def published(*outcomes: Outcome) -> str:
    return as_markdown(as_json(7, outcomes, 61.4, {"gluepot": "0.1.0"}))


def test_campaigns_of_one_kind_of_job_are_one_row():
    text = published(campaign(0, failed_starts=1, attempts=5), campaign(1, attempts=6))
    assert "| local | copy_clicks.py | 4 | 4, 1 failed | 6 | 20 | 0 | 0 | 0 | 8 | 0 |" in text
    assert "Killed at random moments: group 2, worker 2. Attempts of batches: 11." in text
    assert ", seed 7, 61 s. gluepot 0.1.0." in text


def test_the_worse_of_two_readers_counts_and_faults_are_named():
    wrong = campaign(0, by_folder=Verdict(10, 1, 2, 0), by_manifest=Verdict(10, 3, 1, 0), faults=["the disk is odd"])
    text = published(wrong)
    assert "| 3 | 2 | 0 | 4 | 1 |" in text
    assert "- mixed-local-0: the disk is odd" in text


def test_a_kill_that_did_not_happen_is_not_counted():
    assert "| local | copy_clicks.py | 0 | 2 |" in published(campaign(0, kills=[MISSED]))


def test_a_run_is_added_behind_the_others(tmp_path: Path):
    page = tmp_path / "kills.md"
    page.write_text(f"Before.\n\n{BEGIN}\n\nFirst.\n\n{END}\n\nAfter.\n")
    write_into(page, "Second.\n", keep=True)
    assert page.read_text() == f"Before.\n\n{BEGIN}\n\nFirst.\n\nSecond.\n\n{END}\n\nAfter.\n"
