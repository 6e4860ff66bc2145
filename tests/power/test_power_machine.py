"""The mounted file system follows the rules of `disk`, and a program that forgets a flush is noticed on it."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.power import machine as machines
from tests.power.disk import LIKE_EXT4, STRICT, Disk
from tests.power.fuse import LIBC, Mount
from tests.power.machine import Machine

pytestmark = pytest.mark.skipif(bool(machines.missing()), reason=machines.missing())
CUTS = 25
RANGE_IS_WRITTEN = 7  # wait before, write, wait after


@pytest.fixture(params=[STRICT, LIKE_EXT4])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    with machines.machine(tmp_path / "disk", request.param) as mounted:
        yield mounted


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Machine]:
    with machines.machine(tmp_path / "disk", STRICT) as mounted:
        yield mounted


def cut(machine: Machine, number: int) -> None:
    machine.cut()
    machine.restart(f"cut {number}")


def sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def write(path: Path, data: bytes, *flags: int) -> None:
    descriptor = os.open(path, sum(flags, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 0o644)
    os.write(descriptor, data)
    os.close(descriptor)


def seen(machine: Machine, act: Callable[[Path], object]) -> set[bytes | None]:
    """What a file `a` holds after each of some cuts, None where there is none."""
    found: set[bytes | None] = set()
    for number in range(CUTS):
        act(machine.folder)
        cut(machine, number)
        path = machine.folder / "a"
        found.add(path.read_bytes() if path.exists() else None)
        path.unlink(missing_ok=True)
        sync(machine.folder)
    return found


def test_a_flushed_file_survives_and_one_that_was_not_flushed_may_not(machine):
    def flushed(folder: Path) -> None:
        write(folder / "a", b"data")
        sync(folder / "a")
        sync(folder)

    assert seen(machine, flushed) == {b"data"}
    assert {None, b"data"} < seen(machine, lambda folder: write(folder / "a", b"data"))


@pytest.mark.parametrize("flag", [os.O_SYNC, os.O_DSYNC])
def test_what_is_written_through_a_synchronous_descriptor_survives(machine, flag):
    def act(folder: Path) -> None:
        write(folder / "a", b"data", flag)
        sync(folder)

    assert seen(machine, act) == {b"data"}


def test_fdatasync_keeps_data_and_length(machine):
    def act(folder: Path) -> None:
        write(folder / "a", b"data")
        descriptor = os.open(folder / "a", os.O_WRONLY | os.O_APPEND)
        os.write(descriptor, b" and more")
        os.fdatasync(descriptor)
        os.close(descriptor)
        sync(folder)

    assert seen(machine, act) == {b"data and more"}


def test_sync_file_range_keeps_nothing(machine):
    def act(folder: Path) -> None:
        descriptor = os.open(folder / "a", os.O_CREAT | os.O_WRONLY)
        os.write(descriptor, b"data")
        assert LIBC.sync_file_range(descriptor, ctypes.c_int64(0), ctypes.c_int64(0), RANGE_IS_WRITTEN) == 0
        os.close(descriptor)
        sync(folder)

    assert {b"", b"data"} <= seen(machine, act)


@pytest.mark.parametrize("flushes", [True, False])
def test_what_is_written_through_a_mapping_survives_if_it_is_flushed(machine, flushes):
    def act(folder: Path) -> None:
        write(folder / "a", b"old!")
        sync(folder / "a")
        sync(folder)
        with (folder / "a").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
            mapped[:] = b"new!"
            if flushes:
                mapped.flush()
            else:
                cut(machine, -1)

    assert seen(machine, act) == ({b"new!"} if flushes else {b"old!"})


def test_handles_of_the_time_before_the_cut_are_dead(machine):
    descriptor = os.open(machine.folder / "a", os.O_CREAT | os.O_RDWR)
    os.write(descriptor, b"data")
    cut(machine, 1)
    for act in (lambda: os.write(descriptor, b"more"), lambda: os.fsync(descriptor)):
        with pytest.raises(OSError, match=r"not connected|aborted|Input/output"):
            act()
    with suppress(OSError):
        os.close(descriptor)


def test_a_process_stops_at_the_cut_and_its_later_actions_never_happen(strict):
    program = "import os, sys\nfor n in range(100):\n os.close(os.open(f'{sys.argv[1]}/{n}', os.O_CREAT | os.O_WRONLY))"
    strict.cut_after(7)
    with subprocess.Popen([sys.executable, "-c", program, strict.folder], start_new_session=True) as process:
        while not strict.has_lost_power:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        strict.restart("all that survives is a part of these")
    assert {int(path.name) for path in strict.folder.iterdir()} <= set(range(7))


def test_whoever_waits_too_long_for_the_power_gets_an_error(tmp_path):
    mount = Mount(Disk(STRICT), tmp_path, cut_after=0, longest_cut_secs=0.1)
    with subprocess.Popen(
        [sys.executable, "-c", f"open({str(tmp_path / 'a')!r}, 'w')"], stderr=subprocess.PIPE
    ) as process:
        _, said = process.communicate()
    mount.leave()
    assert b"OSError" in said or b"ConnectionAbortedError" in said


def test_a_folder_can_be_listed_while_its_files_are_removed(strict):
    for number in range(300):
        (strict.folder / f"file-{number}").touch()
    with os.scandir(strict.folder) as found:
        for one in found:
            Path(one.path).unlink()
    assert list(strict.folder.iterdir()) == []


def replace(path: Path, data: bytes, *, flush: bool) -> None:
    """Replace a file as every program should, or with the flush of the data left out."""
    temporary = path.with_name("temporary")
    write(temporary, data)
    if flush:
        sync(temporary)
    temporary.rename(path)
    sync(path.parent)


@pytest.mark.parametrize("flush", [True, False])
def test_a_program_that_renames_without_a_flush_is_noticed(strict, flush):
    found = seen(strict, lambda folder: replace(folder / "a", b"data", flush=flush))
    assert (found == {b"data"}) == flush
    assert (b"" in found) != flush


def transactions_lost(machine: Machine, synchronous: str) -> int:
    """How many acknowledged transactions of SQLite are lost, or made its file unreadable, in some cuts."""
    path, lost = machine.folder / "db", 0
    for number in range(CUTS):
        path.unlink(missing_ok=True)
        db = sqlite3.connect(path)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA synchronous = {synchronous}")
        db.execute("CREATE TABLE t (n INTEGER)")
        db.commit()
        for row in range(5):
            db.execute("INSERT INTO t VALUES (?)", [row])
            db.commit()
        machine.cut()
        machine.restart(f"{synchronous} {number}")
        try:
            # Closed even if its file cannot be read: a connection that the garbage collector closes asks for its file
            # then, and waits for ever if that is between a cut and the restart.
            with closing(sqlite3.connect(path)) as again:
                lost += 5 - again.execute("SELECT count(*) FROM t").fetchall()[0][0]
        except sqlite3.DatabaseError:
            lost += 5
        db.close()
        for left in machine.folder.iterdir():
            left.unlink()
        sync(machine.folder)
    return lost


@pytest.mark.parametrize(("synchronous", "loses"), [("FULL", False), ("OFF", True)])
def test_sqlite_loses_transactions_without_its_flushes_and_none_with_them(tmp_path, synchronous, loses):
    with machines.machine(tmp_path / "disk", LIKE_EXT4) as mounted:
        assert (transactions_lost(mounted, synchronous) > 0) == loses
