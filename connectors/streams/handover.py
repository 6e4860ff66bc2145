"""The folder through which the driver and a source's planner exchange messages while a query runs.

Spark 4.1 plans a Python streaming source in a separate process. It tells that process neither the checkpoint nor the
starting position, and passes its exceptions to the driver only as text. So driver and planner share a small folder on
the driver's local disk, whose path is in the source's options. The driver writes `checkpoint` before it starts the
query, and `stop` when no further batch may begin. The planner writes `error` before it raises.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from gluepot.core import errors
from gluepot.core.clock import Clock, SystemClock
from gluepot.core.errors import EtlError
from gluepot.core.failpoints import reach
from gluepot.core.owned_folders import new_owned_folder

OPTION = "gluepot.handover"
_PREFIX = "gluepot-stream-"
_CLOCK = SystemClock()


@dataclass(frozen=True, slots=True)
class Handover:
    """The folder of one streaming frame."""

    folder: Path

    @classmethod
    def create(cls, clock: Clock = _CLOCK) -> Handover:
        """Make a new, empty folder in the machine's temporary folder. It is removed when this process ends.

        A process that was killed leaves its folder behind; this call removes such folders.
        """
        return cls(new_owned_folder(_PREFIX, clock))

    def begin(self, checkpoint: str) -> None:
        """Write the checkpoint of the query that is about to start, and remove what an earlier attempt left."""
        for name in ("stop", "error"):
            (self.folder / name).unlink(missing_ok=True)
        self._write("checkpoint", checkpoint)

    def checkpoint(self) -> str | None:
        """Return the checkpoint location; None if Gluepot did not start the query."""
        return self._read("checkpoint")

    def ask_stop(self) -> None:
        """Ask the planner to begin no further batch."""
        self._write("stop", "")

    def stop_asked(self) -> bool:
        """Tell whether the driver asked that no further batch begin."""
        return (self.folder / "stop").exists()

    def report(self, error: EtlError) -> None:
        """Keep an error for the driver: its class and its message."""
        self._write("error", json.dumps([type(error).__name__, str(error)]))

    def reported(self) -> EtlError | None:
        """Return the error that the planner raised, with its own class."""
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
