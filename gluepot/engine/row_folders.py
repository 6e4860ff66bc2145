"""The folders of this process for files of rows, in memory and on disk, and what lies in them. It imports no Spark."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from uuid import uuid4

from gluepot.core.clock import SystemClock
from gluepot.core.owned_folders import new_owned_folder
from gluepot.engine.row_files import RowFile, RowFolders

_PREFIX = "gluepot-rows-"
_MEMORY = Path("/dev/shm")  # noqa: S108  where Linux has files in memory; the folder is made with rights for us alone
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
# The share of the machine's memory that the files of a process may have.
_MEMORY_SHARE = 8

_files: dict[str, RowFile] = {}


def add(files: Iterable[RowFile]) -> None:
    """Remember files that a frame of this process reads."""
    _files.update({file.path: file for file in files})


def known_files() -> Mapping[str, RowFile]:
    """Return the files that frames of this process read, by their paths."""
    return _files


def new_folders() -> RowFolders:
    """Return folders for the files of one frame, which go with this process."""
    memory = None
    with suppress(OSError):
        if _MEMORY.is_dir():
            memory = _root(str(_MEMORY)) / uuid4().hex
            memory.mkdir()
    return RowFolders(new_folder(), str(memory) if memory else None, memory_bytes() // _MEMORY_SHARE)


def new_folder() -> str:
    """Return a new folder on disk that goes with this process."""
    folder = _root(None) / uuid4().hex
    folder.mkdir()
    return str(folder)


def memory_bytes() -> int:
    """Return how much memory this process may use at most: the machine's, or that of its container."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):  # no limit is called `max`
        return min(machine, int(_CONTAINER_LIMIT.read_text()))
    return machine


@cache
def _root(parent: str | None) -> Path:
    """Return the folder of this process, which goes with it."""
    return new_owned_folder(_PREFIX, SystemClock(), parent)
