"""Checks a checkpoint before a query starts on it.

The message for a blocking fault names the file and the remedy. Spark alone would end in a Java exception at best, and
skip or repeat records at worst. Other faults do not matter for a start; `gluepot checkpoint doctor` reports them.
"""

from __future__ import annotations

from gluepot.core.errors import CheckpointError
from gluepot.core.storage import Storage
from gluepot.streaming.checkpoints.diagnosis import diagnose
from gluepot.streaming.checkpoints.findings import Finding
from gluepot.streaming.checkpoints.snapshot import read, read_newest


def refuse_damage(storage: Storage) -> None:
    """Make sure that a query on this checkpoint continues exactly where the last run ended.

    Raises:
        CheckpointError: it might not; the message names the file and the remedy.
    """
    for finding in blocking(storage):
        raise CheckpointError(finding.sentence(storage.url))


def blocking(storage: Storage) -> list[Finding]:
    """Return the findings that block; this reads the whole checkpoint only if the newest files have a fault."""
    if not diagnose(read_newest(storage)):
        return []
    return [one for one in diagnose(read(storage)) if one.blocks]
