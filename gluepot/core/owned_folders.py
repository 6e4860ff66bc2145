"""Folders that belong to a running process: the next process that makes one removes those that a dead process left."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from gluepot.core.clock import Clock
from gluepot.core.storage.filesystem import OsFileSystem

_OWNER = "owner"
"""The owner locks this file as long as it lives; the kernel releases the lock however the process ends."""
_YOUNG_SECS = 60.0
"""A folder younger than this may exist without its lock, because its owner is just making it."""
_owned: list[BinaryIO | None] = []
_DISK = OsFileSystem()


def new_owned_folder(prefix: str, clock: Clock, parent: str | None = None) -> Path:
    """Make a new folder that only this user can read. It is removed when this process ends.

    A process that was killed leaves its folder behind; this call removes such folders of the same prefix.

    Args:
        prefix: the beginning of the folder's name.
        clock: tells how old other folders are.
        parent: where to; None for the machine's temporary folder.

    Raises:
        OSError: the folder cannot be made.
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _owned.append(_DISK.lock(folder / _OWNER))
    _remove_abandoned(folder.parent, prefix, clock.epoch())
    return folder


def _remove_abandoned(parent: Path, prefix: str, now_epoch: float) -> None:
    """Remove the folders of processes that no longer live. Folders of other users and folders without a lock stay.

    Other users can write into the machine's temporary folder, so only folders that this user made are opened at all.
    """
    for other in parent.glob(f"{prefix}*"):
        with suppress(OSError):
            found = other.lstat()
            ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
            if not ours or now_epoch - found.st_mtime < _YOUNG_SECS:
                continue
            owner = other / _OWNER
            if owner.exists() and (unused := _DISK.lock(owner)) is not None:
                with unused:
                    shutil.rmtree(other, ignore_errors=True)
