from __future__ import annotations

import pyarrow as pa

from streaming.schema_changes import schema_changes

BEFORE = pa.schema({"id": pa.int64(), "name": pa.string()})


def test_a_new_column_and_a_new_type_are_told_apart():
    after = pa.schema({"id": pa.float64(), "name": pa.string(), "day": pa.string(), "hour": pa.int64()})
    assert schema_changes(BEFORE, after) == {"type": 1, "added": 2}


def test_order_and_missing_columns_are_no_change():
    assert not schema_changes(BEFORE, pa.schema({"name": pa.string()}))
    assert not schema_changes(BEFORE, pa.schema(list(reversed(list(BEFORE)))))
