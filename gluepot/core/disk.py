"""Checks for free disk space before it is needed."""

from __future__ import annotations

import shutil
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
