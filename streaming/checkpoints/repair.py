"""Changes a checkpoint; each file removed or overwritten is kept in `<checkpoint>/gluepot/backup/<time>/`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from gluepot.core.checkpoint import BACKUP
from gluepot.core.clock import Clock
from gluepot.core.storage import Storage
from gluepot.streaming.checkpoints.findings import Finding, Nothing, Rewrite, SetAside
from gluepot.streaming.checkpoints.names import checksum_of


def repair(storage: Storage, findings: Iterable[Finding], clock: Clock) -> str | None:
    """Carry out the repairs of findings; findings without a repair are skipped.

    Args:
        storage: the storage of the checkpoint. The caller makes sure that no query runs on it.
        findings: the findings of a diagnosis of the present checkpoint.
        clock: gives the time after which the backup folder is named.

    Returns:
        The backup folder's key; None if there was nothing to repair.
    """
    wanted = [one.repair for one in findings if not isinstance(one.repair, Nothing)]
    if not wanted:
        return None
    backup = backup_folder(clock)
    left = set(storage.list(""))
    for step in wanted:
        going = step.files if isinstance(step, SetAside) else (step.file, checksum_of(step.file))
        set_aside(storage, [key for key in going if key in left], backup)
        left -= set(going)
        if isinstance(step, Rewrite):
            storage.put(step.file, step.data)
    return backup


def backup_folder(clock: Clock) -> str:
    """Return the key of a backup folder named after the time, in UTC."""
    return f"{BACKUP}/{datetime.fromtimestamp(clock.epoch(), UTC):%Y%m%dT%H%M%S.%fZ}"


def set_aside(storage: Storage, keys: Sequence[str], backup: str) -> None:
    """Move files into a backup folder, in the given order."""
    for key in keys:
        storage.move([(key, f"{backup}/{key}")])
