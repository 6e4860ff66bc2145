"""Relationalize: nested records as flat tables that can be joined again (docs/glue 6.6).

The root table has the records with structs taken apart, and a key where an array was. Each array is a table of its own:
`id`, which the key joins to, `index` of the element, and the element as `<array>.val` or, taken apart, as
`<array>.val.<field>`. A table is called `<root>_<array>`, where `<array>` is the name of the key's column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.columns import Column, batch_of, columns_of, map_as_list
from gluepot.frames.schema import choice_to_string
from gluepot.frames.transforms.unnest import flattened

ID, INDEX = "id", "index"
_BITS_PER_TASK = 33  # as in Spark's monotonically_increasing_id: 2**33 arrays a task, 2**30 tasks


@dataclass(slots=True)
class TaskIds:
    """Gives ids to the arrays of one task, unique in their table over all tasks of a run.

    An id consists of the task's ordinal and a count, so it depends on how the input is cut into tasks. Only tables of
    the same run can be joined.

    Args:
        task: ordinal in the run.
    """

    task: int
    _given: Counter[str] = field(default_factory=Counter)

    def take(self, table: str, count: int) -> int:
        """Return the first of `count` consecutive ids that the table does not use yet."""
        first = (self.task << _BITS_PER_TASK) + self._given[table]
        self._given[table] += count
        return first


def relational_tables(batch: pa.RecordBatch, root: str, ids: TaskIds) -> dict[str, pa.RecordBatch]:
    """Return the tables of some records, by name, the root table first.

    A null array has a null key, an empty one a key that no row has. Choices become text. The entries of a map are
    elements with the fields `key` and `value`.

    Args:
        batch: nested records.
        root: name of the root table.
        ids: of the task.

    Raises:
        ConfigError: two columns of a table would have one name.
    """
    tables: dict[str, pa.RecordBatch] = {}
    _add_table(tables, root, root, columns_of(choice_to_string(batch)), batch.num_rows, ids)
    return tables


def _add_table(
    tables: dict[str, pa.RecordBatch], name: str, root: str, columns: Sequence[Column], rows: int, ids: TaskIds
) -> None:
    keyed, arrays = [], []
    for column in flattened(columns):
        array = _as_array(column)
        if array is None:
            keyed.append(column)
        else:
            keys = _keys(array.array, ids, f"{root}_{array.field.name}")
            arrays.append((array, keys))
            keyed.append(Column(pa.field(array.field.name, pa.int64()), keys))
    tables[name] = batch_of(keyed, rows)
    for array, keys in arrays:
        elements = _elements(array, keys)
        _add_table(tables, f"{root}_{array.field.name}", root, elements, len(elements[0].array), ids)


def _as_array(column: Column) -> Column | None:
    if pa.types.is_list(column.field.type):
        return column
    return map_as_list(column) if pa.types.is_map(column.field.type) else None


def _keys(lists: pa.ListArray, ids: TaskIds, table: str) -> pa.Int64Array:
    """Number the lists that are not null."""
    valid = lists.is_valid().to_numpy(zero_copy_only=False)
    first = ids.take(table, int(valid.sum()))
    return pa.array(first - 1 + np.cumsum(valid), pa.int64(), mask=~valid)


def _elements(array: Column, keys: pa.Int64Array) -> list[Column]:
    parents = pc.list_parent_indices(array.array)
    starts = np.cumsum(_lengths(array.array)) - _lengths(array.array)
    within = np.arange(len(parents)) - starts[parents.to_numpy()]
    value = Column(array.field.type.value_field.with_name(f"{array.field.name}.val"), array.array.flatten())
    return [
        Column(pa.field(ID, pa.int64()), keys.take(parents)),
        Column(pa.field(INDEX, pa.int32()), pa.array(within, pa.int32())),
        value,
    ]


def _lengths(lists: pa.ListArray) -> npt.NDArray[np.int64]:
    lengths: npt.NDArray[np.int64] = pc.fill_null(pc.list_value_length(lists), 0).cast(pa.int64()).to_numpy()
    return lengths
