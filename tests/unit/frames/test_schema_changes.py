from __future__ import annotations

import pyarrow as pa

from gluepot.frames.schema.changes import ColumnChange, by_kind, column_changes

BEFORE = pa.schema({"id": pa.int64(), "name": pa.string()})


def test_new_columns_and_new_types_are_told_with_what_was_before():
    after = pa.schema({"id": pa.string(), "name": pa.string(), "day": pa.date32(), "hour": pa.int64()})
    changes = column_changes(BEFORE, after)
    assert changes == [
        ColumnChange("id", "type", "string", "int64"),
        ColumnChange("day", "added", "date32[day]"),
        ColumnChange("hour", "added", "int64"),
    ]
    assert by_kind(changes) == {"type": 1, "added": 2}


def test_a_column_that_is_gone_or_moved_is_no_change():
    assert not column_changes(BEFORE, pa.schema({"name": pa.string()}))
    assert not column_changes(BEFORE, pa.schema(list(reversed(list(BEFORE)))))
