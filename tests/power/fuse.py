"""Answers the kernel's requests for a mounted `Disk`: the protocol of /dev/fuse, without libfuse.

We speak it ourselves because every binding needs libfuse, which neither a new machine nor PyPI has, and because the
file system has to stop in the middle of a request. The numbers are those of Linux' include/uapi/linux/fuse.h,
version 7.31.

The kernel keeps pages in its cache and passes each `write` on at once. Pages that were written through a shared mapping
reach us when the kernel writes them back, at `fsync` or `msync` at the latest; before that they die with the power, as
they do on a disk. `sync_file_range` reaches no file system and promises nothing; `sync` and `syncfs` do not reach ours,
so a program that relied on them would be taken for one that flushes nothing. Locks are the kernel's own.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.power.disk import Disk, Node

DEVICE = Path("/dev/fuse")

LIBC = ctypes.CDLL(None, use_errno=True)
NO_SETUID, NO_DEVICES = 2, 4
FORCE, DETACH = 1, 2

IN, OUT = struct.Struct("<IIQQIIIHH"), struct.Struct("<IiQ")
ATTRIBUTES, ENTRY, ATTRIBUTES_FOR = struct.Struct("<6Q10I"), struct.Struct("<4Q2I"), struct.Struct("<Q2I")
INIT, OPENED, WRITTEN = struct.Struct("<IIIIHHIIHHI7I"), struct.Struct("<QIi"), struct.Struct("<II")
READ, WRITE = struct.Struct("<QQIIQII"), struct.Struct("<QQIIQII")
SET, TWO, FOUR, PAIR = struct.Struct("<IIQQQQQQ8I"), struct.Struct("<II"), struct.Struct("<IIII"), struct.Struct("<QQ")
RENAME, ENTRY_OF_FOLDER, STATISTICS = struct.Struct("<QII"), struct.Struct("<QQII"), struct.Struct("<5Q10I")
EIGHT = struct.Struct("<Q")

MOST_BYTES = 1 << 20
FLAGS = 1 << 0 | 1 << 5 | 1 << 18 | 1 << 22  # ASYNC_READ, BIG_WRITES, PARALLEL_DIROPS, MAX_PAGES
FOR_EVER = 1 << 30  # nobody but this kernel changes anything, so it may keep what it knows
SET_MODE, SET_UID, SET_GID, SET_LENGTH, SET_ATIME, SET_MTIME, NOW_ATIME, NOW_MTIME = 1, 2, 4, 8, 16, 32, 128, 256
RENAME_KEEP = 1
SYNCED = os.O_SYNC | os.O_DSYNC

LONGEST_CUT_SECS = 300.0
"""Whoever waits for so long for the power to come back gets an error: nothing else could end a process of a test then."""

# What changes the disk. The power can be cut before the n-th of them.
ACTIONS = {4, 6, 8, 9, 10, 11, 12, 13, 16, 20, 30, 45}


class Unsupported(OSError):
    """The kernel is told that we do not know a request; for most of them it then does something sensible itself."""

    def __init__(self) -> None:
        super().__init__(errno.ENOSYS, "unsupported")


class Mount:
    """A disk, mounted on a folder until it is cut off.

    Args:
        disk: what it shows.
        folder: where; root alone may mount.
        cut_after: how many actions happen before the power is lost; None for no such moment.
        longest_cut_secs: after so long without power, the mount is taken away.
    """

    def __init__(
        self, disk: Disk, folder: Path, cut_after: int | None = None, longest_cut_secs: float = LONGEST_CUT_SECS
    ) -> None:
        self.disk = disk
        self.actions = 0
        self.asked: Counter[int] = Counter()
        self.cut_after = cut_after
        self.lost_power = threading.Event()
        self._gate = threading.Lock()
        self._leaving = threading.Lock()
        self._left = threading.Event()
        self._folder = folder
        self._nodes: dict[int, Node] = {1: disk.root}
        self._looked_up: Counter[int] = Counter()
        self._listings: dict[int, list[tuple[bytes, Node]]] = {}
        self._answers: dict[int, Callable[[Node, memoryview, tuple[int, int]], bytes]] = {
            1: self._look_up, 3: self._attributes, 4: self._set, 5: self._follow, 6: self._make_link, 8: self._make_file,
            9: self._make_folder, 10: self._remove_file, 11: self._remove_folder, 12: self._rename_plainly,
            13: self._link, 15: self._read, 16: self._write, 17: self._statistics, 20: self._sync_data,
            26: self._initialise, 27: self._open_folder, 28: self._list, 29: self._close_folder, 30: self._sync_folder,
            45: self._rename,
        }  # fmt: skip
        self._device = os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self._device},rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions"
        if LIBC.mount(b"power", str(folder).encode(), b"fuse", NO_SETUID | NO_DEVICES, options.encode()):
            number = ctypes.get_errno()
            os.close(self._device)
            raise OSError(number, os.strerror(number), str(folder))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        threading.Thread(target=self._watch, args=(longest_cut_secs,), daemon=True).start()

    def cut(self) -> None:
        """Answer nothing any more: whoever asks waits until it is killed."""
        with self._gate:
            self.lost_power.set()

    def leave(self) -> None:
        """Take the mount away; every open file of it is dead, and whoever waits for an answer gets an error."""
        with self._leaving:
            if self._left.is_set():
                return
            self.cut()
            self._left.set()
            LIBC.umount2(str(self._folder).encode(), FORCE | DETACH)  # the first ends the connection, whoever waits
            self._thread.join()
            os.close(self._device)

    def _watch(self, longest_cut_secs: float) -> None:
        self.lost_power.wait()
        if not self._left.wait(longest_cut_secs):
            self.leave()

    def _serve(self) -> None:
        buffer = bytearray(MOST_BYTES + 4096)
        view = memoryview(buffer)
        while True:
            try:
                length = os.readv(self._device, [buffer])
            except OSError as error:
                if error.errno in {errno.EINTR, errno.EAGAIN, errno.ENOENT}:
                    continue
                return
            with self._gate:
                if not self._takes(view[:length]):
                    return

    def _takes(self, request: memoryview) -> bool:
        """Answer one request; False if the power is gone."""
        _, what, unique, number, uid, gid, *_ = IN.unpack_from(request)
        self.asked[what] += 1
        if what in ACTIONS and not self.lost_power.is_set():
            if self.cut_after is not None and self.actions >= self.cut_after:
                self.lost_power.set()
            self.actions += 1
        if self.lost_power.is_set():
            return False
        body = request[IN.size :]
        if what in {2, 42}:
            self._forget(what, number, body)
            return True
        if what == 36:  # an interruption of a request that we have answered by now
            return True
        fault, answer = 0, b""
        try:
            if what not in self._answers:
                raise Unsupported
            answer = self._answers[what](self._nodes[number or 1], body, (uid, gid))
        except OSError as error:
            fault = error.errno or _NUMBERS.get(type(error), errno.EIO)
        except KeyError:
            fault = errno.ENOENT
        try:
            os.writev(self._device, [OUT.pack(OUT.size + len(answer), -fault, unique), answer])
        except OSError as error:
            if error.errno != errno.ENOENT:  # whoever asked was interrupted
                return False
        return True

    def _forget(self, what: int, number: int, body: memoryview) -> None:
        if what == 2:
            forgotten = [(number, EIGHT.unpack_from(body)[0])]
        else:
            (many, _) = TWO.unpack_from(body)
            forgotten = [PAIR.unpack_from(body, TWO.size + at * PAIR.size) for at in range(many)]
        for one, times in forgotten:
            self._looked_up[one] -= times
            if self._looked_up[one] <= 0 and one != 1:
                del self._looked_up[one]
                self._nodes.pop(one, None)

    def _initialise(self, _: Node, body: memoryview, __: tuple[int, int]) -> bytes:
        _, minor, ahead, flags = FOUR.unpack_from(body)
        return INIT.pack(
            7, min(minor, 31), ahead, flags & FLAGS, 16, 12, MOST_BYTES, 1, MOST_BYTES // 4096, 0, 0, *[0] * 7
        )

    def _look_up(self, folder: Node, body: memoryview, _: tuple[int, int]) -> bytes:
        node = folder.names.get(_name(body))
        if node is None:  # it may remember that there is nothing
            return ENTRY.pack(0, 0, FOR_EVER, FOR_EVER, 0, 0) + bytes(ATTRIBUTES.size)
        return self._entry(node)

    def _entry(self, node: Node) -> bytes:
        self._nodes[node.number] = node
        self._looked_up[node.number] += 1
        return ENTRY.pack(node.number, 0, FOR_EVER, FOR_EVER, 0, 0) + _attributes(node)

    def _attributes(self, node: Node, *_: object) -> bytes:
        return ATTRIBUTES_FOR.pack(FOR_EVER, 0, 0) + _attributes(node)

    def _set(self, node: Node, body: memoryview, _: tuple[int, int]) -> bytes:
        valid, _, _, length, _, atime, mtime, _, atime_ns, mtime_ns, _, mode, _, uid, gid, _ = SET.unpack_from(body)
        now = time.time_ns()
        if valid & SET_MODE:
            node.mode = stat.S_IFMT(node.mode) | stat.S_IMODE(mode)
        if valid & SET_UID:
            node.uid = uid
        if valid & SET_GID:
            node.gid = gid
        if valid & SET_LENGTH:
            node.truncate(length)
            node.mtime_ns = now
        if valid & SET_ATIME:
            node.atime_ns = now if valid & NOW_ATIME else atime * 10**9 + atime_ns
        if valid & SET_MTIME:
            node.mtime_ns = now if valid & NOW_MTIME else mtime * 10**9 + mtime_ns
        node.ctime_ns = now
        return self._attributes(node)

    def _make(self, folder: Node, name: bytes, mode: int, owner: tuple[int, int], data: bytes = b"") -> bytes:
        node = Node(mode, *owner, data=bytearray(data))
        node.atime_ns = node.mtime_ns = node.ctime_ns = folder.mtime_ns = folder.ctime_ns = time.time_ns()
        return self._entry(self.disk.make(folder, name, node))

    def _make_file(self, folder: Node, body: memoryview, owner: tuple[int, int]) -> bytes:
        (mode, *_) = FOUR.unpack_from(body)
        return self._make(folder, _name(body[FOUR.size :]), mode, owner)

    def _make_folder(self, folder: Node, body: memoryview, owner: tuple[int, int]) -> bytes:
        (mode, _) = TWO.unpack_from(body)
        return self._make(folder, _name(body[TWO.size :]), stat.S_IFDIR | mode, owner)

    def _make_link(self, folder: Node, body: memoryview, owner: tuple[int, int]) -> bytes:
        name, leads_to, _ = bytes(body).split(b"\0", 2)
        return self._make(folder, name, stat.S_IFLNK | 0o777, owner, leads_to)

    def _follow(self, node: Node, *_: object) -> bytes:
        return bytes(node.data)

    def _remove_file(self, folder: Node, body: memoryview, _: tuple[int, int]) -> bytes:
        self.disk.remove(folder, _name(body))
        folder.mtime_ns = folder.ctime_ns = time.time_ns()
        return b""

    def _remove_folder(self, folder: Node, body: memoryview, owner: tuple[int, int]) -> bytes:
        if folder.names[_name(body)].names:
            raise OSError(errno.ENOTEMPTY, "not empty")
        return self._remove_file(folder, body, owner)

    def _rename_plainly(self, folder: Node, body: memoryview, _: tuple[int, int]) -> bytes:
        (target,) = EIGHT.unpack_from(body)
        return self._renamed(folder, target, 0, body[EIGHT.size :])

    def _rename(self, folder: Node, body: memoryview, _: tuple[int, int]) -> bytes:
        target, flags, _ = RENAME.unpack_from(body)
        return self._renamed(folder, target, flags, body[RENAME.size :])

    def _renamed(self, folder: Node, target: int, flags: int, names: memoryview) -> bytes:
        old, new, _ = bytes(names).split(b"\0", 2)
        into = self._nodes[target]
        if flags & ~RENAME_KEEP:
            raise OSError(errno.EINVAL, "exchange of names")
        if new in into.names and flags & RENAME_KEEP:
            raise FileExistsError(new)
        if new in into.names and into.names[new].names:
            raise OSError(errno.ENOTEMPTY, "not empty")
        self.disk.rename(folder, old, into, new)
        folder.mtime_ns = folder.ctime_ns = into.mtime_ns = into.ctime_ns = time.time_ns()
        return b""

    def _link(self, folder: Node, body: memoryview, _: tuple[int, int]) -> bytes:
        node = self._nodes[EIGHT.unpack_from(body)[0]]
        self.disk.link(node, folder, _name(body[EIGHT.size :]))
        return self._entry(node)

    def _read(self, node: Node, body: memoryview, _: tuple[int, int]) -> bytes:
        _, offset, length, *_ = READ.unpack_from(body)
        return bytes(node.data[offset : offset + length])

    def _write(self, node: Node, body: memoryview, _: tuple[int, int]) -> bytes:
        _, offset, length, _, _, flags, _ = WRITE.unpack_from(body)
        node.write(offset, body[WRITE.size : WRITE.size + length])
        node.mtime_ns = node.ctime_ns = time.time_ns()
        if flags & SYNCED:
            self.disk.sync_data(node)
        return WRITTEN.pack(length, 0)

    def _sync_data(self, node: Node, *_: object) -> bytes:
        self.disk.sync_data(node)
        return b""

    def _sync_folder(self, node: Node, *_: object) -> bytes:
        self.disk.sync_folder(node)
        return b""

    def _open_folder(self, *_: object) -> bytes:
        handle = max(self._listings, default=0) + 1
        self._listings[handle] = []
        return OPENED.pack(handle, 0, 0)

    def _close_folder(self, _: Node, body: memoryview, __: tuple[int, int]) -> bytes:
        del self._listings[EIGHT.unpack_from(body)[0]]
        return b""

    def _list(self, folder: Node, body: memoryview, _: tuple[int, int]) -> bytes:
        handle, offset, length, *_ = READ.unpack_from(body)
        if offset == 0:  # who lists and removes at the same time misses nothing
            self._listings[handle] = [(b".", folder), (b"..", folder), *folder.names.items()]
        answer = bytearray()
        for number, (name, node) in enumerate(self._listings[handle][offset:], start=offset + 1):
            one = ENTRY_OF_FOLDER.pack(node.number, number, len(name), stat.S_IFMT(node.mode) >> 12) + name
            one += bytes(-len(one) % 8)
            if len(answer) + len(one) > length:
                break
            answer += one
        return bytes(answer)

    def _statistics(self, *_: object) -> bytes:
        return STATISTICS.pack(1 << 28, 1 << 27, 1 << 27, 1 << 20, 1 << 19, 4096, 255, 4096, *[0] * 7)


_NUMBERS: dict[type[OSError], int] = {FileExistsError: errno.EEXIST}


def _attributes(node: Node) -> bytes:
    times = node.atime_ns, node.mtime_ns, node.ctime_ns
    return ATTRIBUTES.pack(
        node.number,
        len(node.data),
        -(-len(node.data) // 512),
        *(ns // 10**9 for ns in times),
        *(ns % 10**9 for ns in times),
        node.mode,
        node.links,
        node.uid,
        node.gid,
        0,
        4096,
        0,
    )


def _name(body: memoryview) -> bytes:
    return bytes(body).split(b"\0", 1)[0]
