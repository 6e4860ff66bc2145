"""Starts runs as processes of this machine, each with a folder of its own that tells what became of it."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from gluepot.core.logging import get_logger
from gluepot.core.private import make_private_folder
from gluepot.job.glue_metrics.starting import REPORTS_FOLDER
from gluepot.job.options import PROJECT_VARIABLE
from gluepot.service.decisions.log_streams import ERROR
from gluepot.service.decisions.states import Ended
from gluepot.service.launch import runner
from gluepot.service.launch.launcher import Alive, Seen, Starting, Unknown

RESULT = "result.json"
"""What a crawl has found, in its working folder."""
_TOLD = "told-to-stop"
_TAIL_BYTES = 65_536
_SAID = "error: "

log = get_logger(__name__)


class Processes:
    """The processes of runs on this machine. The folders outlive the service, so that a new one finds what runs.

    Args:
        root: the folder of the runs' folders.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._started: dict[str, subprocess.Popen[bytes]] = {}

    def folder(self, run_id: str) -> Path:
        """Return the folder of a run. It need not exist."""
        return self._root / run_id

    @property
    def reports(self) -> Path:
        """The folder in which runs report their metrics. It need not exist."""
        return self._root.with_name("metrics")

    def start(self, run_id: str, argv: Sequence[str], files: Mapping[str, bytes], environ: Mapping[str, str]) -> None:
        """Start the process of a run, unless it was started before.

        Args:
            run_id: of the run.
            argv: the command.
            files: put into the working folder, by name.
            environ: the process's environment.

        Raises:
            OSError: the folder cannot be written, or no process can be made.
        """
        folder = self.folder(run_id)
        work = folder / "work"
        make_private_folder(work)
        for name, content in files.items():
            (work / name).write_bytes(content)
        (folder / "request.json").write_text(json.dumps({"argv": list(argv), "folder": str(work)}))
        with (folder / "runner.log").open("wb") as log:
            self._started[run_id] = subprocess.Popen(
                [sys.executable, "-I", str(Path(runner.__file__)), str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**environ, REPORTS_FOLDER: str(self.reports), PROJECT_VARIABLE: ""},
                start_new_session=True,
            )

    def alive(self) -> list[str]:
        """Return the ids of all runs that have a process."""
        return [path.parent.name for path in self._root.glob("*/lock") if _is_locked(path)]

    def look(self, run_id: str, now_ms: int) -> Seen:
        """Return what the process of a run does."""
        folder = self.folder(run_id)
        started = self._started.get(run_id)
        code = None if started is None else started.poll()
        begun = _read(folder / "begun.json")
        if begun is None:
            if started is not None and code is None:
                return Starting()
            if started is not None and code != runner.ANOTHER:
                del self._started[run_id]
                return Ended(now_ms, code, f"The run could not be started: {_last_line(folder / 'runner.log')}")
            return Starting() if _is_locked(folder / "lock") else Unknown()
        alive = _is_locked(folder / "lock")
        # Read after the lock was looked at: the end is written before the lock is released.
        end = _read(folder / "ended.json")
        if end is not None:
            self._started.pop(run_id, None)
            result = _read(folder / "work" / RESULT) or {} if end["exit_code"] == 0 else {}
            return Ended(end["at_ms"], end["exit_code"], said(_tail(folder / ERROR)), result)
        return Alive(begun["at_ms"]) if alive else Ended(now_ms, None)

    def forbid(self, run_id: str) -> bool:
        """Make sure that no process of a run begins any more, even one that is being started. See `Launcher`."""
        folder = self.folder(run_id)
        try:
            make_private_folder(folder)
            return runner.forbid(folder)
        except OSError as error:
            log.warning("run_not_forbidden", run=run_id, error=str(error))
            return False

    def stop(self, run_id: str) -> None:
        """Ask the process of a run to end. It is asked once; a stream then ends between two batches."""
        folder = self.folder(run_id)
        child = _read(folder / "child.json")
        if child is not None and not (folder / _TOLD).exists() and _is_locked(folder / "lock"):
            (folder / _TOLD).touch()
            with suppress(ProcessLookupError):
                os.kill(child["pid"], signal.SIGTERM)

    def kill(self, run_id: str) -> None:
        """End the process of a run and all that it started."""
        begun, child = _read(self.folder(run_id) / "begun.json"), _read(self.folder(run_id) / "child.json")
        if begun is None or child is None or not _is_locked(self.folder(run_id) / "lock"):
            return
        # Not the group as a whole: its leader has to write down the end.
        for pid in _of_group(begun["pid"], child["pid"]):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def said(log: str) -> str:
    """Return what the end of an error log says of the failure: the last sentence of `gluepot run`, or nothing."""
    for line in reversed(log.splitlines()):
        if line.startswith(_SAID):
            return line.removeprefix(_SAID)
    return ""


def _of_group(group: int, child: int) -> list[int]:
    """Return the processes of a group without its leader; the child first, which may have started the others."""
    others = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group and int(path.parent.name) not in {group, child}:
                others.append(int(path.parent.name))
    return [child, *others]


def _is_locked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    return found


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            return file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""


def _last_line(path: Path) -> str:
    lines = _tail(path).strip().splitlines()
    return lines[-1] if lines else "its process ended at once"
