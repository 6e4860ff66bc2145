from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from gluepot.core.errors import ConfigError, PermanentError, TransientError
from gluepot.core.storage import LocalStorage
from gluepot.core.storage.filesystem import OsFileSystem
from gluepot.core.storage.os_errors import explained


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path / "table")


def test_what_is_put_can_be_got(storage):
    storage.put("a/b=1/c", b"text")
    assert storage.get("a/b=1/c") == b"text"


def test_put_replaces(storage):
    storage.put("a", b"1")
    storage.put("a", b"2")
    assert storage.get("a") == b"2"


def test_create_says_false_and_changes_nothing_when_the_file_exists(storage):
    assert storage.create("a", b"1")
    assert not storage.create("a", b"2")
    assert storage.get("a") == b"1"


def test_exactly_one_of_many_creators_wins(storage):
    won = []
    start = threading.Barrier(8)

    def race(name: bytes) -> None:
        start.wait()
        if storage.create("x/lock", name):
            won.append(name)

    threads = [threading.Thread(target=race, args=(b"%d" % number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [storage.get("x/lock")] == won


def test_a_missing_file_is_file_not_found(storage):
    with pytest.raises(FileNotFoundError):
        storage.get("nothing")


def test_moving_replaces_and_makes_folders(storage):
    storage.put("a", b"new")
    storage.put("d/b", b"old")
    storage.move([("a", "d/b")])
    assert storage.list("") == ["d/b"]
    assert storage.get("d/b") == b"new"


def test_moving_a_missing_file_is_file_not_found(storage):
    with pytest.raises(FileNotFoundError):
        storage.move([("nothing", "b")])


def test_list_is_sorted_and_recursive_and_knows_folders_from_prefixes(storage):
    for key in ("b/2", "b/1/x", "bc/1", "a"):
        storage.put(key, b"")
    assert storage.list("b") == ["b/1/x", "b/2"]
    assert storage.list("") == ["a", "b/1/x", "b/2", "bc/1"]


def test_a_listing_leaves_whole_folders_out(storage):
    keys = ["a/1/x", "a/10/x", "a/2/deep/x", "a/2/x", "a/3/x", "a/4/x", "a/5.x"]
    for key in keys:
        storage.put(key, b"")
    assert storage.list("a", [("a/1", "a/1")]) == keys[1:]
    assert storage.list("a", [("a/2", "a/3"), ("a/4", "a/4")]) == ["a/1/x", "a/10/x", "a/5.x"]
    assert storage.list("", [("a", "a")]) == []


def test_a_folder_that_is_left_out_is_not_looked_into(storage):
    storage.put("a/1/x", b"")
    storage.put("a/2/x", b"")
    looked_into = []

    class Noting(OsFileSystem):
        def inside(self, path):
            looked_into.append(path.name)
            return super().inside(path)

    assert LocalStorage(storage.root, Noting()).list("a", [("a/1", "a/1")]) == ["a/2/x"]
    assert sorted(looked_into) == ["2", "a"]


def test_a_link_to_a_folder_is_not_followed(storage):
    storage.put("a/x", b"")
    (storage.root / "a" / "loop").symlink_to(storage.root)
    assert storage.list("") == ["a/x"]


def test_a_missing_folder_lists_as_empty(storage):
    assert storage.list("nothing/here") == []


def test_deleting_missing_files_and_folders_is_fine(storage):
    storage.put("a", b"")
    storage.delete(["a", "nothing"])
    storage.delete_folder("nothing")
    assert storage.list("") == []


def test_deleting_files_is_fine_if_another_process_removes_their_folder_meanwhile(storage):
    class Raced(OsFileSystem):
        def unlink(self, path):
            super().unlink(path)
            super().remove_folder(path.parent)

    storage.put("a/1", b"one")
    LocalStorage(storage.root, Raced()).delete(["a/1"])
    assert storage.list("") == []


def test_a_folder_goes_with_everything_in_it(storage):
    storage.put("d/e/f", b"")
    storage.delete_folder("d")
    assert list(storage.root.iterdir()) == []


def test_folders_above_go_as_far_as_they_are_empty(storage):
    for key in ("a/b/c/d/1", "a/b/2", "a/b/e/f/3"):
        storage.put(key, b"")

    storage.delete_folder("a/b/c/d", within="a")
    assert not (storage.root / "a/b/c").exists()
    assert storage.list("") == ["a/b/2", "a/b/e/f/3"]

    storage.delete(["a/b/2"])
    storage.delete_folder("a/b/e/f", within="a")
    assert list((storage.root / "a").iterdir()) == []


def test_small_writes_leave_no_temporary_file(storage):
    storage.put("a", b"")
    storage.create("b", b"")
    storage.create("b", b"")
    assert sorted(path.name for path in storage.root.iterdir()) == ["a", "b"]


def test_a_writer_leaves_a_whole_file(storage):
    writer = storage.writer("d/f")
    assert writer.write(b"ab") == 2
    writer.write(memoryview(b"cd"))
    writer.commit()
    assert storage.get("d/f") == b"abcd"


def test_a_discarded_writer_leaves_nothing(storage):
    writer = storage.writer("d/f")
    writer.write(b"ab")
    writer.discard()
    assert storage.list("") == []


@pytest.mark.parametrize("key", ["", "/etc/passwd", "../x", "a/../../x", "a//b", "a/./b", "a/", "a\0b"])
def test_no_key_leaves_the_root(storage, key):
    with pytest.raises(PermanentError, match="below the root"):
        storage.put(key, b"")


def test_a_file_where_a_folder_should_be_is_a_configuration_error(storage):
    storage.put("a", b"")
    with pytest.raises(ConfigError, match=r"table/a: .*give the path of a folder"):
        storage.put("a/b", b"")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (errno.ENOSPC, TransientError),
        (errno.EDQUOT, TransientError),
        (errno.EIO, TransientError),
        (errno.EACCES, ConfigError),
        (errno.EROFS, ConfigError),
        (errno.ENOENT, FileNotFoundError),
    ],
)
def test_errors_of_the_system_say_what_to_do(code, error):
    with pytest.raises(error), explained("/data"):
        raise OSError(code, os.strerror(code), "/data/file")


def test_every_write_flushes_the_file_and_the_names_that_lead_to_it(storage, monkeypatch):
    flushed = []
    really = os.fsync

    def fsync(descriptor: int) -> None:
        flushed.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        really(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    storage.create("a/b", b"")
    root = str(storage.root)
    assert {str(storage.root.parent), root, f"{root}/a"} < set(flushed)
    assert any(name.endswith(".gluepot-tmp") for name in flushed)


@pytest.fixture
def fifo(tmp_path):
    path = tmp_path / "a"
    os.mkfifo(path)
    other_end = os.open(path, os.O_RDWR)  # or opening it would wait, and a failing test with it
    yield path
    os.close(other_end)


@pytest.mark.parametrize("use", [OsFileSystem.open, OsFileSystem.lock])
def test_a_fifo_in_the_place_of_a_file_is_refused_instead_of_waited_for(fifo, use):
    with pytest.raises(OSError, match="it is a FIFO, not a regular file"):
        use(OsFileSystem(), fifo)


def test_the_refusal_of_a_fifo_says_what_to_do(fifo):
    with pytest.raises(ConfigError, match="a: it is a FIFO, not a regular file; remove it or choose another path"):
        LocalStorage(fifo.parent).lock("a")
