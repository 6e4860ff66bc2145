"""What the end of a run leaves in the ledger."""

from threading import Thread

import pytest

from gluepot.bookmarks import jobrun
from gluepot.core.errors import PermanentError
from gluepot.job.endings import bookmarks_at_end
from gluepot.job.run import run_to_end
from gluepot.streaming.query.session import StreamSession


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


@pytest.mark.parametrize(("code", "ending"), [("", PermanentError), ("0", PermanentError), ("3", SystemExit)])
def test_a_script_that_ends_with_sys_exit_is_judged_like_any_other(tmp_path, code, ending):
    streams = StreamSession()
    thread = Thread(target=streams.thread_failures.opened, args=("kafka orders", lambda: False))
    thread.start()
    thread.join()
    (tmp_path / "job.py").write_text(f"import sys\nsys.exit({code})\n")
    with pytest.raises(ending):
        run_to_end(tmp_path / "job.py", streams)
