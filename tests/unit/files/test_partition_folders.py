from __future__ import annotations

import posixpath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gluepot.connectors.files.partition_folders import DEFAULT_PARTITION, fits, partition_path, partition_values

VALUES = st.text(min_size=1).filter(lambda text: text != DEFAULT_PARTITION)
PARTITIONS = st.dictionaries(VALUES, st.none() | VALUES, min_size=1, max_size=4)


@given(PARTITIONS)
@example({"k": "../../etc/passwd"})
@example({"k": "%2e%2e%2f"})
@example({"k": "a=b/c=d"})
@example({"k": "line\nbreak\0nul"})
@example({"..": ".."})
def test_values_come_back_from_the_path_they_made(partition):
    assert partition_values(partition_path(list(partition), list(partition.values()))) == partition


@given(PARTITIONS)
@example({"..": ".."})
@example({"k": "/"})
def test_a_path_has_one_folder_per_key_below_the_root(partition):
    path = partition_path(list(partition), list(partition.values()))
    assert len(path.split("/")) == len(partition)
    assert posixpath.normpath(path) == path
    assert not {"", ".", ".."} & set(path.split("/"))
    assert not any(ord(character) < 32 for character in path)


def test_folders_are_named_as_spark_names_them():
    path = partition_path(["day", "at"], ["2026-11-01", "2026-11-01 12:00:00 50% {a}[b]^'#*?\\\""])
    assert path == "day=2026-11-01/at=2026-11-01 12%3A00%3A00 50%25 %7Ba}%5Bb%5D%5E%27%23%2A%3F%5C%22"


@pytest.mark.parametrize("value", [None, ""])
def test_null_and_empty_are_hives_default_partition(value):
    assert partition_path(["k"], [value]) == f"k={DEFAULT_PARTITION}"


def test_letters_of_all_scripts_stay_readable():
    assert partition_path(["город"], ["Köln"]) == "город=Köln"


@pytest.mark.parametrize(
    ("value", "fit"), [("x" * 253, True), ("x" * 254, False), ("é" * 127, False), ("/" * 85, False)]
)
def test_a_folder_name_fits_up_to_255_bytes(value, fit):
    assert fits(partition_path(["k"], [value])) is fit


def test_a_path_of_many_long_folders_does_not_fit_into_a_key():
    assert not fits(partition_path(["a", "b", "c", "d"], ["x" * 200] * 4))
