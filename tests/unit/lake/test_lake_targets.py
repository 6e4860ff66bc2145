from __future__ import annotations

import pytest

from awsglue.lake_tables import of_options
from gluepot.connectors.lake.delta import DeltaTable
from gluepot.connectors.lake.iceberg import IcebergTable
from gluepot.core.errors import ConfigError


@pytest.mark.parametrize(
    ("kind", "options", "table"),
    [
        ("iceberg", {"path": "glue_catalog.shop.orders"}, IcebergTable("glue_catalog.shop.orders")),
        ("Delta", {"path": "s3://lake/orders"}, DeltaTable("s3://lake/orders")),
        ("custom.spark", {"path": "/lake/orders", "className": "delta"}, DeltaTable("/lake/orders")),
        ("custom.spark", {"path": "c.d.t", "className": "org.apache.iceberg"}, IcebergTable("c.d.t")),
        ("marketplace.spark", {"path": "c.d.t", "connectionName": "iceberg-3"}, IcebergTable("c.d.t")),
    ],
)
def test_a_table_is_found_from_connection_options(kind, options, table):
    assert of_options(kind, options).table == table


def test_further_options_are_sparks():
    target = of_options(
        "custom.spark", {"path": "/t", "className": "delta", "connectionName": "x", "mergeSchema": "true"}
    )

    assert target.options == {"mergeSchema": "true"}


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        ("iceberg", {}, "connection_type 'iceberg' has no path"),
        (
            "custom.spark",
            {"path": "/t", "className": "net.snowflake"},
            "className is 'net.snowflake'; use 'delta', 'iceberg' or 'org.apache.hudi'",
        ),
        ("marketplace.spark", {"path": "s3://lake/t"}, "className is ''"),
    ],
)
def test_what_names_no_table_of_a_lake_is_a_sentence(kind, options, sentence):
    with pytest.raises(ConfigError, match=sentence):
        of_options(kind, options)
