"""The disk of a simulated machine, behind the port that the product's local storage uses.

What is not flushed may be lost when the power goes: of a file everything after its last `sync`, of a folder each change
of its names since its last `sync_folder`. A power cut draws what survives.
"""

from __future__ import annotations

import errno
import io
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from tests.model.changes import Change
from tests.simulate import threads
from tests.simulate.world import World

TEMPORARY = "tmp"
"""How the names of files end that get their own name when they are written."""


@dataclass(eq=False)
class Inode:
    """The contents of a file, and those of them that are on the disk for certain."""

    data: bytes = b""
    synced: bytes = b""
    lock: object = None


@dataclass(eq=False)
class Folder:
    """A folder: its names now, its names on the disk, and the changes in between."""

    names: dict[str, Node] = field(default_factory=dict)
    kept: dict[str, Node] = field(default_factory=dict)
    pending: list[tuple[str, Node | None]] = field(default_factory=list)

    def change(self, name: str, node: Node | None) -> None:
        """Give a name to something, or remove it."""
        self.pending.append((name, node))
        _put(self.names, name, node)

    def sync(self) -> None:
        """Make the names survive."""
        self.kept = dict(self.names)
        self.pending.clear()


Node = Inode | Folder


class Disk:
    """The disk of one machine, shared by its processes."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.root = Folder()
        self.full_until = 0.0

    def find(self, path: Path) -> Node:
        """Return what has a name; raise FileNotFoundError if nothing has."""
        node: Node = self.root
        for part in path.parts[1:]:
            if not isinstance(node, Folder):
                raise NotADirectoryError(errno.ENOTDIR, "Not a directory", str(path))
            try:
                node = node.names[part]
            except KeyError:
                raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path)) from None
        return node

    def folder(self, path: Path) -> Folder:
        """Return a folder; raise as `find`."""
        node = self.find(path)
        if not isinstance(node, Folder):
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory", str(path))
        return node

    def inode(self, path: Path) -> Inode:
        """Return a file; raise as `find`."""
        node = self.find(path)
        if not isinstance(node, Inode):
            raise IsADirectoryError(errno.EISDIR, "Is a directory", str(path))
        return node

    def room(self, path: Path) -> None:
        """Raise if the disk is full at present."""
        if self.world.now < self.full_until:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))

    def cut(self) -> None:
        """Lose the power: from now on there is only what had reached the disk, and some of the rest."""
        chance = self.world.faults
        seen: dict[Inode, None] = {}

        def survive(folder: Folder) -> None:
            for name, node in folder.pending:
                if chance.random() < 0.5:
                    _put(folder.kept, name, node)
            folder.names = dict(folder.kept)
            folder.pending.clear()
            for node in folder.names.values():
                if isinstance(node, Folder):
                    survive(node)
                elif node not in seen:
                    seen[node] = None
                    node.lock = None
                    if node.data != node.synced:
                        kept = chance.choice((0, len(node.synced), chance.randrange(len(node.data) + 1)))
                        node.data = node.data[: max(kept, 0)] if node.data.startswith(node.synced) else node.synced
                        node.synced = node.data

        survive(self.root)


def _put(names: dict[str, Node], name: str, node: Node | None) -> None:
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


@dataclass(eq=False, frozen=True)
class DiskView:
    """The disk as one process uses it: each call takes time, and the process may die in it."""

    disk: Disk
    process: threads.Process
    flushed: set[Path] = field(default_factory=set)

    def _act(self, what: str, path: Path) -> None:
        self.disk.world.act(self.process, what, str(path), longest_secs=0.002)

    def _tell(self, what: str, path: Path, data: bytes = b"", source: Path | None = None) -> None:
        self.disk.world.tell(
            Change(self.process.title, what, str(path)[1:], data, "" if source is None else str(source)[1:])
        )

    def read(self, path: Path) -> bytes:
        self._act("read", path)
        return self.disk.inode(path).data

    def open(self, path: Path) -> BinaryIO:
        self._act("open", path)
        return io.BytesIO(self.disk.inode(path).data)

    def create(self, path: Path) -> NewFile:
        self._act("create", path)
        folder = self.disk.folder(path.parent)
        if path.name in folder.names:
            raise FileExistsError(errno.EEXIST, "File exists", str(path))
        self.disk.room(path)
        inode = Inode()
        folder.change(path.name, inode)
        return NewFile(self, path, inode)

    def link(self, old: Path, new: Path) -> None:
        self._act("link", new)
        folder, inode = self.disk.folder(new.parent), self.disk.inode(old)
        if new.name in folder.names:
            self._tell("exists", new, inode.data)
            raise FileExistsError(errno.EEXIST, "File exists", str(new))
        self.disk.room(new)
        folder.change(new.name, inode)
        self._tell("created", new, inode.data)

    def rename(self, old: Path, new: Path) -> None:
        self._act("rename", new)
        try:
            folder, node = self.disk.folder(new.parent), self.disk.find(old)
        except FileNotFoundError:
            self._tell("missed", new, source=old)
            raise
        folder.change(new.name, node)
        self.disk.folder(old.parent).change(old.name, None)
        if old.name.endswith(TEMPORARY) and isinstance(node, Inode):
            self._tell("put", new, node.data)
        else:
            self._tell("moved", new, source=old)

    def unlink(self, path: Path) -> None:
        self._act("unlink", path)
        self.disk.inode(path)
        self.disk.folder(path.parent).change(path.name, None)
        if not path.name.endswith(TEMPORARY):
            self._tell("deleted", path)

    def is_folder(self, path: Path) -> bool:
        try:
            return isinstance(self.disk.find(path), Folder)
        except OSError:
            return False

    def make_folder(self, path: Path) -> None:
        self._act("make_folder", path)
        parent = self.disk.folder(path.parent)
        if path.name not in parent.names:
            self.disk.room(path)
            parent.change(path.name, Folder())

    def remove_folder(self, path: Path) -> None:
        self._act("remove_folder", path)
        if self.disk.folder(path).names:
            raise OSError(errno.ENOTEMPTY, "Directory not empty", str(path))
        self.disk.folder(path.parent).change(path.name, None)

    def sync_all(self, files: Collection[Path], folders: Collection[Path]) -> None:
        for sync, paths in ((self._sync_file, files), (self.sync_folder, folders)):
            for path in paths:
                with suppress(FileNotFoundError):
                    sync(path)

    def _sync_file(self, path: Path) -> None:
        self._act("sync_file", path)
        inode = self.disk.inode(path)
        if self.disk.world.flushes:
            inode.synced = inode.data

    def sync_folder(self, path: Path) -> None:
        self._act("sync_folder", path)
        folder = self.disk.folder(path)
        if self.disk.world.flushes:
            folder.sync()

    def walk(self, path: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
        folders, files = self.inside(path)
        for name in folders:
            yield from self.walk(path / name)
        yield path, folders, files

    def inside(self, path: Path) -> tuple[list[str], list[str]]:
        self._act("inside", path)
        try:
            names = self.disk.folder(path).names
        except FileNotFoundError:
            return [], []
        folders = [name for name, node in names.items() if isinstance(node, Folder)]
        return folders, [name for name, node in names.items() if isinstance(node, Inode)]

    def lock(self, path: Path) -> HeldLock | None:
        self._act("lock", path)
        folder = self.disk.folder(path.parent)
        if path.name not in folder.names:
            folder.change(path.name, Inode())
        inode = self.disk.inode(path)
        if inode.lock is not None:
            return None
        held = HeldLock(inode)
        inode.lock = held
        self.process.at_death.append(held.close)
        return held


@dataclass(eq=False)
class HeldLock:
    """A lock on a file; it ends with the process that holds it."""

    inode: Inode

    def close(self) -> None:
        if self.inode.lock is self:
            self.inode.lock = None


@dataclass(eq=False)
class NewFile:
    """A file that a process writes."""

    view: DiskView
    path: Path
    inode: Inode

    def write(self, data: bytes | memoryview) -> int:
        given = bytes(data)
        try:
            self.view.disk.room(self.path)
        except OSError:
            self.inode.data += given[: len(given) // 2]
            raise
        self.inode.data += given
        return len(given)

    def sync(self) -> None:
        self.view._act("sync", self.path)
        if self.view.disk.world.flushes:
            self.inode.synced = self.inode.data
        if not self.path.name.endswith(TEMPORARY):
            self.view._tell("put", self.path, self.inode.data)

    def close(self) -> None:
        pass
