"""The port by which the service starts, watches and stops the drivers of runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gluepot.service.decisions.states import Ended, Run


@dataclass(frozen=True, slots=True)
class Starting:
    """Its driver is being started."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """There is no driver, and there never was one."""


@dataclass(frozen=True, slots=True)
class Alive:
    """Its driver runs.

    Args:
        begun_ms: since when, in milliseconds since 1970.
    """

    begun_ms: int


Seen = Starting | Unknown | Alive | Ended


class Launcher(Protocol):
    """The drivers of runs. They outlive the service: a launcher of a new service finds them by the runs' ids."""

    def launch(self, run: Run) -> None:
        """Start the driver of a run, unless it was started before. Returns before the driver has begun.

        Raises:
            FileNotFoundError: there is no script.
            EtlError: the script cannot be fetched.
            OSError: nothing can be started here now.
        """

    def alive(self) -> list[str]:
        """Return the ids of all runs that have a driver."""

    def look(self, run_id: str, now_ms: int) -> Seen:
        """Return what the driver of a run does."""

    def forbid(self, run_id: str) -> bool:
        """Make sure that no driver of a run begins any more, even one that is being started.

        Returns:
            False if one has begun, or this cannot be made sure of now; `look` tells more.
        """

    def stop(self, run_id: str) -> None:
        """Ask the driver of a run to end. It is asked once; a stream then ends between two batches."""

    def kill(self, run_id: str) -> None:
        """End the driver of a run, and all that it started, at once."""

    def folder(self, run_id: str) -> Path:
        """Return the folder with the logs of a run. It need not exist."""

    @property
    def reports(self) -> Path:
        """The folder in which runs report their metrics. It need not exist."""
