"""The rules of a disk that loses power: what survives a cut for certain, and what may not."""

from __future__ import annotations

import stat
from random import Random

import pytest

from tests.power.disk import LIKE_EXT4, PAGE, SECTOR, STRICT, Disk, Mode, Node

DRAWS = 300
BOTH = pytest.mark.parametrize("mode", [STRICT, LIKE_EXT4])

State = frozenset[tuple[str, bytes]]


def file(disk: Disk, name: str, data: bytes = b"", *, synced: bool = False, folder: Node | None = None) -> Node:
    node = disk.make(folder or disk.root, name.encode(), Node(stat.S_IFREG | 0o644))
    if data:
        node.write(0, data)
    if synced:
        disk.sync_data(node)
    return node


def folder(disk: Disk, name: str, within: Node | None = None) -> Node:
    return disk.make(within or disk.root, name.encode(), Node(stat.S_IFDIR | 0o755))


def state(disk: Disk) -> State:
    return frozenset((path.decode(), bytes(node.data)) for path, node in disk.walk() if not node.is_folder)


def outcomes(disk: Disk) -> set[State]:
    """What there may be after a cut."""
    return {state(disk.survivors(Random(seed))) for seed in range(DRAWS)}


def held(*files: tuple[str, bytes]) -> State:
    return frozenset(files)


@BOTH
def test_a_flushed_file_under_a_flushed_name_survives(mode: Mode):
    disk = Disk(mode)
    file(disk, "a", b"data", synced=True)
    disk.sync_folder(disk.root)
    assert outcomes(disk) == {held(("a", b"data"))}


@BOTH
def test_a_file_that_was_not_flushed_may_be_there_empty_or_gone(mode: Mode):
    disk = Disk(mode)
    file(disk, "a", b"data")
    assert {held(), held(("a", b"")), held(("a", b"data"))} <= outcomes(disk)


def test_a_flush_of_a_file_does_not_keep_its_name_in_strict_mode():
    disk = Disk(STRICT)
    file(disk, "a", b"data", synced=True)
    assert outcomes(disk) == {held(), held(("a", b"data"))}


def test_a_flush_of_a_file_keeps_its_name_and_its_folders_on_ext4():
    disk = Disk(LIKE_EXT4)
    file(disk, "a", b"data", synced=True, folder=folder(disk, "below", folder(disk, "top")))
    assert outcomes(disk) == {held(("top/below/a", b"data"))}


def test_a_file_is_lost_with_its_folder_if_the_folder_was_not_flushed_in_strict_mode():
    disk = Disk(STRICT)
    below = folder(disk, "below")
    file(disk, "a", b"data", synced=True, folder=below)
    disk.sync_folder(below)
    assert held() in outcomes(disk)
    disk.sync_folder(disk.root)
    assert outcomes(disk) == {held(("below/a", b"data"))}


@BOTH
def test_a_flushed_name_of_a_file_that_was_not_flushed_may_hold_nothing(mode: Mode):
    disk = Disk(mode)
    file(disk, "a", b"data")
    disk.sync_folder(disk.root)
    assert {held(("a", b"")), held(("a", b"data"))} <= outcomes(disk)
    assert held() not in outcomes(disk)


@BOTH
def test_a_rename_may_be_undone_until_its_folder_is_flushed(mode: Mode):
    disk = Disk(mode)
    file(disk, "old", b"data", synced=True)
    disk.sync_folder(disk.root)
    disk.rename(disk.root, b"old", disk.root, b"new")
    assert outcomes(disk) == {held(("old", b"data")), held(("new", b"data"))}
    disk.sync_folder(disk.root)
    assert outcomes(disk) == {held(("new", b"data"))}


def replaced(mode: Mode) -> Disk:
    """A file took the place of another one by a rename, and its data was not flushed."""
    disk = Disk(mode)
    file(disk, "name", b"old", synced=True)
    disk.sync_folder(disk.root)
    file(disk, "temporary", b"new")
    disk.rename(disk.root, b"temporary", disk.root, b"name")
    return disk


def test_a_rename_may_reach_the_disk_before_the_data_in_strict_mode():
    named = {data for one in outcomes(replaced(STRICT)) for name, data in one if name == "name"}
    assert {b"old", b"new", b""} <= named


def test_a_rename_that_replaces_a_file_comes_after_the_data_on_ext4():
    named = {data for one in outcomes(replaced(LIKE_EXT4)) for name, data in one if name == "name"}
    assert named == {b"old", b"new"}


def test_a_rename_to_a_new_name_may_come_before_the_data_on_ext4():
    disk = Disk(LIKE_EXT4)
    file(disk, "temporary", b"data")
    disk.rename(disk.root, b"temporary", disk.root, b"name")
    assert held(("name", b"")) in outcomes(disk)


