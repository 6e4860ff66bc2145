from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.files.partition_folders import partition_path, partition_values
from gluepot.connectors.files.sink.split import split
from gluepot.core.errors import ConfigError
from gluepot.frames.schema import choice_field

ROWS = st.lists(
    st.tuples(st.none() | st.sampled_from(["", "a", "b", "../c", "a=b/"]), st.none() | st.integers(0, 3)),
    min_size=1,
    max_size=60,
)


@given(ROWS)
def test_every_row_is_in_its_partition_once_in_its_old_order(rows):
    batch = pa.record_batch(
        {
            "s": pa.array([s for s, _ in rows], pa.string()),
            "n": pa.array([n for _, n in rows], pa.int64()),
            "at": range(len(rows)),
        },
    )
    parts = list(split(batch, ["s", "n"]))
    found = {part.path: part.rows["at"].to_pylist() for part in parts}
    expected: dict[str, list[int]] = {}
    for at, (s, n) in enumerate(rows):
        expected.setdefault(partition_path(["s", "n"], [s, None if n is None else str(n)]), []).append(at)
    assert found == expected
    assert Counter(part.path for part in parts).most_common(1)[0][1] == 1


def test_key_columns_are_not_in_the_rows():
    (part,) = split(pa.record_batch({"k": ["x"], "v": [1]}), ["k"])
    assert part.rows.schema.names == ["v"]


def test_without_keys_the_batch_is_one_part():
    batch = pa.record_batch({"v": [1]})
    (part,) = split(batch, [])
    assert (part.path, part.rows) == ("", batch)


def test_a_key_that_the_batch_lacks_is_null():
    (part,) = split(pa.record_batch({"v": [1, 2]}), ["k"])
    assert partition_values(part.path) == {"k": None}


def test_a_null_column_is_null():
    (part,) = split(pa.record_batch({"k": pa.nulls(2), "v": [1, 2]}), ["k"])
    assert partition_values(part.path) == {"k": None}


def test_a_choice_is_split_by_its_values_as_text():
    field = choice_field("k", [pa.field("", pa.int64()), pa.field("", pa.string())])
    values = pa.array(
        [{"long": 7, "string": None}, {"long": None, "string": "7"}, {"long": None, "string": "x"}], field.type
    )
    batch = pa.record_batch([values, pa.array([1, 2, 3])], schema=pa.schema([field, pa.field("v", pa.int64())]))
    assert {part.path: part.rows["v"].to_pylist() for part in split(batch, ["k"])} == {"k=7": [1, 2], "k=x": [3]}


def test_more_partitions_than_sixteen_bits_can_count():
    batch = pa.record_batch({"k": list(range(70_000)), "v": list(range(70_000))})
    parts = list(split(batch, ["k"]))
    assert len(parts) == 70_000
    assert all(part.path == f"k={part.rows['v'][0].as_py()}" for part in parts)


def test_two_keys_with_more_pairs_than_are_counted():
    day, hour = [at % 400 for at in range(1_000)], [at % 300 for at in range(1_000)]
    parts = list(split(pa.record_batch({"day": day, "hour": hour, "v": range(1_000)}), ["day", "hour"]))
    assert sum(part.rows.num_rows for part in parts) == 1_000
    assert len({part.path for part in parts}) == len(parts) == len(set(zip(day, hour, strict=True)))
    assert all(part.path == f"day={at % 400}/hour={at % 300}" for part in parts for at in part.rows["v"].to_pylist())


@pytest.mark.parametrize("value", [{"a": 1}, [1], []])
def test_a_nested_key_is_a_configuration_error(value):
    with pytest.raises(ConfigError, match="partitionKeys has 'k'"):
        list(split(pa.record_batch({"k": pa.array([value]), "v": [1]}), ["k"]))
