"""What the driver and the planner of a source tell each other while a query runs.

On Spark 4.1 a Python streaming source is planned in a process of its own that is told neither the checkpoint nor the
position to start from, and its exceptions reach the driver as text. A small folder on the driver's local disk, named in
the source's options, carries both: the driver writes `checkpoint` before it starts the query and `stop` when no further
batch may begin; the planner writes `error` before it raises.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gluepot.core import errors
from gluepot.core.clock import Clock, SystemClock
from gluepot.core.errors import EtlError
from gluepot.core.failpoints import reach
from gluepot.core.storage.filesystem import OsFileSystem

OPTION = "gluepot.handover"
_PREFIX = "gluepot-stream-"
_OWNER = "owner"
"""Locked by the driver as long as it lives; the kernel lets go of it however the driver ends."""
_YOUNG_SECS = 60.0
"""A folder may be made and not yet locked."""
_owned: list[BinaryIO | None] = []
_CLOCK = SystemClock()
_DISK = OsFileSystem()


@dataclass(frozen=True, slots=True)
class Handover:
    """The folder of one streaming frame."""

    folder: Path

    @classmethod
    def create(cls, clock: Clock = _CLOCK) -> Handover:
        """Make a new, empty one in the machine's temporary folder; it goes with this process.

        One that was killed leaves its own behind: those go here.
        """
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _owned.append(_DISK.lock(folder / _OWNER))
        _remove_abandoned(folder.parent, clock.epoch())
        return cls(folder)

    def begin(self, checkpoint: str) -> None:
        """Name the checkpoint of the query about to start, and forget what an earlier attempt left."""
        for name in ("stop", "error"):
            (self.folder / name).unlink(missing_ok=True)
        self._write("checkpoint", checkpoint)

    def checkpoint(self) -> str | None:
        """Return the checkpoint location; None when the query was not started by us."""
        return self._read("checkpoint")

    def ask_stop(self) -> None:
        """Let no further batch begin."""
        self._write("stop", "")

    def stop_asked(self) -> bool:
        """Tell whether a further batch may begin."""
        return (self.folder / "stop").exists()

    def report(self, error: EtlError) -> None:
        """Keep an error for the driver: its class and its sentence."""
        self._write("error", json.dumps([type(error).__name__, str(error)]))

    def reported(self) -> EtlError | None:
        """Return the error the planner raised, as it was."""
        text = self._read("error")
        if text is None:
            return None
        name, message = json.loads(text)
        kind: type[EtlError] = getattr(errors, name, EtlError)
        return kind(message)

    def _write(self, name: str, text: str) -> None:
        part = self.folder / f"{name}.part"
        part.write_text(text)
        reach("handover.part_written")
        part.replace(self.folder / name)

    def _read(self, name: str) -> str | None:
        try:
            return (self.folder / name).read_text()
        except FileNotFoundError:
            return None


def _remove_abandoned(folder: Path, now_epoch: float) -> None:
    """Remove the folders of drivers that are gone; those of other users stay, and so do those without a lock.

    Others can write into the machine's temporary folder, so only what this user has made there is opened at all.
    """
    for other in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            found = other.lstat()
            ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
            if not ours or now_epoch - found.st_mtime < _YOUNG_SECS:
                continue
            owner = other / _OWNER
            if owner.exists() and (unused := _DISK.lock(owner)) is not None:
                with unused:
                    shutil.rmtree(other, ignore_errors=True)
