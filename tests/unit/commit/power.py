"""A file system that loses power: what was not flushed is gone, in every combination.

Names and contents are kept apart, as on a disk. `sync` of a file keeps its contents, `sync_folder` the changes of names
in that folder; everything else may or may not have reached the disk.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from errno import ENOTEMPTY
from itertools import product
from pathlib import Path

from tests.unit.commit.worlds import Crash

ROOT = Path("/table")
_ALL_COMBINATIONS_UP_TO = 5


@dataclass(eq=False)
class Inode:
    data: bytes = b""
    synced: bytes = b""


FOLDER = Inode()
Change = tuple[Path, dict[Path, Inode | None]]  # the folder to flush, and what its names become


@dataclass
class PowerDisk:
    """Dies before one of its changes.

    Args:
        changes_left: how many changes happen before the crash; None for no crash.
        flushes: False for a disk whose flushes do nothing.
    """

    changes_left: int | None = None
    flushes: bool = True
    names: dict[Path, Inode] = field(default_factory=lambda: {ROOT.parent: FOLDER, ROOT: FOLDER})
    kept: dict[Path, Inode] = field(default_factory=lambda: {ROOT.parent: FOLDER, ROOT: FOLDER})
    pending: list[Change] = field(default_factory=list)
    flushed: set[Path] = field(default_factory=set)

    def survivors(self) -> Iterator[PowerDisk]:
        """Yield the disk as it may be after the power is back."""
        for lucky in _choices(len(self.pending)):
            names = dict(self.kept)
            for change, reached_disk in zip(self.pending, lucky, strict=True):
                if reached_disk:
                    _apply(names, change)
            lost = {path for path in names if any(parent not in names for parent in path.parents)}
            rebooted = {
                path: inode if inode is FOLDER else Inode(inode.synced, inode.synced)
                for path, inode in names.items()
                if path not in lost
            }
            yield PowerDisk(flushes=self.flushes, names=rebooted, kept=dict(rebooted))

    def _change(self, folder: Path, names: dict[Path, Inode | None]) -> None:
        self._step()
        self.pending.append((folder, names))
        _apply(self.names, self.pending[-1])

    def _step(self) -> None:
        if self.changes_left is not None:
            if self.changes_left == 0:
                raise Crash
            self.changes_left -= 1

    def _inode(self, path: Path) -> Inode:
        if path not in self.names:
            raise FileNotFoundError(path)
        return self.names[path]

    def read(self, path: Path) -> bytes:
        return self._inode(path).data

    def create(self, path: Path) -> PowerFile:
        if path in self.names:
            raise FileExistsError(path)
        inode = Inode()
        self._inode(path.parent)
        self._change(path.parent, {path: inode})
        return PowerFile(self, inode)

    def link(self, old: Path, new: Path) -> None:
        if new in self.names:
            raise FileExistsError(new)
        self._change(new.parent, {new: self._inode(old)})

    def rename(self, old: Path, new: Path) -> None:
        self._inode(new.parent)
        inode = self._inode(old)
        if new.parent == old.parent:
            self._change(new.parent, {old: None, new: inode})
        else:  # one step, and two folders to flush
            self._change(new.parent, {new: inode})
            self.pending.append((old.parent, {old: None}))
            _apply(self.names, self.pending[-1])

    def unlink(self, path: Path) -> None:
        self._inode(path)
        self._change(path.parent, {path: None})

    def is_folder(self, path: Path) -> bool:
        return self.names.get(path) is FOLDER

    def make_folder(self, path: Path) -> None:
        self._change(path.parent, {path: FOLDER})

    def remove_folder(self, path: Path) -> None:
        if any(one.parent == path for one in self.names):
            raise OSError(ENOTEMPTY, "Directory not empty", str(path))
        self.unlink(path)

    def sync_folder(self, path: Path) -> None:
        self._inode(path)
        self._step()
        if not self.flushes:
            return
        for change in [one for one in self.pending if one[0] == path]:
            _apply(self.kept, change)
            self.pending.remove(change)

    def sync_all(self, files: Collection[Path], folders: Collection[Path]) -> None:
        assert not files, "nothing that this world plays flushes files of others"
        for folder in folders:
            with suppress(FileNotFoundError):
                self.sync_folder(folder)

    def walk(self, path: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
        folders = [one for one, inode in self.names.items() if inode is FOLDER and one.is_relative_to(path)]
        for folder in sorted(folders, key=lambda one: -len(one.parts)):
            inside = [(one.name, inode is FOLDER) for one, inode in self.names.items() if one.parent == folder != one]
            yield folder, [name for name, below in inside if below], [name for name, below in inside if not below]

    def inside(self, path: Path) -> tuple[list[str], list[str]]:
        inside = [(one.name, inode is FOLDER) for one, inode in self.names.items() if one.parent == path != one]
        return [name for name, below in inside if below], [name for name, below in inside if not below]

    def lock(self, path: Path) -> None:
        raise NotImplementedError(path)


@dataclass
class PowerFile:
    disk: PowerDisk
    inode: Inode

    def write(self, data: bytes | memoryview) -> int:
        self.inode.data += bytes(data)
        return len(data)

    def sync(self) -> None:
        self.disk._step()
        if self.disk.flushes:
            self.inode.synced = self.inode.data

    def close(self) -> None:
        pass


def _apply(names: dict[Path, Inode], change: Change) -> None:
    for path, inode in change[1].items():
        if inode is None:
            names.pop(path, None)
        else:
            names[path] = inode


def _choices(pending: int) -> Iterator[Sequence[bool]]:
    """Yield which of the pending changes reach the disk: all combinations, of many the ones at the edges."""
    if pending <= _ALL_COMBINATIONS_UP_TO:
        yield from product([False, True], repeat=pending)
        return
    for most in (False, True):
        yield [most] * pending
        for odd in range(pending):
            yield [most if n != odd else not most for n in range(pending)]
    for kept in range(1, pending):
        yield [n < kept for n in range(pending)]
