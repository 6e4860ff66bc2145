"""What every storage promises, and what every storage of source files promises."""

from __future__ import annotations

import io
import threading
from uuid import uuid4

import pytest

from gluepot.core.errors import ConfigError, PermanentError
from gluepot.core.storage import VersionGone, open_source, open_storage


@pytest.fixture(params=["local", "s3"])
def url(request, tmp_path):
    """An empty folder."""
    if request.param == "local":
        return str(tmp_path / "table")
    return f"{request.getfixturevalue('s3_url')}/{uuid4().hex}"


@pytest.fixture
def storage(url):
    return open_storage(url)


def test_a_missing_folder_is_empty(storage):
    assert storage.list("") == []
    assert storage.list("nothing") == []


def test_what_is_put_can_be_read_whole_and_in_parts(storage):
    storage.put("a/b=1/c", b"0123456789")

    assert storage.get("a/b=1/c") == b"0123456789"
    with storage.reader("a/b=1/c") as file:
        file.seek(-3, io.SEEK_END)
        assert file.read(2) == b"78"
        file.seek(2)
        assert file.read() == b"23456789"


def test_an_empty_file_is_a_file(storage):
    storage.put("empty", b"")

    assert storage.get("empty") == b""
    assert storage.list("") == ["empty"]


def test_a_put_replaces(storage):
    storage.put("a", b"a longer text")
    storage.put("a", b"short")

    assert storage.get("a") == b"short"


def test_a_flush_keeps_files_as_they_are_and_ignores_missing_ones(storage):
    storage.put("a/b", b"data")
    storage.flush(["a/b", "a/nothing", "nothing"])

    assert storage.get("a/b") == b"data"
    assert storage.list("") == ["a/b"]


def test_names_may_hold_any_character_of_a_partition_value(storage):
    names = ["day=a%2Fb/x", "day=ä ö?&#/x", "day=__HIVE_DEFAULT_PARTITION__/x"]
    for name in names:
        storage.put(name, name.encode())

    assert list(storage.list("")) == sorted(names)
    assert [storage.get(name).decode() for name in names] == names


def test_a_file_is_created_once(storage):
    assert storage.create("x/lock", b"1")
    assert not storage.create("x/lock", b"2")
    assert storage.get("x/lock") == b"1"


def test_exactly_one_of_many_creators_wins(storage):
    won, start = [], threading.Barrier(6)

    def race(name: bytes) -> None:
        start.wait()
        if storage.create("x/lock", name):
            won.append(name)

    threads = [threading.Thread(target=race, args=(b"%d" % number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [storage.get("x/lock")] == won


@pytest.mark.parametrize(
    "use",
    [
        lambda storage: storage.get("nothing"),
        lambda storage: storage.reader("nothing").read(),
        lambda storage: storage.move([("nothing", "elsewhere")]),
    ],
    ids=["get", "read", "move"],
)
def test_a_missing_file_is_said_to_be_missing(storage, use):
    with pytest.raises(FileNotFoundError):
        use(storage)


def test_a_written_file_is_there_once_it_is_committed(storage):
    writer = storage.writer("big.staged")
    assert writer.write(b"first ") == 6
    assert writer.write(memoryview(b"second")) == 6
    writer.commit()

    assert storage.get("big.staged") == b"first second"


def test_a_discarded_file_leaves_nothing(storage):
    writer = storage.writer("big.staged")
    writer.write(b"x" * 1000)
    writer.discard()
    writer.discard()

    assert storage.list("") == []


def test_files_move_and_replace(storage):
    for key, data in {"a": b"1", "b": b"2", "c/d": b"old"}.items():
        storage.put(key, data)

    storage.move([("a", "new/a"), ("b", "c/d")])

    assert {key: storage.get(key) for key in storage.list("")} == {"new/a": b"1", "c/d": b"2"}


def test_a_listing_is_sorted_recursive_and_knows_folders_from_prefixes(storage):
    for key in ("b/2", "b/1/x", "bc/1", "a"):
        storage.put(key, b"")

    assert list(storage.list("b")) == ["b/1/x", "b/2"]
    assert list(storage.list("")) == ["a", "b/1/x", "b/2", "bc/1"]


def test_a_listing_leaves_stretches_out(storage):
    for key in ("a/1", "b/1", "c/1", "d/1"):
        storage.put(key, b"")

    assert list(storage.list("", skip=[("b", "c")])) == ["a/1", "d/1"]


def test_a_delete_ignores_what_is_not_there(storage):
    storage.put("a", b"")
    storage.put("b", b"")

    storage.delete(["a", "nothing"])

    assert storage.list("") == ["b"]


def test_a_folder_is_deleted_and_its_neighbours_stay(storage):
    for key in ("s/q/1/x", "s/q/1/y/z", "s/q/11/x"):
        storage.put(key, b"")

    storage.delete_folder("s/q/1", within="s")
    storage.delete_folder("s/nothing")

    assert storage.list("") == ["s/q/11/x"]


def test_a_lock_has_one_holder_until_it_is_released_or_there_are_no_locks(storage):
    first = storage.lock("lease.lock")
    if first is None:
        return  # an object store has none, and its callers know

    assert storage.lock("lease.lock") is None
    first.release()
    second = storage.lock("lease.lock")
    assert second is not None
    second.release()


@pytest.mark.parametrize("key", ["", "..", "../x", "a//b", "a/./b", "a\0b"])
def test_a_key_that_leaves_the_root_is_refused(storage, key):
    for action in (storage.get, lambda name: storage.put(name, b""), lambda name: storage.create(name, b"")):
        with pytest.raises(PermanentError, match="does not stay below the root"):
            action(key)


@pytest.mark.parametrize("url", ["ftp://host/x", "s3://", "hdfs://name/x"])
def test_a_place_of_another_kind_is_refused_when_it_is_opened(url):
    with pytest.raises(ConfigError):
        open_storage(url)


def everything(source):
    """Return the keys below the root, found level by level."""
    found, folders = [], [""]
    while folders:
        folder = folders.pop()
        level = source.level(folder)
        found += [entry.key for entry in level.files]
        folders += [f"{folder}/{name}".removeprefix("/") for name in level.folders]
    return sorted(found)


def test_a_source_lists_the_same_files_by_level_and_as_a_tree(url, storage):
    for key in ("day=1/x", "day=1/y", "day=2/deep/x", "z"):
        storage.put(key, key.encode())
    source = open_source(url)

    assert everything(source) == sorted(entry.key for entry in source.tree("")) == list(storage.list(""))
    assert {entry.key: entry.size_bytes for entry in source.tree("day=1")} == {"day=1/x": 7, "day=1/y": 7}
    assert list(source.tree("nothing")) == []


def test_a_source_opens_exactly_the_version_that_was_listed(url, storage):
    storage.put("x", b"first")
    source = open_source(url)
    (entry,) = source.tree("")

    with source.open(entry) as file:
        file.seek(2)
        assert file.read() == b"rst"

    storage.put("x", b"second version")
    with pytest.raises(VersionGone):
        source.open(entry).read()
    assert source.entry("x") != entry


def test_a_source_says_that_a_file_is_gone(url, storage):
    storage.put("x", b"first")
    source = open_source(url)
    entry = source.entry("x")

    storage.delete(["x"])

    assert source.entry("x") is None
    with pytest.raises(VersionGone):
        source.open(entry).read()