def test_a_rename_between_folders_may_lose_both_names_in_strict_mode_only():
    found = {}
    for mode in (STRICT, LIKE_EXT4):
        disk = Disk(mode)
        first, second = folder(disk, "first"), folder(disk, "second")
        disk.sync_folder(disk.root)
        file(disk, "a", b"data", synced=True, folder=first)
        disk.sync_folder(first)
        disk.rename(first, b"a", second, b"b")
        found[mode] = outcomes(disk)
        disk.sync_folder(second)
        assert all(("second/b", b"data") in one for one in outcomes(disk))
    one, other = ("first/a", b"data"), ("second/b", b"data")
    assert found[STRICT] == {held(one), held(other), held(one, other), held()}
    assert found[LIKE_EXT4] == {held(one), held(other)}


def test_names_survive_in_the_order_of_their_changes_on_ext4_and_in_any_in_strict_mode():
    found = {}
    for mode in (STRICT, LIKE_EXT4):
        disk = Disk(mode)
        for name in "abc":
            file(disk, name)
        found[mode] = {"".join(sorted(name for name, _ in one)) for one in outcomes(disk)}
    assert found[STRICT] == {"", "a", "b", "c", "ab", "ac", "bc", "abc"}
    assert found[LIKE_EXT4] == {"", "a", "ab", "abc"}


def test_a_flush_on_ext4_keeps_the_changes_before_it_and_not_those_behind():
    disk = Disk(LIKE_EXT4)
    file(disk, "a")
    file(disk, "b", synced=True)
    file(disk, "c")
    assert {"".join(sorted(name for name, _ in one)) for one in outcomes(disk)} == {"ab", "abc"}


@BOTH
def test_a_removed_file_may_come_back_until_its_folder_is_flushed(mode: Mode):
    disk = Disk(mode)
    file(disk, "a", b"data", synced=True)
    disk.sync_folder(disk.root)
    disk.remove(disk.root, b"a")
    assert outcomes(disk) == {held(), held(("a", b"data"))}
    disk.sync_folder(disk.root)
    assert outcomes(disk) == {held()}


def overwritten(mode: Mode) -> set[tuple[bytes, bytes]]:
    """The first bytes of two pages, of which the second was overwritten last."""
    disk = Disk(mode)
    node = file(disk, "a", b"0" * 2 * PAGE, synced=True)
    disk.sync_folder(disk.root)
    node.write(0, b"1" * PAGE)
    node.write(PAGE, b"2" * PAGE)
    return {(data[:1], data[PAGE : PAGE + 1]) for one in outcomes(disk) for _, data in one}


@BOTH
def test_pages_reach_the_disk_in_any_order(mode: Mode):
    assert overwritten(mode) == {(b"0", b"0"), (b"1", b"0"), (b"0", b"2"), (b"1", b"2")}


@BOTH
def test_a_page_may_have_any_version_since_the_flush_and_is_torn_between_sectors_only(mode: Mode):
    disk = Disk(mode)
    node = file(disk, "a", b"0" * PAGE, synced=True)
    disk.sync_folder(disk.root)
    node.write(0, b"1" * PAGE)
    node.write(0, b"2" * PAGE)
    pages = {data for one in outcomes(disk) for _, data in one}
    assert {b"0" * PAGE, b"1" * PAGE, b"2" * PAGE} <= pages
    assert all(len(set(page[at : at + SECTOR])) == 1 for page in pages for at in range(0, PAGE, SECTOR))
    assert any(len(set(page)) == 2 for page in pages)


def test_what_a_file_grew_by_may_be_zeros_in_strict_mode_and_is_cut_off_on_ext4():
    found = {}
    for mode in (STRICT, LIKE_EXT4):
        disk = Disk(mode)
        node = file(disk, "a", synced=True)
        disk.sync_folder(disk.root)
        node.write(0, b"1" * 3 * PAGE)
        found[mode] = {data for one in outcomes(disk) for _, data in one}
    assert any(b"\0" in data for data in found[STRICT])
    assert all(data == b"1" * len(data) for data in found[LIKE_EXT4])
    assert len({len(data) for data in found[LIKE_EXT4]}) > 3


@BOTH
def test_a_file_that_was_cut_short_may_be_long_again_until_it_is_flushed(mode: Mode):
    disk = Disk(mode)
    node = file(disk, "a", b"0" * 2 * PAGE, synced=True)
    disk.sync_folder(disk.root)
    node.truncate(5)
    assert {len(data) for one in outcomes(disk) for _, data in one} == {2 * PAGE, 5}
    disk.sync_data(node)
    assert outcomes(disk) == {held(("a", b"00000"))}


@BOTH
def test_two_names_of_a_file_are_one_file_after_a_cut_too(mode: Mode):
    disk = Disk(mode)
    node = file(disk, "a", b"data", synced=True)
    disk.link(node, disk.root, b"b")
    disk.sync_folder(disk.root)
    survived = disk.survivors(Random(1))
    assert survived.root.names[b"a"] is survived.root.names[b"b"]
    assert survived.root.names[b"a"].links == 2


@BOTH
def test_equal_seeds_give_equal_disks_and_a_disk_after_a_cut_has_nothing_to_lose(mode: Mode):
    disk = Disk(mode)
    for number in range(20):
        file(disk, str(number), b"x" * number * 1000, synced=number % 3 == 0)
    survived = disk.survivors(Random(7))
    assert state(survived) == state(disk.survivors(Random(7)))
    assert outcomes(survived) == {state(survived)}
