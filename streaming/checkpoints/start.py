"""The look at a checkpoint before a query starts on it.

A fault that blocks is said in a sentence with file and remedy, where Spark would end in a Java exception at best and
skip or repeat records at worst. Faults that no start depends on are left to `gluepot checkpoint doctor`.
"""

from __future__ import annotations

from gluepot.core.errors import CheckpointError
from gluepot.core.storage import Storage
from gluepot.streaming.checkpoints.diagnosis import diagnose
from gluepot.streaming.checkpoints.findings import Finding
from gluepot.streaming.checkpoints.snapshot import read, read_newest


def refuse_damage(storage: Storage) -> None:
    """Make sure that a start on this checkpoint goes on exactly where the last one ended.

    Raises:
        CheckpointError: it might not; the message names the file and the remedy.
    """
    for finding in blocking(storage):
        raise CheckpointError(finding.sentence(storage.url))


def blocking(storage: Storage) -> list[Finding]:
    """Return the findings that block; everything is read only if the newest files do not agree."""
    if not diagnose(read_newest(storage)):
        return []
    return [one for one in diagnose(read(storage)) if one.blocks]
