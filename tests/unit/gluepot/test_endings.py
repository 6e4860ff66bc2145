"""What the end of a run leaves in the ledger."""

import pytest

from gluepot.bookmarks import jobrun
from gluepot.job.endings import bookmarks_at_end


@pytest.mark.parametrize(
    ("error", "reasons"),
    [
        (ValueError("no amount\nin row 7"), ["the script failed: ValueError: no amount"]),
        (SystemExit(3), ["the script failed: SystemExit: 3"]),
        (SystemExit(0), []),
        (None, []),
    ],
)
def test_a_failed_run_is_noted_with_its_error(monkeypatch, error, reasons):
    noted: list[str] = []
    monkeypatch.setattr(jobrun, "end", noted.append)
    bookmarks_at_end(None, error, None)
    assert noted == reasons
