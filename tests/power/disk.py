"""A disk that loses power, as values: what every reader sees now, and what is certain to be there afterwards.

The rules, and where each of them comes from:

- **Data.** A write is in memory until `fsync` or `fdatasync` of the file returns, or until a write through a descriptor
  with O_SYNC or O_DSYNC returns (POSIX, `fsync`, "Synchronized I/O Data Integrity Completion"). Before that each page of
  4 KiB is on the disk in any of the versions it has had since the last flush, whatever the order of the writes: the
  kernel writes pages back when it likes (Pillai et al., "All File Systems Are Not Created Equal", OSDI 2014, call it
  persistence without atomicity or order). A page may be torn between two sectors of 512 bytes, which disks write whole.
- **Length.** It is on the disk in any of the values it has had since the last flush; what lies before it and was not
  written back reads as zeros.
- **Names.** A created, renamed or removed name is durable after `fsync` of the folder that holds it. POSIX says nothing
  of names in `fsync` of a file (Linux' fsync(2): "an explicit fsync() on a file descriptor for the directory is also
  needed"). A rename within a folder is one change, so a reader finds the old or the new file under a name that is
  replaced. One between folders is two changes, of which any may survive alone.
- **Data and names know nothing of each other.** A name may survive and its data not, so the file is empty, short or full
  of zeros.

Those are the rules of `STRICT`. A file system `LIKE_EXT4`, in its default mode `data=ordered`, promises more:

- Changes of names reach the disk in the order in which they were made, because they share one journal. `fsync` of a
  file or folder makes all changes up to the last one that concerns it durable (CrashMonkey, OSDI 2018, section 5;
  ext4's journal even takes those that follow in the same transaction).
- Data is written before a new length of its file is in the journal: a file that grew has a part of its new data from the
  start on, and no zeros.
- If a file takes the place of another one by a rename, its data is written before the rename is (the mount option
  `auto_da_alloc`, Documentation/admin-guide/ext4.rst). A rename to a new name has no such promise.

In neither does time help: a kernel would write everything back after about 30 s, this disk never does. Owner, mode and
times are durable at once; nothing under test depends on them.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Literal

Mode = Literal["strict", "ext4"]
STRICT: Mode = "strict"
LIKE_EXT4: Mode = "ext4"

PAGE, SECTOR = 4096, 512

# Of a page that is written often between two flushes: the newest versions, and the oldest is the one on the disk.
MOST_VERSIONS = 4
TORN_SHARE = 0.1
"""Of pages that have several versions, how many are a mixture of two."""

_ids = count(2)


@dataclass(eq=False)
class Node:
    """A file, a folder or a symbolic link.

    Args:
        mode: type and permissions, as `stat` has them.
        uid: the owner.
        gid: the owner's group.
        number: the inode number.
        data: of a file, as a reader sees it now; of a link, where it leads.
        kept: of a file, what is certainly on the disk.
        pages: versions of each page that was written since the last flush, oldest first.
        lengths: what the file's length has been since the last flush.
        names: of a folder, as a reader sees them now.
        kept_names: of a folder, those that are certainly on the disk.
        links: how many names it has.
        changes: counts the changes of its data.
    """

    mode: int
    uid: int = 0
    gid: int = 0
    number: int = field(default_factory=lambda: next(_ids))
    data: bytearray = field(default_factory=bytearray)
    kept: bytearray = field(default_factory=bytearray)
    pages: dict[int, list[bytes]] = field(default_factory=dict)
    lengths: list[int] = field(default_factory=list)
    names: dict[bytes, Node] = field(default_factory=dict)
    kept_names: dict[bytes, Node] = field(default_factory=dict)
    links: int = 0
    changes: int = 0
    atime_ns: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)

    def write(self, offset: int, data: bytes | memoryview) -> None:
        end = offset + len(data)
        if offset > len(self.data):
            self._grow(offset)
        self.data[offset:end] = data
        self._changed(offset, end)

    def truncate(self, length: int) -> None:
        old = len(self.data)
        if length > old:
            self._grow(length)
        else:
            del self.data[length:]
        self._changed(min(old, length), max(old, length))

    def _grow(self, length: int) -> None:
        old = len(self.data)
        self.data += bytes(length - old)
        self._changed(old, length)

    def _changed(self, start: int, end: int) -> None:
        self.changes += 1
        for page in range(start // PAGE, -(-end // PAGE)):
            versions = self.pages.setdefault(page, [])
            versions.append(bytes(self.data[page * PAGE : (page + 1) * PAGE]))
            if len(versions) > MOST_VERSIONS:
                del versions[0]
        if not self.lengths or self.lengths[-1] != len(self.data):
            self.lengths.append(len(self.data))

    @property
    def is_dirty(self) -> bool:
        return bool(self.pages or self.lengths)

    def flush(self) -> None:
        """Make the data durable."""
        for page in self.pages:
            part = slice(page * PAGE, (page + 1) * PAGE)
            if part.start < len(self.data):
                if part.start > len(self.kept):
                    self.kept += bytes(part.start - len(self.kept))
                self.kept[part] = self.data[part]
        del self.kept[len(self.data) :]
        self.kept += bytes(len(self.data) - len(self.kept))
        self.pages.clear()
        self.lengths.clear()


@dataclass(eq=False, slots=True)
class Change:
    """Names of one folder, or of two that change together.

    Args:
        folder: `fsync` of this one makes the change durable.
        names: what the names become; None: nothing.
        about: what else it concerns.
        replaced_by: of a rename that replaces a file: the new one, what it held at that moment, and its `changes` then.
    """

    folder: Node
    names: Sequence[tuple[Node, bytes, Node | None]]
    about: Collection[Node] = ()
    replaced_by: tuple[Node, bytes, int] | None = None


class Luck:
    """Chooses what survives.

    Args:
        chance: of everything.
    """

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        # Nothing, everything, and shares between: the edges show most faults, and a fair coin alone hardly ever meets
        # them where many changes are pending.
        self._share = chance.choice([0.0, 0.0, 1.0, chance.random(), chance.random(), chance.random()])

    def reached(self) -> bool:
        """Whether one change has reached the disk."""
        return self.chance.random() < self._share

    def upto(self, last: int) -> int:
        """How many of some ordered changes have reached the disk."""
        if self._share in {0.0, 1.0}:
            return int(self._share) * last
        return self.chance.randint(0, last)


class Disk:
    """A file system in memory.

    Args:
        mode: its rules.
        root: the top folder; a new, empty one by default.
    """

    def __init__(self, mode: Mode, root: Node | None = None) -> None:
        self.mode = mode
        self.root = root or Node(stat.S_IFDIR | 0o755, number=1, links=2)
        self.pending: list[Change] = []

    def make(self, folder: Node, name: bytes, node: Node) -> Node:
        """Give a new node its first name.

        Raises:
            FileExistsError: the name is taken.
        """
        if name in folder.names:
            raise FileExistsError(name)
        node.links = 2 if node.is_folder else 1
        self._change(Change(folder, [(folder, name, node)], [node]))
        return node

    def link(self, node: Node, folder: Node, name: bytes) -> None:
        if name in folder.names:
            raise FileExistsError(name)
        node.links += 1
        self._change(Change(folder, [(folder, name, node)], [node]))

    def remove(self, folder: Node, name: bytes) -> None:
        node = folder.names[name]
        node.links = 0 if node.is_folder else node.links - 1
        self._change(Change(folder, [(folder, name, None)], [node]))

    def rename(self, folder: Node, name: bytes, target: Node, new: bytes) -> None:
        node, replaced = folder.names[name], target.names.get(new)
        if node is replaced:
            return
        if replaced is not None:
            replaced.links = 0 if replaced.is_folder else replaced.links - 1
        gone, come = (folder, name, None), (target, new, node)
        flushed = None
        if self.mode == LIKE_EXT4 and replaced is not None:
            flushed = node, bytes(node.data), node.changes
        if folder is target or self.mode == LIKE_EXT4 or node.is_folder:
            self._change(Change(target, [gone, come], [folder, node], flushed))
        else:
            self._change(Change(target, [come], [node]))
            self._change(Change(folder, [gone], [node]))

    def _change(self, change: Change) -> None:
        self.pending.append(change)
        for folder, name, node in change.names:
            _put(folder.names, name, node)

    def sync_data(self, file: Node) -> None:
        """Do `fsync` or `fdatasync` of a file."""
        file.flush()
        if self.mode == LIKE_EXT4:
            self._commit_journal(file)

    def sync_folder(self, folder: Node) -> None:
        """Do `fsync` of a folder."""
        if self.mode == LIKE_EXT4:
            self._commit_journal(folder)
            return
        for change in self.pending:
            if change.folder is folder:
                _keep(change)
        self.pending = [one for one in self.pending if one.folder is not folder]

    def _commit_journal(self, node: Node) -> None:
        concerned = (n for n, one in enumerate(self.pending) if one.folder is node or node in one.about)
        last = max(concerned, default=-1)
        for change in self.pending[: last + 1]:
            if change.replaced_by is not None:
                change.replaced_by[0].flush()
            _keep(change)
        del self.pending[: last + 1]

    def survivors(self, chance: Random) -> Disk:
        """Return the disk as it is when the power is back; this one stays as it is."""
        luck = Luck(chance)
        if self.mode == LIKE_EXT4:
            reached = self.pending[: luck.upto(len(self.pending))]
        else:
            reached = [one for one in self.pending if luck.reached()]
        names: dict[Node, dict[bytes, Node]] = {}
        certain: dict[Node, bytes] = {}
        for change in reached:
            for folder, name, node in change.names:
                _put(names.setdefault(folder, dict(folder.kept_names)), name, node)
            if change.replaced_by is not None:
                file, data, changes = change.replaced_by
                certain[file] = bytes(file.data) if file.changes == changes else data
        return Disk(self.mode, _survived(self.root, names, certain, luck, self.mode, {}))

    def walk(self) -> Iterator[tuple[bytes, Node]]:
        """Yield every node below the top with its path."""
        waiting = [(b"", self.root)]
        while waiting:
            path, folder = waiting.pop()
            for name, node in folder.names.items():
                yield path + name, node
                if node.is_folder:
                    waiting.append((path + name + b"/", node))


def _put(names: dict[bytes, Node], name: bytes, node: Node | None) -> None:
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


def _keep(change: Change) -> None:
    for folder, name, node in change.names:
        _put(folder.kept_names, name, node)


def _survived(
    node: Node,
    names: dict[Node, dict[bytes, Node]],
    certain: dict[Node, bytes],
    luck: Luck,
    mode: Mode,
    done: dict[Node, Node],
) -> Node:
    """Return what a node has become; it is the same one under each of its names, `done` knows them."""
    if node in done:
        done[node].links += not node.is_folder
        return done[node]
    new = Node(node.mode, node.uid, node.gid, node.number, links=2 if node.is_folder else 1)
    new.atime_ns, new.mtime_ns, new.ctime_ns = node.atime_ns, node.mtime_ns, node.ctime_ns
    done[node] = new
    if node.is_folder:
        there = names.get(node, node.kept_names)
        new.names = {name: _survived(one, names, certain, luck, mode, done) for name, one in there.items()}
        new.kept_names = dict(new.names)
    elif stat.S_ISLNK(node.mode):
        new.data = bytearray(node.data)
    else:
        new.data = bytearray(certain[node]) if node in certain else _data(node, luck, mode)
        new.kept = bytearray(new.data)
    return new


def _data(file: Node, luck: Luck, mode: Mode) -> bytearray:
    if not file.is_dirty:
        return bytearray(file.kept)
    length = _length(file, luck, mode)
    data = bytearray(file.kept[:length])
    data += bytes(length - len(data))
    for page, versions in sorted(file.pages.items()):
        start = page * PAGE
        if start >= length:
            continue
        grown = mode == LIKE_EXT4 and start >= len(file.kept)
        old = bytes(data[start : start + PAGE])
        new = versions[-1] if grown else _version(old, versions, luck)
        data[start : start + PAGE] = new.ljust(PAGE, b"\0")[: min(PAGE, length - start)]
    return data


def _length(file: Node, luck: Luck, mode: Mode) -> int:
    old, new = len(file.kept), len(file.data)
    if mode == LIKE_EXT4 and new > old:
        return old + luck.upto(new - old)
    lengths = [old, *file.lengths]
    return lengths[luck.upto(len(lengths) - 1)]


def _version(old: bytes, versions: Sequence[bytes], luck: Luck) -> bytes:
    if not luck.reached():
        return old
    new = luck.chance.choice([versions[-1], *versions])
    if luck.chance.random() >= TORN_SHARE:
        return new
    at = luck.chance.randrange(0, PAGE, SECTOR)
    return new[:at].ljust(at, b"\0") + old[at:]
