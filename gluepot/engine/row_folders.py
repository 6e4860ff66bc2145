"""The folders of this process for files of rows, in memory and on disk, and what lies in them. It imports no Spark."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

from gluepot.core.clock import SystemClock
from gluepot.core.disk import used_bytes
from gluepot.core.memory import memory_bytes
from gluepot.core.owned_folders import new_owned_folder
from gluepot.engine.row_files import RowFile, RowFolders

_PREFIX = "gluepot-rows-"
_MEMORY = Path("/dev/shm")  # noqa: S108  where Linux has files in memory; the folder is made with rights for us alone
# The share of the machine's memory that the files of a process may have.
_MEMORY_SHARE = 8

# Released files of DataFrames may have this share of what all files may have, before garbage is collected for them.
_WAITING_SHARE = 4

_files: dict[str, RowFile] = {}
_released: list[tuple[RowFolders, Sequence[Any]]] = []
_turn = Lock()
_changing = Lock()


def add(files: Iterable[RowFile]) -> None:
    """Remember files that a frame of this process reads."""
    with _changing:
        _files.update({file.path: file for file in files})


def known_files() -> Mapping[str, RowFile]:
    """Return the files that frames of this process read, by their paths."""
    return _files


def new_folders(*, in_memory: bool = True) -> RowFolders:
    """Return folders for the files of one frame, which go with this process."""
    memory = None
    with suppress(OSError):
        if in_memory and _MEMORY.is_dir():
            memory = _root(str(_MEMORY)) / uuid4().hex
            memory.mkdir()
    return RowFolders(new_folder(), str(memory) if memory else None, memory_bytes() // _MEMORY_SHARE)


def new_folder() -> str:
    """Return a new folder on disk that goes with this process."""
    folder = _root(None) / uuid4().hex
    folder.mkdir()
    return str(folder)


def remove(folders: RowFolders) -> None:
    """Remove the files of a frame."""
    for one in (folders.disk, folders.memory):
        if one is not None:
            shutil.rmtree(one, ignore_errors=True)
            with _changing:
                for path in [path for path in _files if path.startswith(f"{one}/")]:
                    del _files[path]


def release(folders: RowFolders, references: Sequence[Any], collect_garbage: Callable[[], object]) -> None:
    """Remove the files of a frame when no plan of Spark's refers to them any more, and those released before.

    Args:
        folders: where the files are.
        references: weak references of the JVM. As long as one of them holds, a DataFrame may still read the files.
        collect_garbage: makes the JVM look for what is not used any more. It does so by itself when it needs memory,
            but it does not know of these files.
    """
    with _turn:
        _released.append((folders, references))
        _sweep()
        if sum(_bytes_of(one) for one, _ in _released) > memory_bytes() // _MEMORY_SHARE // _WAITING_SHARE:
            gc.collect()  # objects of Python hold those of the JVM
            collect_garbage()
            _sweep()


def sweep() -> None:
    """Remove released files that nothing refers to any more."""
    with _turn:
        _sweep()


def _sweep() -> None:
    unused = [all(reference.get() is None for reference in references) for _, references in _released]
    for (folders, _), is_unused in zip(_released, unused, strict=True):
        if is_unused:
            remove(folders)
    _released[:] = [one for one, is_unused in zip(_released, unused, strict=True) if not is_unused]


def _bytes_of(folders: RowFolders) -> int:
    """Return the size of the files of a frame."""
    return sum(used_bytes(folder) for folder in (folders.disk, folders.memory) if folder is not None)


@cache
def _root(parent: str | None) -> Path:
    """Return the folder of this process, which goes with it."""
    return new_owned_folder(_PREFIX, SystemClock(), parent)
