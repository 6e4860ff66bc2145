from __future__ import annotations

import pytest

from gluepot.connectors.lake.delta import DeltaTable
from gluepot.connectors.lake.iceberg import IcebergTable
from gluepot.connectors.lake.tables import address, at_address


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (IcebergTable("lake.db.t"), {}),
        (IcebergTable("lake.db.t"), {"branch": "nightly"}),
        (DeltaTable("abfss://container@account/t"), {}),
    ],
)
def test_the_journal_leads_back_to_the_table(table, options):
    assert at_address(table.kind, address(table, {**options, "mergeSchema": True})) == (table, options)
