"""Reads ranges of Kinesis inside a task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gluepot.connectors.kinesis.reader import read_range
from gluepot.connectors.kinesis.settings import KinesisReadSettings
from gluepot.connectors.values import RawBatch, SourceRange


def spool_in(folder: Path | None) -> Path | None:
    """Return where the planner of a query spools what it has fetched, below the query's folder."""
    return None if folder is None else folder / "spool"


@dataclass(frozen=True, slots=True)
class KinesisTaskReader:
    """A `TaskReader`; clients live in the process that uses them.

    Args:
        settings: settings of the read.
        folder: the folder that driver, planner and the tasks on their machine share; None before there is a query.
    """

    settings: KinesisReadSettings
    folder: Path | None = None

    def read(self, wanted: SourceRange) -> Iterator[RawBatch]:
        """See `TaskReader`."""
        return read_range(self.settings, spool_in(self.folder), wanted)

    def count(self, wanted: SourceRange) -> int:
        """See `TaskReader`."""
        return sum(len(raw.values) for raw in self.read(wanted))
