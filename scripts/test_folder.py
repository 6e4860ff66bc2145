"""python -m scripts.test_folder: make a new folder for the files of a test run, and print its path.

The product asks the disk to keep what it has written (fsync) several times in each batch and each transaction. On a
slow or busy disk, many tests spend most of their time waiting for it. No test cuts the power for real, and what a
killed process has written is there afterwards, in memory as on a disk. So the folder is in memory where there is room.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import psutil

from gluepot.core.disk import GIB_BYTES

IN_MEMORY = Path("/dev/shm")  # noqa: S108  Linux' own file system in memory; the new folder has a name of its own
FOLDER_BYTES = 4 * GIB_BYTES
"""What the files of a test run need at most, with room to spare."""
PROCESS_BYTES = 6 * GIB_BYTES
"""What its processes need at most, with room to spare."""


def fits_in_memory(free_bytes: int, available_bytes: int) -> bool:
    """Return whether the files of a test run fit into memory beside its processes.

    Args:
        free_bytes: the space left on the file system in memory. It is a limit, and takes no memory by itself.
        available_bytes: the memory that processes could still get.
    """
    return free_bytes >= FOLDER_BYTES and available_bytes >= FOLDER_BYTES + PROCESS_BYTES


def root() -> Path:
    """Return the folder to make the new one in."""
    usable = IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK | os.X_OK)
    if usable and fits_in_memory(shutil.disk_usage(IN_MEMORY).free, psutil.virtual_memory().available):
        return IN_MEMORY
    return Path(tempfile.gettempdir())


def make() -> Path:
    """Make a new folder for the files of a test run. The caller removes it."""
    return Path(tempfile.mkdtemp(prefix="gluepot-tests-", dir=root()))


if __name__ == "__main__":
    print(make())
