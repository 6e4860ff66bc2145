"""Checks a checkpoint before a query starts on it.

The message for a blocking fault names the file and the remedy. Spark alone would end in a Java exception at best, and
skip or repeat records at worst. Other faults do not matter for a start; `gluepot checkpoint doctor` reports them.
"""

from __future__ import annotations

from collections.abc import Sequence

from gluepot.commit import newest_state
from gluepot.core.clock import Clock
from gluepot.core.errors import CheckpointError
from gluepot.core.logging import get_logger
from gluepot.core.storage import Storage
from gluepot.streaming.checkpoints.diagnosis import diagnose
from gluepot.streaming.checkpoints.findings import Finding
from gluepot.streaming.checkpoints.late_commit import late_commit
from gluepot.streaming.checkpoints.power_cut import after_power_cut
from gluepot.streaming.checkpoints.repair import repair
from gluepot.streaming.checkpoints.snapshot import read, read_newest

log = get_logger(__name__)


def prepare(storage: Storage, clock: Clock) -> None:
    """Make sure that a query on this checkpoint continues exactly where the last run ended.

    What a power cut or a late entry of the commit log has left is set aside where that loses and doubles no record.

    Args:
        storage: the storage of the checkpoint, whose lease the caller holds.
        clock: gives the time after which the backup folder is named.

    Raises:
        CheckpointError: it might not; the message names the file and the remedy.
    """
    newest = read_newest(storage)
    if diagnose(newest):
        _set_aside(storage, after_power_cut(read(storage)), clock)
        newest = read_newest(storage)
    if _set_aside(storage, late_commit(newest, newest_state(storage).repeats), clock) or diagnose(newest):
        refuse_damage(storage)  # it looks again


def mend_late_commit(storage: Storage, clock: Clock) -> None:
    """Set aside an entry of the commit log that came while its batch runs again; see `late_commit`."""
    _set_aside(storage, late_commit(read_newest(storage), newest_state(storage).repeats), clock)


def _set_aside(storage: Storage, found: Sequence[Finding], clock: Clock) -> bool:
    backup = repair(storage, found, clock)
    for one in found:
        log.warning("checkpoint_mended", file=one.file, fault=one.what, effect=one.then, kept_in=backup)
    return bool(found)


def refuse_damage(storage: Storage) -> None:
    """Refuse a checkpoint on which a query might skip or repeat records.

    Raises:
        CheckpointError: the message names the file and the remedy.
    """
    for finding in blocking(storage):
        raise CheckpointError(finding.sentence(storage.url))


def blocking(storage: Storage) -> list[Finding]:
    """Return the findings that block; this reads the whole checkpoint only if the newest files have a fault."""
    if not diagnose(read_newest(storage)):
        return []
    return [one for one in diagnose(read(storage)) if one.blocks]
