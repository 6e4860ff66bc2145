"""How much disk space is in use, and whether enough is free."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from gluepot.core.errors import ConfigError

GIB_BYTES = 1 << 30


def require_free(folder: Path, needed_bytes: int) -> None:
    """Check that the disk of a folder, which need not exist yet, has enough free space.

    Raises:
        ConfigError: fewer than `needed_bytes` bytes are free.
    """
    existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    free_bytes = shutil.disk_usage(existing).free
    if free_bytes < needed_bytes:
        raise ConfigError(
            f"The disk of {folder} has {free_bytes / GIB_BYTES:.1f} GiB free and {needed_bytes / GIB_BYTES:.1f} GiB "
            "are needed; make room on it and run the command again.",
        )


def used_bytes(folder: Path | str) -> int:
    """Return the total size of the files below a folder; files that are removed meanwhile count as nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.stat(os.path.join(parent, name)).st_size  # noqa: PTH116, PTH118  a hot path for row files
    return total
