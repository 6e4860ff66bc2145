"""Checks a checkpoint before a query starts on it.

The message for a blocking fault names the file and the remedy. Spark alone would end in a Java exception at best, and
skip or repeat records at worst. Other faults do not matter for a start; `gluepot checkpoint doctor` reports them.
"""

from __future__ import annotations

from gluepot.core.clock import Clock
from gluepot.core.errors import CheckpointError
from gluepot.core.logging import get_logger
from gluepot.core.storage import Storage
from gluepot.streaming.checkpoints.diagnosis import diagnose
from gluepot.streaming.checkpoints.findings import Finding
from gluepot.streaming.checkpoints.power_cut import after_power_cut
from gluepot.streaming.checkpoints.repair import repair
from gluepot.streaming.checkpoints.snapshot import read, read_newest

log = get_logger(__name__)


def mend_power_cut(storage: Storage, clock: Clock) -> None:
    """Set aside what a power cut left of Spark's newest entries, where that loses and doubles no record.

    Args:
        storage: the storage of the checkpoint, whose lease the caller holds.
        clock: gives the time after which the backup folder is named.
    """
    found = after_power_cut(read(storage)) if diagnose(read_newest(storage)) else []
    backup = repair(storage, found, clock)
    for one in found:
        log.warning("checkpoint_mended", file=one.file, fault=one.what, effect=one.then, kept_in=backup)


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
