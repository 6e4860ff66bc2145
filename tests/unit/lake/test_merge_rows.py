"""Matches of keys, and the rows that a MERGE leaves."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from gluepot.connectors.lake.merging.expressions import OnlySpark, Value
from gluepot.connectors.lake.merging.partitions import Origin, moving, origins, spread
from gluepot.connectors.lake.merging.rows import Keys, Pairs, Source, added, changed
from gluepot.connectors.lake.merging.statement import Attribute, Clause, Merge
from gluepot.connectors.lake.merging.target import PartitionField

TARGET = [Attribute("id", 1, "long"), Attribute("name", 2, "string")]
SOURCE = [Attribute("id", 11, "long"), Attribute("name", 12, "string"), Attribute("gone", 13, "boolean")]


def copy(one: Attribute) -> Value:
    return Value(one.kind, frozenset({one.number}), lambda columns: columns.arrays[one.number], one.number)


STAR = {1: copy(SOURCE[0]), 2: copy(SOURCE[1])}
GONE = copy(SOURCE[2])


def merge(*matched: Clause, not_matched: tuple[Clause, ...] = ()) -> Merge:
    return Merge(TARGET, SOURCE, [(TARGET[0], copy(SOURCE[0]))], None, matched, not_matched)


def source(ids: list[int | None], names: list[str | None], gone: list[bool | None]) -> Source:
    return Source({11: pa.array(ids, pa.int64()), 12: pa.array(names), 13: pa.array(gone)}, len(ids))


def pairs(found: Pairs) -> list[tuple[int, int]]:
    return list(zip(found.target.tolist(), found.source.tolist(), strict=True))


def test_null_keys_match_nothing():
    keys = Keys([pa.array([None, 7, 8])])

    assert pairs(keys.matches([pa.array([8, None, 7, 7])])) == [(0, 2), (2, 1), (3, 1)]


def test_keys_of_several_parts_match_where_all_parts_do():
    keys = Keys([pa.array([1, 1, 2, None]), pa.array(["a", "b", "a", "a"])])

    found = keys.matches([pa.array([2, 1, 1, 3, None]), pa.array(["a", "b", "c", "a", "a"])])

    assert pairs(found) == [(0, 2), (1, 1)]


@pytest.mark.parametrize("columns", [[pa.array([1, 2, 1])], [pa.array([1, 2, 1]), pa.array(["a", "a", "a"])]])
def test_a_key_that_is_twice_in_the_source_is_left_to_spark(columns):
    with pytest.raises(OnlySpark):
        Keys(columns)


def test_null_keys_may_be_there_twice():
    assert pairs(Keys([pa.array([None, None, 1])]).matches([pa.array([1])])) == [(0, 2)]


def test_the_first_clause_whose_condition_holds_counts():
    found = Pairs(np.array([0, 2, 3]), np.array([1, 0, 2]))
    rows = {1: pa.array([5, 6, 7, 8]), 2: pa.array(["a", "b", "c", "d"])}
    changes = source([7, 5, 8], ["C", "A", "D"], [None, True, False])

    made = changed(merge(Clause(GONE, None), Clause(None, STAR)), found, changes, rows, {})

    assert [one.to_pylist() for one in made.rows] == [[6, 7, 8], ["b", "C", "D"]]
    assert (made.updated, made.deleted, list(made.moved)) == (2, 1, [])


def test_rows_without_a_clause_stay():
    found = Pairs(np.array([0]), np.array([0]))
    rows = {1: pa.array([5]), 2: pa.array(["a"])}

    made = changed(merge(Clause(GONE, None)), found, source([5], ["A"], [False]), rows, {})

    assert [one.to_pylist() for one in made.rows] == [[5], ["a"]]
    assert (made.updated, made.deleted) == (0, 0)


def test_new_rows_have_nulls_where_the_clause_names_no_value():
    clauses = (Clause(GONE, {1: STAR[1]}), Clause(None, STAR))
    changes = source([5, 6, 7], ["A", "B", "C"], [True, None, True])

    made = added(merge(not_matched=clauses), np.array([0, 1]), changes, {1: pa.int64(), 2: pa.string()})

    assert [[column.to_pylist() for column in one.rows] for one in made] == [[[5], [None]], [[6], ["B"]]]
    assert [one.source.tolist() for one in made] == [[0], [1]]


BY_NAME, BY_ID = [PartitionField("name", "{}")], [PartitionField("id", "{}")]


def test_an_update_moves_rows_whose_partition_is_another_one():
    origin = Origin(merge(Clause(GONE, None), Clause(None, STAR)), BY_NAME)

    found = moving(origin, ("A",), [pa.array(["A", "B", None])])

    assert {at: mask.tolist() for at, mask in found.items()} == {1: [False, True, True]}


def test_an_update_of_the_key_moves_nothing():
    assert moving(Origin(merge(Clause(None, STAR)), BY_ID), ("1",), [pa.array(["2"])]) == {}


def test_a_partition_that_comes_from_several_columns_is_left_to_spark():
    other = Clause(None, {2: Value("string", frozenset(), lambda _: pa.scalar("x"))})

    assert origins(merge(Clause(None, STAR)), BY_NAME) == [12]
    with pytest.raises(OnlySpark):
        origins(merge(Clause(None, STAR), other), BY_NAME)


def test_rows_are_spread_over_their_partitions():
    partitions = [pa.array(["x", None, "x", "y"]), pa.array(["1", "1", "1", "1"])]

    found = spread([([pa.array([10, 20, 30])], np.array([0, 1, 2])), ([pa.array([40])], np.array([3]))], partitions)

    assert {key: [piece[0].to_pylist() for piece in pieces] for key, pieces in found.items()} == {
        ("x", "1"): [[10, 30]],
        (None, "1"): [[20]],
        ("y", "1"): [[40]],
    }
    assert list(spread([([pa.array([1])], np.array([0]))], [])) == [()]
