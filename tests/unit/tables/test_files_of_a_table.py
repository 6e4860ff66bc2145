from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.values import CommitKey
from gluepot.tables.files import TableFile, packs


def file(size_bytes: int) -> TableFile:
    return TableFile("x.parquet", size_bytes, 1, 0, {"format": "parquet"}, CommitKey("q", 0, ""), 1, None)


def test_small_neighbours_come_together_and_large_files_alone():
    sizes = [4, 5, 2, 30, 1, 9, 1]
    assert [[one.size_bytes for one in pack] for pack in packs(map(file, sizes), 10)] == [
        [4, 5],
        [2],
        [30],
        [1, 9],
        [1],
    ]


@given(st.lists(st.integers(0, 20)), st.integers(1, 30))
def test_every_file_is_in_one_pack_in_order(sizes, most):
    made = list(packs(map(file, sizes), most))
    assert [one.size_bytes for pack in made for one in pack] == sizes
    assert all(pack and (len(pack) == 1 or sum(one.size_bytes for one in pack) <= most) for pack in made)


def test_the_folders_of_a_file_are_its_partition():
    assert TableFile(
        "k=a%2Fb/day=__HIVE_DEFAULT_PARTITION__/x", 1, 1, 0, {}, CommitKey("q", 0, ""), 1, None
    ).partition == {
        "k": "a/b",
        "day": None,
    }
