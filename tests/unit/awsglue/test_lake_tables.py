"""Lake tables that calls name."""

from __future__ import annotations

import pytest

from awsglue.lake_tables import LakeTarget
from gluepot.connectors.lake.iceberg import IcebergTable
from gluepot.connectors.lake.iceberg_files import IcebergFiles
from gluepot.core.errors import ConfigError


def test_a_table_that_a_catalog_has_is_written_to():
    table = IcebergTable("glue_catalog.shop.orders")
    assert LakeTarget(table).writable is table


def test_a_table_that_is_known_by_its_metadata_file_alone_is_not():
    with pytest.raises(
        ConfigError, match=r"shop\.orders is a table of Iceberg that no catalog of this session has, so it"
    ):
        _ = LakeTarget(IcebergFiles("shop.orders", "s3://lake/orders/metadata/1.metadata.json")).writable
