"""A lock file that a run's process keeps locked while it lives, so that another process knows at once when it ended.

    <state>/leases/<digest of ledger and job>.lock    the owner's token, and the boot id of the kernel that has the lock

The ledger itself may be a database that has no such locks. If the file is missing or names another owner, as after a
restart in a new container or on another machine, it proves nothing; then the next run waits for the owner's heartbeat.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from gluepot.core.logging import get_logger
from gluepot.core.private import make_private_folder
from gluepot.core.statedir import state_root
from gluepot.core.storage.filesystem import OsFileSystem

_FOLDER = "leases"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_DISK = OsFileSystem()

log = get_logger(__name__)


def lock_folder(environ: Mapping[str, str]) -> Path | None:
    """Return the folder of this machine's locks; None if the user has no home, as in some containers."""
    try:
        return state_root(environ) / _FOLDER
    except RuntimeError:
        return None


class OwnerLock:
    """The lock of a job on this machine. The constructor tries once to take it; leaving the context releases it.

    Args:
        folder: folder for this machine's locks; None if there cannot be any.
        ledger: URL of the ledger; jobs of other ledgers have locks of their own.
        job: name of the job.
    """

    def __init__(self, folder: Path | None, ledger: str, job: str) -> None:
        self._path: Path | None = None
        self._file: BinaryIO | None = None
        if folder is None:
            return
        name = hashlib.sha256(f"{ledger}\n{job}".encode()).hexdigest()[:32]
        self._path = folder / f"{name}.lock"
        try:
            make_private_folder(folder)
            self._file = _DISK.lock(self._path)
        except OSError as error:  # the disk is full or read-only; the next run has to wait for this run's heartbeat
            log.info("no_owner_lock", path=str(self._path), reason=str(error))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            with suppress(OSError):  # `close` tries again to write what failed before, and closes the file anyway
                self._file.close()

    @property
    def is_ours(self) -> bool:
        """Whether no other process has the lock."""
        return self._file is not None

    def was_of(self, token: int) -> bool:
        """Tell whether the owner of a lease has locked this file under the kernel that is running now.

        A file on a network may be locked by another machine of the same name; this kernel does not know that lock.

        Args:
            token: token of the lease.
        """
        try:
            return self._path is not None and self._path.read_text() == _mark(token)
        except (OSError, UnicodeDecodeError):
            return False

    def mark(self, token: int) -> None:
        """Write the owner's token into the file, if this process has the lock."""
        if self._file is not None:
            with suppress(OSError):  # as in the constructor
                self._file.truncate(0)
                self._file.write(_mark(token).encode())
                self._file.flush()


def _mark(token: int) -> str:
    boot_id = ""
    with suppress(OSError):
        boot_id = _BOOT_ID.read_text().strip()
    return f"{token} {boot_id}"
